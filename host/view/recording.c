#include "view/recording.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "files/netcdf.h"
#include "output/format.h"
#include "output/output.h"
#include "files/text.h"

/** Which frames are wanted, and what there was, for the message where none of them is. */
typedef struct strake_wanted {
    const char *field;
    int64_t step;
    int seen;
    int64_t first, last; /**< steps */
    strake_text fields;
} strake_wanted;

static strake_status strake_recording_add(strake_recording *out, strake_wanted *want,
                                          const char *path, strake_frame frame,
                                          strake_error *error);

/* Variables of a NetCDF file as frames. */

/* The numbers of a variable of this name along the records, NaN where there is none. */
typedef struct series {
    int variable; /* -1: there is none */
    strake_netcdf_info info;
} series;

static series find_series(const strake_recording *r, const char *name)
{
    series out = {.variable = -1};
    strake_netcdf_info info;
    for (int k = 0; k < r->module->variables(r->reader); k++) {
        if (r->module->describe(r->reader, k, &info) && strcmp(info.name, name) == 0 &&
            info.dims == 1) {
            out = (series){k, info};
        }
    }
    return out;
}

static double number_of(const strake_recording *r, const series *s, int64_t record)
{
    double value = NAN;
    if (s->variable < 0 || record < 0 || record >= s->info.shape[0] ||
        strake_netcdf_elements(r->module, r->reader, s->variable, &s->info, -1, record, 1, &value,
                               NULL, NULL) != STRAKE_OK) {
        return NAN;
    }
    return value;
}

static strake_status add_frames(strake_recording *out, strake_wanted *want, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const series time = find_series(out, "time"), step = find_series(out, "step");
    const bool is_seconds = strncmp(time.info.unit, "seconds", strlen("seconds")) == 0;
    /* Record by record, as outputs follow each other. */
    const int64_t records = time.variable >= 0 ? time.info.shape[0] : 0;
    for (int64_t record = -1; record < records; record++) {
        for (int k = 0; k < out->module->variables(out->reader); k++) {
            strake_netcdf_info info;
            if (!out->module->describe(out->reader, k, &info) || info.dims < 2) {
                continue;
            }
            const bool varies = strcmp(info.dim[0], "time") == 0;
            const double steps = number_of(out, &step, record);
            if (varies != (record >= 0) || info.dims - (varies ? 1 : 0) > 3) {
                continue;
            }
            const strake_frame frame = {.field = info.name,
                                        .number = k,
                                        .record = record,
                                        .step = fabs(steps) < 9e15 ? (int64_t)steps : record,
                                        .time = is_seconds ? number_of(out, &time, record)
                                                           : (double)NAN};
            STRAKE_TRY(strake_recording_add(out, want, NULL, frame, error));
        }
    }
cleanup:
    return status;
}

/** Frames of a NetCDF file, which stays open: every array of a variable along time. */
static strake_status recording_read_netcdf(strake_recording *out, strake_wanted *want,
                                           const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_netcdf_load(path, &out->module, error));
    STRAKE_TRY(out->module->open(path, &out->reader, error));
    STRAKE_TRY(add_frames(out, want, error));
    STRAKE_CHECK(want->seen > 0, error, STRAKE_ERR_USAGE,
                 "%s has no variables of one to three dimensions beside time", path);
cleanup:
    return status;
}

static bool is_listed(const strake_text *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list->data; at != NULL && (at = strstr(at, name)) != NULL; at += length) {
        const bool begins = at == list->data || at[-1] == ' ';
        if (begins && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/** Adds a frame, where it is wanted; @p path and the frame's field are copied. */
static strake_status strake_recording_add(strake_recording *out, strake_wanted *want,
                                          const char *path, strake_frame frame, strake_error *error)
{
    strake_status status = STRAKE_OK;
    want->first = want->seen == 0 || frame.step < want->first ? frame.step : want->first;
    want->last = want->seen == 0 || frame.step > want->last ? frame.step : want->last;
    want->seen++;
    if (!is_listed(&want->fields, frame.field)) {
        strake_text_print(&want->fields, "%s%s", want->fields.length > 0 ? ", " : "", frame.field);
    }
    if ((want->field != NULL && strcmp(want->field, frame.field) != 0) ||
        (want->step >= 0 && want->step != frame.step)) {
        return STRAKE_OK;
    }
    strake_frame *const more = realloc(out->frame, ((size_t)out->frames + 1) * sizeof *out->frame);
    STRAKE_CHECK(more != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a list of outputs");
    out->frame = more;
    frame.field = strdup(frame.field);
    frame.path = path != NULL ? strdup(path) : NULL;
    out->frame[out->frames++] = frame;
    STRAKE_CHECK(frame.field != NULL && (path == NULL || frame.path != NULL), error,
                 STRAKE_ERR_MEMORY, "out of memory for a list of outputs");
cleanup:
    return status;
}

/* The outputs of an index that have a suffix. */
static strake_status add_files(strake_recording *out, strake_wanted *want, const char *suffix,
                               const strake_index_entry *entry, int64_t entries,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    for (int64_t k = 0; k < entries; k++) {
        const char *const dot = strrchr(entry[k].file, '.');
        if (dot == NULL || strcmp(dot, suffix) != 0) {
            continue;
        }
        free(path);
        path = strake_path_join(out->path, entry[k].file);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
        STRAKE_TRY(strake_recording_add(
            out, want, path,
            (strake_frame){.field = entry[k].field, .step = entry[k].step, .time = entry[k].time},
            error));
    }
cleanup:
    free(path);
    return status;
}

/* Of the same outputs in several formats those of one. */
static strake_status read_folder(strake_recording *out, strake_wanted *want, strake_error *error)
{
    static const char *const suffix[] = {".npy", ".asc", ".tif", ".vtp"};
    strake_status status = STRAKE_OK;
    char *lines = NULL, *path = NULL;
    strake_index_entry *entry = NULL;
    int64_t entries = 0;
    bool is_netcdf = false;
    strake_error why;
    status = strake_index_load(out->path, &lines, &entry, &entries, &why);
    STRAKE_CHECK(
        status == STRAKE_OK, error, STRAKE_ERR_USAGE,
        "%s; give a folder that `strake run` wrote outputs to, an .npy file or a checkpoint",
        why.text);
    for (int64_t k = 0; k < entries; k++) {
        is_netcdf = is_netcdf || strcmp(entry[k].file, STRAKE_FORMAT_NETCDF_NAME) == 0;
    }
    for (size_t k = 0; k < sizeof suffix / sizeof suffix[0] && want->seen == 0; k++) {
        STRAKE_TRY(add_files(out, want, suffix[k], entry, entries, error));
    }
    if (want->seen == 0 && is_netcdf) {
        path = strake_path_join(out->path, STRAKE_FORMAT_NETCDF_NAME);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
        STRAKE_TRY(recording_read_netcdf(out, want, path, error));
    }
    STRAKE_CHECK(want->seen > 0, error, STRAKE_ERR_USAGE,
                 entries > 0
                     ? "the %s of folder %s lists no outputs that can be viewed (.npy, .nc, "
                       ".asc, .tif, .vtp)"
                     : "the %s of folder %s lists no outputs; the run has written none yet",
                 STRAKE_INDEX_NAME, out->path);
cleanup:
    free(lines);
    free(entry);
    free(path);
    return status;
}

static strake_status read_checkpoint(strake_recording *out, strake_wanted *want,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_checkpoint_header *const header = &out->checkpoint.header;
    STRAKE_TRY(strake_checkpoint_open(out->path, &out->checkpoint, error));
    for (uint32_t k = 0; k < header->fields; k++) {
        char name[STRAKE_NAME_LENGTH];
        (void)snprintf(name, sizeof name, "%s", header->field[k].name);
        STRAKE_TRY(strake_recording_add(
            out, want, NULL,
            (strake_frame){
                .field = name, .number = (int)k, .step = header->step, .time = header->time},
            error));
    }
cleanup:
    return status;
}

/* A lone file is called after itself: psi_00000500.npy. */
static strake_status read_file(strake_recording *out, strake_wanted *want, strake_error *error)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s", strake_path_last(out->path));
    want->field = NULL;
    want->step = -1;
    return strake_recording_add(out, want, out->path,
                                (strake_frame){.field = name, .step = -1, .time = NAN}, error);
}

strake_status strake_recording_open(const char *path, const char *field, int64_t step,
                                    strake_recording *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_wanted want = {.field = field, .step = step};
    *out = (strake_recording){.path = strdup(path), .checkpoint = {.descriptor = -1}};
    STRAKE_CHECK(out->path != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_TRY(strake_path_find_kind(path, "view", &out->kind, error));
    switch (out->kind) {
    case STRAKE_PATH_FOLDER:
        STRAKE_TRY(read_folder(out, &want, error));
        break;
    case STRAKE_PATH_CHECKPOINT:
        STRAKE_TRY(read_checkpoint(out, &want, error));
        break;
    case STRAKE_PATH_NETCDF:
        STRAKE_TRY(recording_read_netcdf(out, &want, path, error));
        break;
    case STRAKE_PATH_NPY:
    case STRAKE_PATH_GRID:
        STRAKE_TRY(read_file(out, &want, error));
        break;
    }
    STRAKE_CHECK(out->frames > 0, error, STRAKE_ERR_USAGE,
                 "%s has no such output; it has %s at steps %lld to %lld", path,
                 want.fields.data != NULL ? want.fields.data : "nothing", (long long)want.first,
                 (long long)want.last);
cleanup:
    strake_text_free(&want.fields);
    if (status != STRAKE_OK) {
        strake_recording_close(out);
    }
    return status;
}

strake_status strake_recording_array(const strake_recording *recording, int frame,
                                     strake_array *out, strake_error *error)
{
    const strake_frame *const f = &recording->frame[frame];
    if (f->path != NULL) {
        return strake_array_open(f->path, out, error);
    }
    if (recording->reader != NULL) {
        strake_netcdf_info info;
        (void)recording->module->describe(recording->reader, f->number, &info);
        *out = strake_array_of_netcdf(recording->path, recording->module, recording->reader,
                                      f->number, &info, f->record);
        return STRAKE_OK;
    }
    *out = strake_array_of_checkpoint(&recording->checkpoint, f->number);
    return STRAKE_OK;
}

void strake_recording_close(strake_recording *recording)
{
    for (int k = 0; k < recording->frames; k++) {
        free(recording->frame[k].field);
        free(recording->frame[k].path);
    }
    free(recording->frame);
    free(recording->path);
    if (recording->reader != NULL) {
        recording->module->end(&recording->reader);
    }
    strake_checkpoint_close(&recording->checkpoint);
    *recording = (strake_recording){.checkpoint = {.descriptor = -1}};
}
