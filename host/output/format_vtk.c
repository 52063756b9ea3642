/*
 * Output for ParaView and other readers of VTK: all fields that lie in cells in fields_STEP.vti, each field on faces in
 * a file of its own, and for each of these a series with its times, fields.pvd. Values are at points, which are the
 * centres of cells (or faces): cell i at i times the spacing. The array order is kept: columns are VTK's first axis. On a
 * map they lie at its coordinates, rows from north to south (VTK 9 on; older readers show them from south to north).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "case/case.h"
#include "case/source.h"
#include "output/format.h"
#include "output/vtk.h"

/* Fields that share a file, and the series of these. */
typedef struct group {
    bool used;      /* the case wants it */
    strake_vtk vtk; /* the file of this output */
    char *path, file[STRAKE_FORMAT_FILE];
    bool is_begun; /* the output has its file */
    strake_text series;
} group;

enum { GROUPS = 1 + STRAKE_MAX_FIELDS };

typedef struct vtk {
    strake_format_state out;
    group group[GROUPS]; /* cells, then the fields on faces by their number */
    int now;             /* group of the present field */
} vtk;

static int group_of(const strake_case *which, int field)
{
    return which->problem->field[field].position == STRAKE_CELL ? 0 : 1 + field;
}

static const char *group_name(const strake_case *which, int number)
{
    return number == 0 ? STRAKE_FORMAT_FIELDS : which->problem->field[number - 1].name;
}

static void close_vtk(void *self)
{
    vtk *const v = self;
    for (int g = 0; g < GROUPS; g++) {
        strake_vtk_abandon(&v->group[g].vtk);
        strake_text_free(&v->group[g].series);
        free(v->group[g].path);
    }
}

static strake_status begin(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtk *const v = self;
    const strake_case *const which = v->out.run->which;
    for (int f = 0; f < which->problem->fields; f++) {
        group *const g = &v->group[group_of(which, f)];
        g->used = g->used || which->output_field[f];
    }
    for (int g = 0; g < GROUPS; g++) {
        if (v->group[g].used) {
            STRAKE_TRY(strake_series_begin(v->out.run, group_name(which, g), "vti",
                                           &v->group[g].series, error));
        }
    }
cleanup:
    return status;
}

/* Points along VTK's axes, and where the first one lies. */
static void describe_grid(const strake_case *which, int field, const strake_slabs *slabs,
                          char *attributes, char *piece, size_t size)
{
    long long last[STRAKE_AXES] = {0, 0, 0};
    double spacing[STRAKE_AXES] = {1.0, 1.0, 1.0}, origin[STRAKE_AXES] = {0.0, 0.0, 0.0};
    const int face = (int)which->problem->field[field].position - (int)STRAKE_FACE_0;
    const bool is_map = strake_case_is_map(which);
    for (int d = 0; d < slabs->dims; d++) {
        const int axis = strake_axis_of(slabs->dims, slabs->dims - 1 - d);
        last[d] = slabs->shape[slabs->dims - 1 - d] - 1;
        spacing[d] = is_map ? strake_case_place(which).cell : which->spacing[axis];
        origin[d] = strake_format_place(which, axis, axis == face, 0);
    }
    (void)snprintf(piece, size, "Extent=\"0 %lld 0 %lld 0 %lld\"", last[0], last[1], last[2]);
    (void)strake_number_print(attributes, size,
                              "Whole%s Origin=\"%.17g %.17g %.17g\" "
                              "Spacing=\"%.17g %.17g %.17g\"%s",
                              piece, origin[0], origin[1], origin[2], spacing[0], spacing[1],
                              spacing[2], is_map ? " Direction=\"1 0 0 0 -1 0 0 0 1\"" : "");
}

/* Starts the file of a group with all the fields that it will have. */
static strake_status begin_file(vtk *v, int number, const strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = v->out.run->which;
    group *const g = &v->group[number];
    strake_vtk_array array[STRAKE_MAX_FIELDS];
    char attributes[400], piece[400];
    strake_vtk_head head = {.kind = "ImageData",
                            .attributes = attributes,
                            .piece = piece,
                            .time = v->out.run->output.time,
                            .array = array};
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f] && group_of(which, f) == number) {
            array[head.arrays++] =
                (strake_vtk_array){.name = which->problem->field[f].name,
                                   .type = slabs->element_size == 8 ? "Float64" : "Float32",
                                   .components = 1,
                                   .bytes = strake_slabs_total(slabs)};
        }
    }
    describe_grid(which, number == 0 ? 0 : number - 1, slabs, attributes, piece, sizeof piece);
    free(g->path);
    STRAKE_TRY(strake_format_path(&v->out, group_name(which, number), "vti", &g->path, error));
    memcpy(g->file, v->out.file, sizeof g->file);
    STRAKE_TRY(strake_vtk_begin(&g->vtk, g->path, &head, error));
    g->is_begun = true;
cleanup:
    return status;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    vtk *const v = self;
    v->now = group_of(v->out.run->which, field);
    return v->group[v->now].is_begun ? STRAKE_OK : begin_file(v, v->now, slabs, error);
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    vtk *const v = self;
    return strake_vtk_write(&v->group[v->now].vtk, slabs->data, strake_slabs_bytes(slabs), error);
}

static strake_status field_end(void *self, strake_error *error)
{
    vtk *const v = self;
    (void)error;
    memcpy(v->out.file, v->group[v->now].file, sizeof v->out.file);
    return STRAKE_OK;
}

static strake_status output_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtk *const v = self;
    for (int k = 0; k < GROUPS; k++) {
        group *const g = &v->group[k];
        if (g->is_begun) {
            STRAKE_TRY(strake_vtk_end(&g->vtk, error));
            STRAKE_TRY(strake_series_add(v->out.run, group_name(v->out.run->which, k), g->file,
                                         &g->series, error));
            g->is_begun = false;
        }
    }
cleanup:
    return status;
}

const strake_format strake_format_vtk = {.name = "vtk",
                                         .size = sizeof(vtk),
                                         .begin = begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .output_end = output_end,
                                         .close = close_vtk};
