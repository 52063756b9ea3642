/*
 * The footprint of each output, footprint_STEP.geojson or .kml: the cells where a field that says where something is
 * (is_extent) is above 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/maps.h"
#include "output/footprint.h"
#include "output/format.h"

typedef struct footprint {
    const strake_format_run *run;
    bool is_kml, is_extent; /* the present field is */
    unsigned char *mask;    /* [rows, cols] */
    char name[STRAKE_FORMAT_FILE];
} footprint;

static strake_status begin(const strake_format_run *run, bool is_kml, void **self,
                           strake_error *error)
{
    footprint *const f = calloc(1, sizeof *f);
    *self = f;
    if (f != NULL) {
        f->run = run;
        f->is_kml = is_kml;
        f->mask = malloc((size_t)run->which->n[0] * (size_t)run->which->n[2]);
    }
    return f != NULL && f->mask != NULL
               ? STRAKE_OK
               : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
}

static strake_status begin_geojson(const strake_format_run *run, void **self, strake_error *error)
{
    return begin(run, false, self, error);
}

static strake_status begin_kml(const strake_format_run *run, void **self, strake_error *error)
{
    return begin(run, true, self, error);
}

static strake_status output_begin(void *self, strake_error *error)
{
    footprint *const f = self;
    (void)error;
    memset(f->mask, 0, (size_t)f->run->which->n[0] * (size_t)f->run->which->n[2]);
    strake_format_name(STRAKE_FORMAT_FOOTPRINT, f->run->output.step, f->is_kml ? "kml" : "geojson",
                       f->name);
    return STRAKE_OK;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    footprint *const f = self;
    (void)slabs;
    (void)error;
    f->is_extent = f->run->which->problem->field[field].is_extent;
    return STRAKE_OK;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    const footprint *const f = self;
    const int64_t cols = slabs->shape[1];
    const int64_t cells = (slabs->end - slabs->first) * cols;
    unsigned char *const mask = f->mask + slabs->first * cols;
    const bool is_single = strake_element_size(slabs->solver) == sizeof(float);
    (void)error;
    for (int64_t k = 0; f->is_extent && k < cells; k++) {
        const bool is_in = is_single ? ((const float *)slabs->data)[k] > 0.0F
                                     : ((const double *)slabs->data)[k] > 0.0;
        mask[k] |= is_in ? 1U : 0U;
    }
    return STRAKE_OK;
}

static strake_status field_end(void *self, char file[STRAKE_FORMAT_FILE], strake_error *error)
{
    const footprint *const f = self;
    (void)error;
    (void)snprintf(file, STRAKE_FORMAT_FILE, "%s", f->is_extent ? f->name : "");
    return STRAKE_OK;
}

static strake_status output_end(void *self, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const footprint *const f = self;
    const strake_case *const which = f->run->which;
    strake_text text = {0};
    strake_outline outline = {0};
    strake_footprint about = {.name = which->problem->name,
                              .step = f->run->output.step,
                              .time = f->run->output.time,
                              .georef = strake_case_place(which)};
    char *const path = strake_path_join(f->run->folder, f->name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_outline_trace(f->mask, which->n[0], which->n[2], &outline, error));
    about.area = (double)outline.cells * which->spacing[0] * which->spacing[2];
    if (f->is_kml) {
        strake_footprint_kml(&about, &outline, &text);
    } else {
        strake_footprint_geojson(&about, &outline, &text);
    }
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_put(path, 0, text.data, text.length, error));
cleanup:
    strake_outline_free(&outline);
    strake_text_free(&text);
    free(path);
    return status;
}

static void close_footprint(void **self)
{
    footprint *const f = *self;
    if (f != NULL) {
        free(f->mask);
    }
    free(f);
    *self = NULL;
}

const strake_format strake_format_geojson = {.name = "geojson",
                                             .begin = begin_geojson,
                                             .output_begin = output_begin,
                                             .field_begin = field_begin,
                                             .piece = piece,
                                             .field_end = field_end,
                                             .output_end = output_end,
                                             .close = close_footprint};

const strake_format strake_format_kml = {.name = "kml",
                                         .begin = begin_kml,
                                         .output_begin = output_begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .output_end = output_end,
                                         .close = close_footprint};
