#include "program/report_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "files/cache.h"
#include "program/commit.h"
#include "program/options.h"
#include "program/say.h"
#include "output/checkpoint.h"
#include "output/output.h"
#include "solver/solver.h"

const strake_format *const strake_formats[STRAKE_FORMATS] = {
    [STRAKE_FORMAT_NPY] = &strake_format_npy,
    [STRAKE_FORMAT_NETCDF] = &strake_format_netcdf,
    [STRAKE_FORMAT_VTK] = &strake_format_vtk,
    [STRAKE_FORMAT_ASC] = &strake_format_asc,
    [STRAKE_FORMAT_GEOTIFF] = &strake_format_geotiff,
    [STRAKE_FORMAT_GEOJSON] = &strake_format_geojson,
    [STRAKE_FORMAT_KML] = &strake_format_kml,
    [STRAKE_FORMAT_VTP] = &strake_format_vtp,
    [STRAKE_FORMAT_PNG] = &strake_format_png,
};

static const char lock_name[] = ".strake-lock";

strake_status strake_folder_own(strake_lock *owner, const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char other[STRAKE_LOCK_OWNER];
    if (owner->is_held || owner->is_impossible || access(folder, F_OK) != 0) {
        return STRAKE_OK;
    }
    status = strake_lock_take(owner, folder, lock_name, other, error);
    STRAKE_CHECK(status != STRAKE_ERR_STATE, error, STRAKE_ERR_STATE,
                 "folder %s belongs to another run that is going on: %s (%s/%s is locked); wait "
                 "for its end, end it, or write to another folder",
                 folder, other, folder, lock_name);
    if (status == STRAKE_OK && owner->is_impossible) {
        strake_say_warning("the file system of folder %s has no locks: nothing keeps a second run "
                           "from writing there at the same time",
                           folder);
    }
cleanup:
    return status;
}

bool strake_folder_is_own(const strake_lock *owner, const char *folder)
{
    struct stat info;
    char *const path = strake_path_join(folder, lock_name);
    const bool is = owner->is_held && path != NULL && lstat(path, &info) == 0 &&
                    info.st_dev == owner->device && info.st_ino == owner->number;
    free(path);
    return is;
}

static strake_status tell_missing(const strake_run_written *written, const strake_text *missing,
                                  int64_t count, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(!missing->failed, error, STRAKE_ERR_MEMORY, "out of memory");
    STRAKE_CHECK(
        count == 0, error, STRAKE_ERR_IO,
        "folder %s: %lld file%s that this run wrote %s not there any more (%s): removed or "
        "moved while it went on; start it again, and leave its folder alone until it ends",
        written->folder, (long long)count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
        missing->data);
cleanup:
    return status;
}

static strake_status run_files_check_folder(const strake_run_written *written, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(
        access(written->folder, F_OK) == 0, error, STRAKE_ERR_IO,
        "folder %s is not there any more (%s): removed or moved while the run went on, with "
        "all its outputs",
        written->folder, strake_file_reason(errno));
cleanup:
    return status;
}

strake_status strake_folder_keep(strake_lock *owner, const strake_run_written *written,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text missing = {0};
    int64_t count = 0;
    STRAKE_TRY(run_files_check_folder(written, error));
    if (owner->is_held && !strake_lock_is_in_place(owner)) {
        strake_lock_release(owner);
        STRAKE_TRY(strake_folder_own(owner, written->folder, error));
    }
    strake_index_miss_file(written->folder, STRAKE_ABOUT_NAME, &missing, &count);
    if (written->output->is_written) {
        strake_index_miss_file(written->folder, STRAKE_INDEX_NAME, &missing, &count);
    }
    STRAKE_TRY(tell_missing(written, &missing, count, error));
cleanup:
    strake_text_free(&missing);
    return status;
}

strake_status strake_folder_complete(const strake_run_written *written, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text missing = {0};
    int64_t count = 0;
    STRAKE_TRY(run_files_check_folder(written, error));
    strake_index_miss_file(written->folder, STRAKE_ABOUT_NAME, &missing, &count);
    if (written->output->is_written) {
        strake_index_miss_file(written->folder, STRAKE_INDEX_NAME, &missing, &count);
        STRAKE_TRY(strake_index_miss(written->output->index.data, written->run, written->folder,
                                     &missing, &count, error));
    }
    for (int k = 0; k < STRAKE_MEASURES; k++) {
        if (written->diagnostics->table[k].is_written) {
            strake_index_miss_file(written->folder, strake_measures_name[k], &missing, &count);
        }
    }
    if (written->has_checkpoint) {
        strake_index_miss_file(written->folder, STRAKE_CHECKPOINT_NAME, &missing, &count);
    }
    STRAKE_TRY(tell_missing(written, &missing, count, error));
cleanup:
    strake_text_free(&missing);
    return status;
}

strake_status strake_begin_formats(strake_output *output, strake_run_origin *origin,
                                   const strake_case *which, strake_solver *solver,
                                   const char *folder, int64_t resumed, strake_error *error)
{
    char date[32];
    (void)snprintf(origin->source, sizeof origin->source, "Strake %s%s%.40s", STRAKE_VERSION,
                   strake_commit[0] != '\0' ? ", " : "", strake_commit);
    strake_about_id(origin->started, origin->id);
    strake_text_print(&origin->history, "%s: ", strake_clock_utc(origin->started, date));
    strake_command_line(origin->arguments, "run", &origin->history);
    if (origin->history.failed) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
    }
    const strake_format_run about = {.which = which,
                                     .solver = solver,
                                     .folder = folder,
                                     .run = origin->id,
                                     .history = origin->history.data,
                                     .source = origin->source,
                                     .sets = origin->arguments->sets,
                                     .resumed = resumed};
    return strake_output_begin(output, &about, strake_formats, error);
}

strake_status strake_begin_folder(const strake_about *about, const strake_case *which,
                                  const strake_solver *solver, const char *folder, bool resumes,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t removed = 0;
    if (!resumes) {
        STRAKE_TRY(strake_index_clear(folder, &removed, error));
    }
    if (removed > 0) {
        strake_say_note("folder %s: removed %lld output file%s of an earlier run", folder,
                        (long long)removed, removed == 1 ? "" : "s");
    }
    STRAKE_TRY(strake_about_write(about, which, solver, folder, error));
cleanup:
    return status;
}

void strake_warn_of_full_disk(const strake_case *which, const strake_solver *solver,
                              const char *folder, bool writes_fields)
{
    double need =
        writes_fields ? strake_output_bytes(which, solver, strake_step_count(solver)) : 0.0;
    const double have = strake_disk_free(folder);
    char need_text[32], have_text[32];
    for (int f = 0; f < which->problem->fields && strake_batch_has_checkpoints(which); f++) {
        size_t bytes = 0;
        const strake_field *const field = &which->problem->field[f];
        if (strake_case_keeps(which, f) &&
            strake_field_bytes(solver, field->name, &bytes, NULL) == STRAKE_OK) {
            need += 2.0 * (double)bytes; /* the old one stays until the new one is complete */
        }
    }
    if (have >= 0.0 && have < need) {
        strake_say_warning("the outputs need %s, but folder %s has only %s free; the run stops "
                           "when the disk is full",
                           strake_size_text(need, need_text), folder,
                           strake_size_text(have, have_text));
    }
}

/* Whether a name stands for standard output. NULL does not. */
static bool is_stdout(const char *path)
{
    static const char *const name[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    bool same = false;
    for (size_t k = 0; path != NULL && k < sizeof name / sizeof name[0]; k++) {
        same = same || strcmp(path, name[k]) == 0;
    }
    return same;
}

FILE *strake_table_stream(const char *report)
{
    return is_stdout(report) ? stderr : stdout;
}

/* Whether a file could be made or replaced, as far as can be told without doing so. */
static strake_status check_folder(const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    struct stat info;
    char *const folder = strake_path_folder(path);
    STRAKE_CHECK(folder != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory for the file name",
                 path);
    STRAKE_CHECK(stat(folder, &info) == 0, error, STRAKE_ERR_IO, "cannot write %s: folder %s: %s",
                 path, folder, strake_file_reason(errno));
    STRAKE_CHECK(S_ISDIR(info.st_mode), error, STRAKE_ERR_IO, "cannot write %s: %s is not a folder",
                 path, folder);
    STRAKE_CHECK(access(folder, W_OK | X_OK) == 0, error, STRAKE_ERR_IO,
                 "cannot write %s: folder %s: %s", path, folder, strake_file_reason(errno));
cleanup:
    free(folder);
    return status;
}

strake_status strake_report_begin(strake_report_file *report, const char *path, strake_error *error)
{
    *report = (strake_report_file){.path = path};
    if (path == NULL || is_stdout(path)) {
        return STRAKE_OK;
    }
    return strake_file_is_direct(path)
               ? strake_file_begin(&report->file, path, STRAKE_FILE_NAMED, error)
               : check_folder(path, error);
}

strake_status strake_report_end(strake_report_file *report, const strake_text *text,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const path = report->path;
    if (path == NULL) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(!text->failed, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    if (is_stdout(path)) {
        (void)fwrite(text->data, 1, text->length, stdout);
        return STRAKE_OK;
    }
    if (!report->file.open) {
        STRAKE_TRY(strake_file_begin(&report->file, path, STRAKE_FILE_NAMED, error));
    }
    STRAKE_TRY(strake_file_write(&report->file, text->data, text->length, error));
    STRAKE_TRY(strake_file_commit(&report->file, error));
cleanup:
    strake_report_drop(report);
    return status;
}

void strake_report_drop(strake_report_file *report)
{
    strake_file_abandon(&report->file);
}
