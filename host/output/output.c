#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lines.h"
#include "base/number.h"
#include "case/source.h"
#include "files/text.h"
#include "output/checkpoint.h"
#include "output/diagnostics.h"
#include "output/format.h"

bool strake_index_read(char *line, strake_index_entry *out)
{
    enum { LEAST = 4, MOST = 5 };
    static char none[] = "";
    char *part[MOST] = {line, NULL, NULL, NULL, none};
    int parts = 1;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; *at != '\0' && parts < MOST; at++) {
        if (*at == ',') {
            *at = '\0';
            part[parts++] = at + 1;
        }
    }
    char *end = NULL;
    const long long step = strtoll(part[0], &end, 10);
    if (parts < LEAST || end == part[0] || *end != '\0' || step < -1 || part[2][0] == '\0' ||
        part[3][0] == '\0' || strchr(part[3], '/') != NULL) {
        return false;
    }
    const double time = strake_number_read(part[1], &end);
    *out = (strake_index_entry){.step = step,
                                .time = end != part[1] ? time : (double)NAN,
                                .field = part[2],
                                .file = part[3],
                                .run = part[4]};
    return true;
}

strake_status strake_index_load(const char *folder, char **lines, strake_index_entry **entry,
                                int64_t *entries, strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t length = 0;
    int64_t room = 1;
    char *line = NULL, *rest = NULL;
    char *const path = strake_path_join(folder, STRAKE_INDEX_NAME);
    *entries = 0;
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for an index");
    STRAKE_TRY(
        strake_file_read(path, STRAKE_TABLE_BYTES, "index of outputs", lines, &length, error));
    for (const char *at = *lines; (at = strchr(at, '\n')) != NULL; at++) {
        room++;
    }
    rest = *lines;
    *entry = calloc((size_t)room, sizeof **entry);
    STRAKE_CHECK(*entry != NULL, error, STRAKE_ERR_MEMORY, "out of memory for an index");
    line = strake_next_line(&rest);
    STRAKE_CHECK(line != NULL && (strcmp(line, STRAKE_INDEX_TITLE) == 0 ||
                                  strcmp(line, STRAKE_INDEX_TITLE_BEFORE) == 0),
                 error, STRAKE_ERR_USAGE, "%s is no index of outputs", path);
    while ((line = strake_next_line(&rest)) != NULL) {
        *entries += strake_index_read(line, &(*entry)[*entries]) ? 1 : 0;
    }
cleanup:
    free(path);
    return status;
}

/* Whether a file has the name that its line gives it: an index may be written by anybody. */
static bool is_output(const strake_index_entry *entry)
{
    const char *const field[] = {entry->field, STRAKE_FORMAT_FIELDS, STRAKE_FORMAT_FOOTPRINT,
                                 STRAKE_FORMAT_PARTICLES};
    for (int k = 0; k < 4; k++) {
        char head[80];
        const int length = entry->step < 0 ? snprintf(head, sizeof head, "%.60s.", field[k])
                                           : snprintf(head, sizeof head, "%.60s_%08lld.", field[k],
                                                      (long long)entry->step);
        if (strncmp(entry->file, head, (size_t)length) == 0) {
            return true;
        }
    }
    return strcmp(entry->file, STRAKE_FORMAT_NETCDF_NAME) == 0;
}

/* The series that a file for VTK belongs to: psi_00000010.vti is one of psi.pvd. */
static bool name_series(const strake_index_entry *entry, char *name, size_t size)
{
    const char *const mark = strrchr(entry->file, '_');
    const char *const dot = strrchr(entry->file, '.');
    if (mark == NULL || dot == NULL || (strcmp(dot, ".vti") != 0 && strcmp(dot, ".vtp") != 0)) {
        return false;
    }
    (void)snprintf(name, size, "%.*s.pvd", (int)(mark - entry->file), entry->file);
    return true;
}

/* Removes a file, or a link to one; what is not there is gone. @return 0 or an errno */
static int remove_file(int folder, const char *name, int64_t *removed)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))) {
        return 0;
    }
    if (unlinkat(folder, name, 0) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    ++*removed;
    return 0;
}

strake_status strake_index_clear(const char *folder, int64_t *removed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_index_entry *entry = NULL;
    char *lines = NULL;
    int64_t entries = 0, others = 0;
    int code = 0;
    *removed = 0;
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || faccessat(directory, STRAKE_INDEX_NAME, F_OK, 0) != 0) {
        goto cleanup;
    }
    status = strake_index_load(folder, &lines, &entry, &entries, error);
    if (status != STRAKE_OK) {
        status = status == STRAKE_ERR_USAGE ? STRAKE_OK : status; /* none of ours */
        goto cleanup;
    }
    for (int64_t k = 0; k < entries; k++) {
        if (is_output(&entry[k])) {
            char series[STRAKE_FORMAT_FILE];
            code = remove_file(directory, entry[k].file, removed);
            if (code == 0 && name_series(&entry[k], series, sizeof series)) {
                code = remove_file(directory, series, &others);
            }
            STRAKE_CHECK(code == 0, error, STRAKE_ERR_IO,
                         "cannot remove %s of an earlier run from folder %s: %s", entry[k].file,
                         folder, strake_file_reason(code));
        }
    }
    /* The index at last: whoever is interrupted here is found again by it. */
    for (int k = 0; k < STRAKE_MEASURES && code == 0; k++) {
        code = remove_file(directory, strake_measures_name[k], &others);
    }
    code = code == 0 ? remove_file(directory, STRAKE_INDEX_NAME, &others) : code;
    STRAKE_CHECK(code == 0, error, STRAKE_ERR_IO,
                 "cannot remove the index of an earlier run from folder %s: %s", folder,
                 strake_file_reason(code));
cleanup:
    if (directory >= 0) {
        (void)close(directory);
    }
    free(entry);
    free(lines);
    return status;
}

void strake_index_miss_file(const char *folder, const char *name, strake_text *missing,
                            int64_t *count)
{
    enum { NAMED = 5 };
    struct stat info;
    char *const path = strake_path_join(folder, name);
    if (path != NULL && lstat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        if (*count < NAMED) {
            strake_text_print(missing, "%s%s", *count > 0 ? ", " : "", name);
        } else if (*count == NAMED) {
            strake_text_print(missing, ", and more");
        }
        ++*count;
    }
    free(path);
}

strake_status strake_index_miss(const char *lines, const char *run, const char *folder,
                                strake_text *missing, int64_t *count, strake_error *error)
{
    char last[STRAKE_FORMAT_FILE] = "";
    char *const copy = strdup(lines), *rest = copy;
    if (copy == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for an index");
    }
    for (char *line = strake_next_line(&rest); line != NULL; line = strake_next_line(&rest)) {
        strake_index_entry entry;
        /* Fields that share a file follow one another. */
        if (strake_index_read(line, &entry) && strcmp(entry.run, run) == 0 &&
            strcmp(entry.file, last) != 0) {
            (void)snprintf(last, sizeof last, "%s", entry.file);
            strake_index_miss_file(folder, entry.file, missing, count);
        }
    }
    free(copy);
    return STRAKE_OK;
}

double strake_output_bytes(const strake_case *which, const strake_solver *solver, int64_t step)
{
    double times = step <= which->steps ? 1.0 : 0.0;
    if (which->output_every > 0 && !which->problem->is_adaptive &&
        which->steps < (int64_t)STRAKE_STEPS_OPEN) {
        const int64_t due = (which->steps - 1) / which->output_every;
        const int64_t done = step / which->output_every;
        times += (double)(due - done);
    }
    times += step == 0 && which->output_initial ? 1.0 : 0.0;
    double one = 0.0;
    for (int f = 0; f < which->problem->fields; f++) {
        size_t bytes = 0;
        if (which->output_field[f] &&
            strake_field_bytes(solver, which->problem->field[f].name, &bytes, NULL) == STRAKE_OK) {
            one += (double)bytes;
        }
    }
    int formats = 0; /* pictures are small */
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        formats += which->output_format[k] && k != STRAKE_FORMAT_PNG ? 1 : 0;
    }
    one *= formats;
    return times > 0.0 ? times * one : 0.0;
}

strake_status strake_output_look(const strake_case *which,
                                 const strake_format *const formats[STRAKE_FORMATS],
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < STRAKE_FORMATS && status == STRAKE_OK; k++) {
        if (which->output_format[k] && formats[k]->look != NULL) {
            status = formats[k]->look(which, error);
        }
    }
    return status;
}

strake_status strake_output_begin(strake_output *output, const strake_format_run *run,
                                  const strake_format *const formats[STRAKE_FORMATS],
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    *output = (strake_output){.run = *run};
    output->run.index = &output->index;
    strake_text_print(&output->index, "%s\n", STRAKE_INDEX_TITLE);
    path = strake_path_join(run->folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_check(path, error));
    if (run->resumed >= 0) {
        /* By time: what was due at that step was written before the checkpoint. */
        const bool by_time =
            run->which->output_seconds > 0.0 && !strake_output_is_due(run->which, run->resumed);
        STRAKE_TRY(
            strake_table_keep(path, run->resumed + (by_time ? 1 : 0), &output->index, error));
    }
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        if (run->which->output_format[k]) {
            strake_format_state *const state = calloc(1, formats[k]->size);
            STRAKE_CHECK(state != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
            state->run = &output->run;
            output->self[output->formats] = state;
            output->format[output->formats++] = formats[k];
            STRAKE_TRY(formats[k]->begin != NULL ? formats[k]->begin(state, error) : STRAKE_OK);
        }
    }
cleanup:
    free(path);
    return status;
}

/* One field: every piece is asked of the solver once and goes into all formats. */
static strake_status write_field(strake_output *output, strake_slabs *slabs, int field,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_whole = slabs->solver == NULL;
    for (int k = 0; k < output->formats; k++) {
        STRAKE_TRY(output->format[k]->field_begin(output->self[k], field, slabs, error));
    }
    for (bool more = is_whole || strake_slabs_next(slabs); more;
         more = !is_whole && strake_slabs_next(slabs)) {
        STRAKE_TRY(is_whole ? STRAKE_OK : strake_slabs_get(slabs, error));
        for (int k = 0; k < output->formats; k++) {
            STRAKE_TRY(output->format[k]->piece(output->self[k], slabs, error));
        }
    }
    for (int k = 0; k < output->formats; k++) {
        const strake_format_state *const state = output->self[k];
        if (output->format[k]->field_end != NULL) {
            STRAKE_TRY(output->format[k]->field_end(output->self[k], error));
        }
        if (state->file[0] != '\0') {
            strake_text_print(&output->index, "%lld,%.17g,%s,%s,%s\n",
                              (long long)output->run.output.step, output->run.output.time,
                              slabs->name, state->file, output->run.run);
        }
    }
cleanup:
    return status;
}

static strake_status begin_output(strake_output *output, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->output_begin != NULL) {
            STRAKE_TRY(output->format[k]->output_begin(output->self[k], error));
        }
    }
cleanup:
    return status;
}

static strake_status end_output(strake_output *output, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->output_end != NULL) {
            STRAKE_TRY(output->format[k]->output_end(output->self[k], error));
        }
    }
    path = strake_path_join(output->run.folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL && !output->index.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for the index of the outputs");
    STRAKE_TRY(
        strake_file_put(path, STRAKE_FILE_HASTY, output->index.data, output->index.length, error));
    output->is_written = true;
cleanup:
    free(path);
    return status;
}

strake_status strake_output_write(strake_output *output, strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = output->run.which;
    output->run.output = (strake_format_output){.step = strake_step_count(slabs->solver),
                                                .time = strake_time(slabs->solver)};
    STRAKE_TRY(begin_output(output, error));
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f]) {
            STRAKE_TRY(strake_slabs_select(slabs, which->problem->field[f].name, error));
            STRAKE_TRY(write_field(output, slabs, f, error));
        }
    }
    STRAKE_TRY(end_output(output, error));
cleanup:
    return status;
}

strake_status strake_output_put(strake_output *output, strake_format_output when,
                                double *const *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = output->run.which;
    const int dims = which->problem->dims;
    output->run.output = when;
    STRAKE_TRY(begin_output(output, error));
    for (int f = 0; f < which->problem->fields; f++) {
        int64_t shape[STRAKE_AXES];
        for (int d = 0; d < dims; d++) {
            shape[d] = which->n[strake_axis_of(dims, d)];
        }
        strake_slabs whole = strake_slabs_of(which->problem->field[f].name, dims, shape, data[f]);
        STRAKE_TRY(write_field(output, &whole, f, error));
    }
    STRAKE_TRY(end_output(output, error));
cleanup:
    return status;
}

void strake_output_end(strake_output *output)
{
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->close != NULL) {
            output->format[k]->close(output->self[k]);
        }
        free(output->self[k]);
    }
    strake_text_free(&output->index);
    *output = (strake_output){0};
}
