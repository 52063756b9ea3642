/*
 * Output of particles for ParaView and other readers of VTK: all their fields in particles_STEP.vtp, one vertex each, in
 * order of number, and a series with the times, particles.pvd. Vectors have three components: in 2D the middle one is 0.
 * What left the box is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "output/vtk.h"
#include "problem/sph.h"

enum { ROWS = 512 /* turned at once */ };

typedef struct vtp {
    strake_format_state out;
    strake_vtk vtk;
    char *path, file[STRAKE_FORMAT_FILE];
    strake_text series;
    int64_t particles; /* all, ... */
    int64_t there;     /* ... and those that did not leave, ... */
    uint8_t *is_there; /* ... which are these */
    int now;           /* present field */
} vtp;

static strake_status begin(void *self, strake_error *error)
{
    vtp *const v = self;
    return strake_series_begin(v->out.run, STRAKE_FORMAT_PARTICLES, "vtp", &v->series, error);
}

static void close_vtp(void *self)
{
    vtp *const v = self;
    strake_vtk_abandon(&v->vtk);
    strake_text_free(&v->series);
    free(v->path);
    free(v->is_there);
}

/* Finds out who is there. */
static strake_status look_who(vtp *v, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_solver *const solver = v->out.run->solver;
    const char *const name = v->out.run->which->problem->field[STRAKE_SPH_KIND].name;
    strake_extent extent;
    double kind[ROWS];
    STRAKE_TRY(strake_field_extent(solver, name, &extent, error));
    v->particles = extent.slabs;
    v->there = 0;
    if (v->is_there == NULL) {
        v->is_there = malloc((size_t)v->particles + 1);
    }
    STRAKE_CHECK(v->is_there != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    for (int64_t first = 0, end = 0; first < v->particles; first = end) {
        end = v->particles - first < ROWS ? v->particles : first + ROWS;
        STRAKE_TRY(strake_get_slabs(solver, name, first, end, kind, error));
        for (int64_t k = first; k < end; k++) {
            v->is_there[k] = kind[k - first] <= (double)STRAKE_PARTICLE_WALL ? 1 : 0;
            v->there += v->is_there[k];
        }
    }
cleanup:
    return status;
}

/* How a field is written. */
static strake_vtk_array array_of(const vtp *v, int field)
{
    const bool is_vector = field == STRAKE_SPH_POSITION || field == STRAKE_SPH_VELOCITY;
    const bool is_byte = field == STRAKE_SPH_KIND, is_long = field == STRAKE_SPH_NUMBER;
    const uint64_t real = strake_format_element_size(v->out.run->which, field);
    const uint64_t bytes = is_byte ? 1 : is_long ? 8 : real;
    const int components = is_vector ? 3 : 1;
    return (strake_vtk_array){.section = field == STRAKE_SPH_POSITION ? STRAKE_VTK_POINTS
                                                                      : STRAKE_VTK_POINT_DATA,
                              .name = v->out.run->which->problem->field[field].name,
                              .type = is_byte     ? "UInt8"
                                      : is_long   ? "Int64"
                                      : real == 4 ? "Float32"
                                                  : "Float64",
                              .components = components,
                              .bytes = (uint64_t)v->there * (uint64_t)components * bytes};
}

/* Starts the file with all that it will have: positions first, as they come first. */
static strake_status output_begin(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtp *const v = self;
    const strake_case *const which = v->out.run->which;
    strake_vtk_array array[STRAKE_SPH_FIELDS + 2];
    char piece[200];
    strake_vtk_head head = {.kind = "PolyData",
                            .attributes = "",
                            .piece = piece,
                            .time = v->out.run->output.time,
                            .array = array};
    STRAKE_TRY(look_who(v, error));
    for (int f = 0; f < STRAKE_SPH_FIELDS; f++) {
        if (which->output_field[f]) {
            array[head.arrays++] = array_of(v, f);
        }
    }
    for (int k = 0; k < 2; k++) {
        array[head.arrays++] = (strake_vtk_array){.section = STRAKE_VTK_VERTS,
                                                  .name = k == 0 ? "connectivity" : "offsets",
                                                  .type = "Int64",
                                                  .components = 1,
                                                  .bytes = (uint64_t)v->there * sizeof(int64_t)};
    }
    (void)snprintf(piece, sizeof piece,
                   "NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"0\" "
                   "NumberOfStrips=\"0\" NumberOfPolys=\"0\"",
                   (long long)v->there, (long long)v->there);
    free(v->path);
    v->path = NULL;
    STRAKE_TRY(strake_format_path(&v->out, STRAKE_FORMAT_PARTICLES, "vtp", &v->path, error));
    memcpy(v->file, v->out.file, sizeof v->file);
    STRAKE_TRY(strake_vtk_begin(&v->vtk, v->path, &head, error));
cleanup:
    return status;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    vtp *const v = self;
    (void)slabs;
    (void)error;
    v->now = field;
    return STRAKE_OK;
}

/* Reals as the file has them. @return bytes */
static size_t put_reals(const vtp *v, const double *row, int count, char *out)
{
    const size_t size = strake_format_element_size(v->out.run->which, v->now);
    for (int k = 0; k < count; k++) {
        strake_element_set(out, (int)size, k, row[k]);
    }
    return (size_t)count * size;
}

/* Turns a row into what the file has of it. @return bytes */
static size_t turn(const vtp *v, const double *row, int64_t columns, char *out)
{
    const double vector[3] = {row[0], columns == 3 ? row[1] : 0.0, row[columns - 1]};
    const int64_t number = (int64_t)row[0];
    const uint8_t kind = (uint8_t)row[0];
    switch (v->now) {
    case STRAKE_SPH_POSITION:
    case STRAKE_SPH_VELOCITY:
        return put_reals(v, vector, 3, out);
    case STRAKE_SPH_KIND:
        memcpy(out, &kind, sizeof kind);
        return sizeof kind;
    case STRAKE_SPH_NUMBER:
        memcpy(out, &number, sizeof number);
        return sizeof number;
    default:
        return put_reals(v, row, 1, out);
    }
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtp *const v = self;
    const int64_t columns = slabs->dims > 1 ? slabs->shape[1] : 1;
    double room[ROWS * 3];
    char *const bytes = (char *)room;
    for (int64_t first = slabs->first, end = 0; first < slabs->end; first = end) {
        size_t used = 0;
        end = slabs->end - first < ROWS ? slabs->end : first + ROWS;
        for (int64_t k = first; k < end; k++) {
            if (v->is_there[k] != 0) {
                const double *const row =
                    (const double *)slabs->data + (k - slabs->first) * columns;
                used += turn(v, row, columns, bytes + used);
            }
        }
        STRAKE_TRY(used > 0 ? strake_vtk_write(&v->vtk, bytes, used, error) : STRAKE_OK);
    }
cleanup:
    return status;
}

static strake_status field_end(void *self, strake_error *error)
{
    vtp *const v = self;
    (void)error;
    memcpy(v->out.file, v->file, sizeof v->out.file);
    return STRAKE_OK;
}

/* Numbers from first on, as many as there are particles. */
static strake_status write_count(vtp *v, int64_t first, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t number[ROWS];
    for (int64_t done = 0; done < v->there;) {
        const int64_t now = v->there - done < ROWS ? v->there - done : ROWS;
        for (int64_t k = 0; k < now; k++) {
            number[k] = first + done + k;
        }
        STRAKE_TRY(strake_vtk_write(&v->vtk, number, (size_t)now * sizeof *number, error));
        done += now;
    }
cleanup:
    return status;
}

static strake_status output_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    vtp *const v = self;
    STRAKE_TRY(write_count(v, 0, error));
    STRAKE_TRY(write_count(v, 1, error));
    STRAKE_TRY(strake_vtk_end(&v->vtk, error));
    STRAKE_TRY(strake_series_add(v->out.run, STRAKE_FORMAT_PARTICLES, v->file, &v->series, error));
cleanup:
    return status;
}

const strake_format strake_format_vtp = {.name = "vtp",
                                         .size = sizeof(vtp),
                                         .begin = begin,
                                         .output_begin = output_begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .output_end = output_end,
                                         .close = close_vtp};
