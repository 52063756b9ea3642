#include "autotune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "autotune/clock.h"
#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"
#include "base/hash.h"
#include "io/file.h"
#include "io/machine.h"

/* Grids that need more than this share of a memory are left out. */
static const double most_memory = 0.5;

/* Part of what is left that the number of streams may take. */
static const double streams_share = 0.2;

/* The first grid gets this many times its share: the others begin with what it found. */
static const double first_share = 1.6;

static void notice(const strake_tuning *t, const char *format, ...) STRAKE_PRINTF(2, 3);

static void notice(const strake_tuning *t, const char *format, ...)
{
    char line[1024];
    va_list list;
    if (t->options->notice != NULL) {
        va_start(list, format);
        (void)vsnprintf(line, sizeof line, format, list);
        va_end(list);
        t->options->notice(t->options->user, line);
    }
}

/* Only one tuning may measure at a time; the lock ends with the process, however it ends. */
static strake_status take_lock(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const path = strake_path_join(t->folder, "tune.lock");
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    t->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    STRAKE_CHECK(t->lock >= 0, error, STRAKE_ERR_IO, "%s: cannot be written: %s", path,
                 strake_file_reason(errno));
    if (flock(t->lock, LOCK_EX | LOCK_NB) != 0) {
        (void)close(t->lock);
        t->lock = -1;
        STRAKE_CHECK(false, error, STRAKE_ERR_STATE,
                     "another tuning is at work with %s; wait for its results, since two at once "
                     "would disturb each other's measurements",
                     t->folder);
    }
cleanup:
    free(path);
    return status;
}

static strake_status name_files(strake_tuning *t, strake_error *error)
{
    t->case_file = strake_path_join(t->folder, "tune-case.yaml");
    t->reference = strake_path_join(t->folder, "tune-reference.bin");
    t->log = strake_path_join(t->folder, "tune-worker.log");
    if (t->case_file == NULL || t->reference == NULL || t->log == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    }
    t->worker = (strake_worker){.command = t->options->worker,
                                .log = t->log,
                                .stop = t->options->stop,
                                .user = t->options->user};
    return STRAKE_OK;
}

static void remove_files(const strake_tuning *t)
{
    const char *const path[] = {t->case_file, t->reference, t->log};
    for (size_t k = 0; k < sizeof path / sizeof path[0] && t->lock >= 0; k++) {
        if (path[k] != NULL) {
            (void)unlink(path[k]);
        }
    }
}

/* Makes a grid the present one: its case as a file and in memory, its facts. */
static strake_status enter_grid(strake_tuning *t, const int64_t n[STRAKE_AXES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    double number[STRAKE_MAX_FIELDS] = {0.0};
    strake_case_close(&t->which);
    memcpy(t->n, n, sizeof t->n);
    STRAKE_TRY(strake_tune_case(t->space, n, t->options->like, t->options->sets, &text, error));
    STRAKE_TRY(strake_case_parse("the case for tuning", text.data, NULL, false, &t->which, error));
    memcpy(t->n, t->which->n, sizeof t->n); /* a --set may change it */
    STRAKE_TRY(strake_case_graph(t->which, number, &t->graph, error));
    t->prediction = (strake_prediction){.which = t->which,
                                        .graph = &t->graph,
                                        .is_gpu = t->options->device != NULL &&
                                                  strake_cl_device_is_gpu(t->options->device)};
    t->facts = strake_facts_of(t->options->device, &t->prediction);
    STRAKE_TRY(strake_file_put(t->case_file, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/* Whether arrays for all values of a step, and the states twice, fit host and device. */
static bool fits(const strake_tuning *t)
{
    strake_machine machine;
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
    const double one = cells * strake_precision_size(t->which->precision);
    const strake_cl_device *const device = t->options->device;
    int inputs = 0, live = 0;
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        inputs += value->stage < 0 && value->is_live && !value->is_constant;
        live += value->is_live && !value->is_constant;
    }
    strake_machine_read(&machine);
    const double free_disk = strake_disk_free(t->folder);
    return (free_disk < 0.0 || 1.5 * one < free_disk) &&
           (machine.memory == 0 || (inputs + 2) * one < most_memory * (double)machine.memory) &&
           (device == NULL || ((live + 2) * one < most_memory * (double)device->global_memory &&
                               1.1 * one < (double)device->max_allocation));
}

/* What the journal's measurements belong to. */
static strake_status open_journal(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64], identity[200];
    const int64_t same[STRAKE_AXES] = {64, 64, 64};
    strake_text text = {0};
    char *path = NULL;
    uint64_t hash = STRAKE_FNV_SEED;
    STRAKE_TRY(strake_tune_case(t->space, same, t->options->like, t->options->sets, &text, error));
    hash = strake_fnv1a(hash, text.data, text.length);
    (void)strake_tuned_file_name(&t->key, name, sizeof name);
    (void)snprintf(identity, sizeof identity,
                   "{\"strake_journal\": 2, \"for\": \"%s\", \"case\": \"%016" PRIx64
                   "\", \"steps\": %d}",
                   name, hash, t->space->steps);
    (void)snprintf(name + strlen(name) - strlen("yaml"), sizeof "yaml", "log");
    path = strake_path_join(t->folder, name);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    if (t->options->force) {
        (void)unlink(path);
    }
    STRAKE_TRY(strake_journal_open(&t->journal, path, identity, error));
    t->result->resumed = t->journal.resumed;
cleanup:
    strake_text_free(&text);
    free(path);
    return status;
}

static strake_status store_t4(const strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    strake_text json = {0};
    char *path = NULL;
    (void)strake_tuned_file_name(&t->key, name, sizeof name);
    (void)snprintf(name + strlen(name) - strlen("yaml"), sizeof "t4.json", "t4.json");
    path = strake_path_join(t->folder, name);
    strake_journal_print_t4(&t->journal, &json);
    STRAKE_CHECK(path != NULL && !json.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for tuning");
    STRAKE_TRY(strake_file_put(path, json.data, json.length, error));
cleanup:
    strake_text_free(&json);
    free(path);
    return status;
}

/* The exact, not brief record of the key, if the cache has one. */
static strake_status find_known(strake_tuning *t, strake_tuned_record *out, bool *found,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_set *set = NULL;
    strake_tuned_use use;
    *found = false;
    STRAKE_TRY(strake_tuned_load(t->folder, t->options->notice, t->options->user, &set, error));
    strake_tuned_find(set, &t->key, &use);
    if (use.level == STRAKE_TUNED_EXACT && !use.record->is_brief) {
        *out = *use.record;
        *found = true;
    }
cleanup:
    strake_tuned_free(&set);
    return status;
}

static void set_date(strake_tuned_record *record)
{
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(record->date, sizeof record->date, "%Y-%m-%d", &utc);
    }
}

static const strake_tuned_class *class_of(const strake_tuned_record *record,
                                          const int64_t n[STRAKE_AXES])
{
    for (int c = 0; c < record->classes; c++) {
        if (memcmp(record->class[c].n, n, sizeof record->class[c].n) == 0) {
            return &record->class[c];
        }
    }
    return NULL;
}

static strake_status store(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    set_date(&t->result->record);
    STRAKE_TRY(strake_tuned_store(t->folder, &t->result->record, true, error));
    STRAKE_TRY(store_t4(t, error));
cleanup:
    return status;
}

/* Streams are learnt on the most telling grid, once its settings are known. */
static strake_status tune_streams(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_record *const record = &t->result->record;
    const strake_tuned_class *const class = class_of(record, t->n);
    if (t->grid != 1 || class == NULL || t->space->streams.values == 0 ||
        t->options->like != NULL || record->streaming.streams > 0) {
        return STRAKE_OK;
    }
    t->grid_end = strake_tune_clock() + streams_share * strake_tuning_left(t, t->end);
    STRAKE_TRY(strake_tuning_streams(t, class, &record->streaming, error));
    if (record->streaming.streams > 0) {
        t->learnt = true;
        STRAKE_TRY(store(t, error));
    }
cleanup:
    return status;
}

/* One grid after the other; what is found is stored at once. */
static strake_status tune_grids(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_record *const record = &t->result->record;
    const int grids = t->options->like != NULL ? 1 : t->space->grids;
    int done = 0, todo = grids;
    t->grids = grids;
    for (int g = 0; g < grids; g++) {
        bool any = false;
        strake_tuned_class class;
        const int64_t *const n = t->options->like != NULL ? t->options->like->n : t->space->grid[g];
        const double left = strake_tuning_left(t, t->end);
        const double share = done == 0 && todo > 1 ? first_share : 1.0;
        t->grid = g + 1;
        STRAKE_TRY(enter_grid(t, n, error));
        if (class_of(record, t->n) != NULL || !fits(t)) {
            if (class_of(record, t->n) != NULL) {
                STRAKE_TRY(tune_streams(t, error));
            } else {
                notice(t,
                       "%s: grids of %lld x %lld x %lld cells are left out: they need too much "
                       "memory",
                       t->options->where, (long long)t->n[0], (long long)t->n[1],
                       (long long)t->n[2]);
            }
            todo--;
            continue;
        }
        if (left <= 0.0 || strake_tuning_stopped(t)) {
            break;
        }
        const double part = share * left / todo;
        t->grid_end = strake_tune_clock() + (part < left ? part : left);
        STRAKE_TRY(strake_tuning_grid(t, &class, &any, error));
        todo--;
        done++;
        if (any) {
            *strake_tuned_class_for(record, t->n) = class;
            t->found++;
            STRAKE_TRY(store(t, error));
            STRAKE_TRY(tune_streams(t, error));
        }
    }
    /* Everything is in the result: the next tuning begins anew. */
    if (todo == 0 && !strake_tuning_stopped(t)) {
        strake_journal_close(&t->journal, true);
    }
cleanup:
    return status;
}

static strake_status tune_all(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool found = false;
    strake_tuned_record *const record = &t->result->record;
    STRAKE_TRY(strake_folder_create(t->folder, error));
    STRAKE_TRY(take_lock(t, error));
    STRAKE_TRY(name_files(t, error));
    STRAKE_TRY(
        enter_grid(t, t->options->like != NULL ? t->options->like->n : t->space->grid[0], error));
    strake_tuned_key_make(t->options->cl, t->options->device, t->space->problem, &t->graph,
                          &t->key);
    STRAKE_TRY(t->options->force ? STRAKE_OK : find_known(t, record, &found, error));
    if (!found) {
        memset(record, 0, sizeof *record);
        record->key = t->key;
        record->is_brief = t->options->like != NULL;
    }
    STRAKE_TRY(open_journal(t, error));
    STRAKE_TRY(tune_grids(t, error));
    t->result->already = found && t->found == 0 && !t->learnt;
cleanup:
    return status;
}

/* Conditions on the processor alone decide; there is no grid yet. */
static strake_status find_space(strake_tuning *t, strake_error *error)
{
    const strake_case empty = {0};
    const strake_prediction prediction = {.which = &empty};
    const strake_space_facts facts = strake_facts_of(t->options->device, &prediction);
    const char *const text = t->options->space;
    if (text != NULL) {
        return strake_space_parse("--space", text, strlen(text), &t->space, error);
    }
    return strake_space_find(t->options->problem, t->options->device == NULL, &facts, &t->space,
                             error);
}

strake_status strake_tune(const strake_tune_options *options, strake_tune_result *result,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_tune_clock();
    strake_tuning *t = calloc(1, sizeof *t);
    memset(result, 0, sizeof *result);
    STRAKE_CHECK(t != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    t->options = options;
    t->result = result;
    t->lock = -1;
    t->begin = begin;
    t->end = begin + options->budget;
    t->folder = strake_tuned_folder(options->folder);
    STRAKE_CHECK(t->folder != NULL, error, STRAKE_ERR_IO,
                 "there is no folder for results: neither STRAKE_CACHE_DIR nor XDG_CACHE_HOME nor "
                 "HOME is set; name one with --cache DIR");
    STRAKE_TRY(find_space(t, error));
    STRAKE_CHECK(t->space->is_cpu == (options->device == NULL), error, STRAKE_ERR_USAGE,
                 "%s: this search space is not for %s", t->space->name, options->where);
    result->space = t->space;
    for (int c = 0; c < t->space->constraints; c++) {
        result->why[c] = t->space->constraint[c].why;
    }
    STRAKE_TRY(tune_all(t, error));
cleanup:
    if (t != NULL) {
        strake_worker_stop(&t->worker);
        for (int k = 0; k < STRAKE_TUNE_HELPERS; k++) {
            strake_worker_stop(&t->helper[k]);
        }
        remove_files(t);
        strake_journal_close(&t->journal, false);
        strake_case_close(&t->which);
        free(t->case_file);
        free(t->reference);
        free(t->log);
        free(t->folder);
        if (t->lock >= 0) {
            (void)close(t->lock);
        }
        free(t);
    }
    return status;
}

void strake_tune_end(strake_tune_result *result)
{
    strake_space_free(&result->space);
}
