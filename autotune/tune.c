#include "autotune/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/source.h"
#include "files/cache.h"
#include "files/json.h"
#include "cpu/machine.h"
#include "scene/scene.h"

/* The files of a tuning in its folder: locks, files of the worker process, journal, results. */

static strake_status take_lock(const char *folder, const char *name, strake_lock *lock,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    char owner[STRAKE_LOCK_OWNER];
    status = strake_lock_take(lock, folder, name, owner, error);
    STRAKE_CHECK(status != STRAKE_ERR_STATE, error, STRAKE_ERR_STATE,
                 "another tuning is at work: %s (%s/%s is locked); wait for its results, since two "
                 "at once would disturb each other's measurements",
                 owner, folder, name);
    STRAKE_TRY(status);
    STRAKE_CHECK(lock->is_held, error, STRAKE_ERR_IO,
                 "%s/%s cannot be locked, because its file system has no locks; name another "
                 "folder for results with --cache DIR",
                 folder, name);
cleanup:
    return status;
}

/** Takes the locks. STRAKE_ERR_STATE: another tuning is at work. */
static strake_status tuning_lock(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *const usual = strake_cache_folder();
    STRAKE_TRY(take_lock(t->folder, "tune.lock", &t->lock, error));
    /* Tunings with other folders disturb just as much; without a usual folder they cannot be detected. */
    if (usual != NULL && strake_cache_create(usual, NULL) == STRAKE_OK) {
        status = take_lock(usual, "tune-any.lock", &t->lock_any, error);
        status = status == STRAKE_ERR_IO ? STRAKE_OK : status;
    }
cleanup:
    free(usual);
    return status;
}

static void tuning_unlock(strake_tuning *t)
{
    strake_lock_release(&t->lock_any);
    strake_lock_release(&t->lock);
}

/** Names the files for the worker process, and removes them. */
static strake_status tuning_name_files(strake_tuning *t, strake_error *error)
{
    t->case_file = strake_path_join(t->folder, "tune-case.yaml");
    t->reference = strake_path_join(t->folder, "tune-reference.bin");
    t->log = strake_path_join(t->folder, "tune-worker.log");
    if (t->case_file == NULL || t->reference == NULL || t->log == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    }
    t->worker = (strake_worker){.command = t->options->worker,
                                .environment = t->options->environment,
                                .log = t->log,
                                .stop = t->options->stop,
                                .user = t->options->user};
    return STRAKE_OK;
}

static void tuning_remove_files(const strake_tuning *t)
{
    const char *const path[] = {t->case_file, t->reference, t->log};
    for (size_t k = 0; k < sizeof path / sizeof path[0] && t->lock.is_held; k++) {
        if (path[k] != NULL) {
            (void)unlink(path[k]);
        }
    }
}

/** Takes up the journal of measurements of this very processor, problem, space and case. */
static strake_status tuning_open_journal(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char name[64];
    const int64_t same[STRAKE_AXES] = {64, 64, 64};
    strake_text text = {0}, identity = {0};
    strake_json json = strake_json_on(&identity);
    char *path = NULL;
    uint64_t hash = STRAKE_FNV_SEED;
    STRAKE_TRY(strake_tune_case(t->space, same, t->options->like, t->options->sets, &text, error));
    hash = strake_fnv1a(hash, text.data, text.length);
    (void)strake_tuned_file_name(&t->key, name, sizeof name);
    strake_json_object(&json, NULL, STRAKE_JSON_LINE);
    strake_json_integer(&json, "strake_journal", 2);
    strake_json_string(&json, "for", name);
    strake_json_hash(&json, "case", hash);
    strake_json_integer(&json, "steps", t->space->steps);
    strake_json_end(&json);
    (void)snprintf(name + strlen(name) - strlen("yaml"), sizeof "yaml", "log");
    path = strake_path_join(t->folder, name);
    STRAKE_CHECK(path != NULL && !identity.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for tuning");
    if (t->options->force) {
        (void)unlink(path);
    }
    STRAKE_TRY(strake_journal_open(&t->journal, path, identity.data, error));
    t->result->resumed = t->journal.resumed;
cleanup:
    strake_text_free(&text);
    strake_text_free(&identity);
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
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_PRIVATE, json.data, json.length, error));
cleanup:
    strake_text_free(&json);
    free(path);
    return status;
}

static void set_date(strake_tuned_record *record)
{
    char now[32];
    (void)snprintf(record->date, sizeof record->date, "%.10s",
                   strake_clock_utc(strake_clock_date(), now));
}

/** Stores the record and all measurements. */
static strake_status tuning_store(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    set_date(&t->result->record);
    t->stored_todo = t->result->record.todo;
    STRAKE_TRY(strake_tuned_store(t->folder, &t->result->record, true, error));
    STRAKE_TRY(store_t4(t, error));
cleanup:
    return status;
}

/* The break point of the number of streams, and the rates that the model of blocks asks for. */

/* So many numbers in a row that are no faster end it. */
enum { LOSSES = 2, MOST_SETS = 64 };

/* One measurement takes no longer than this, and it is not worth more samples when so much slower. */
static const double stream_limit = 60.0, give_up_factor = 1.5;

/* The case of the present grid on a device whose memory holds a part of it, with many steps ahead. */
static strake_status tune_streams_write_case(const strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *sets[MOST_SETS] = {NULL};
    char memory[64];
    strake_text text = {0};
    int count = 0, arrays = 0;
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        arrays += value->stage < 0 && value->is_live && !value->is_constant;
        arrays += value->next >= 0;
    }
    (void)strake_number_print(memory, sizeof memory, "run.device_memory=%.0f",
                              t->space->streams.memory * arrays * cells *
                                  strake_precision_size(t->which->precision));
    for (; t->options->sets != NULL && t->options->sets[count] != NULL; count++) {
        STRAKE_CHECK(count < MOST_SETS - 3, error, STRAKE_ERR_USAGE, "--set: more than %d",
                     (int)MOST_SETS - 3);
        sets[count] = t->options->sets[count];
    }
    sets[count++] = memory;
    sets[count++] = "time.steps=1000";
    STRAKE_TRY(strake_tune_case(t->space, t->n, t->options->like, sets, &text, error));
    STRAKE_TRY(strake_file_put(t->case_file, STRAKE_FILE_PRIVATE, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/* The settings of a class, and a number of streams. @return how many */
static int settings_with(const strake_tuned_class *class, int streams,
                         strake_tuned_setting out[STRAKE_TUNED_SETTINGS])
{
    int count = 0;
    for (; count < class->settings && count < STRAKE_TUNED_SETTINGS - 1; count++) {
        out[count] = class->setting[count];
    }
    (void)snprintf(out[count].path, sizeof out[count].path, "run.streams");
    (void)snprintf(out[count].value, sizeof out[count].value, "%d", streams);
    return count + 1;
}

/**
 * The number of streams for stripes that exceed the device's memory, with the settings of a class of
 * the present grid: one after the other until more are no faster (the break point). Leaves the case
 * file changed.
 * @param[out] found  streams = 0 where time ran out or nothing works
 */
static strake_status tuning_streams(strake_tuning *t, const strake_tuned_class *class,
                                    strake_tuned_streaming *found, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_streaming learnt = {.streams = 0};
    double best = INFINITY;
    int losses = 0;
    *found = learnt;
    t->doing = "streams";
    t->wall_limit = stream_limit;
    status = strake_tuning_reference(t, error);
    if (status == STRAKE_ERR_STATE) {
        return STRAKE_OK;
    }
    STRAKE_TRY(status);
    STRAKE_TRY(tune_streams_write_case(t, error));
    for (int k = 0; k < t->space->streams.values && losses < LOSSES; k++) {
        strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
        strake_measurement m;
        const int streams = t->space->streams.value[k];
        const int settings = settings_with(class, streams, setting);
        strake_tuning_tell(t);
        if (strake_tuning_left(t->grid_end) <= 0.0) {
            return STRAKE_OK;
        }
        STRAKE_TRY(strake_tuning_measure(t, settings, setting, give_up_factor * best, &m, error));
        if (m.outcome == STRAKE_OUTCOME_STOPPED) {
            return STRAKE_OK;
        }
        t->result->count[m.outcome]++;
        const double median = strake_measurement_median(&m);
        if (m.outcome == STRAKE_OUTCOME_GOOD && m.cells > 0.0 &&
            median < (1.0 - t->space->streams.gain) * best) {
            best = median;
            losses = 0;
            learnt = (strake_tuned_streaming){streams, m.up, m.down};
        } else {
            losses++;
        }
    }
    *found = learnt;
cleanup:
    return status;
}

/* Grids that need more than this share of a memory are left out. */
static const double most_memory = 0.5;

/* Part of what is left that the number of streams may take. */
static const double streams_share = 0.2;

/* The first grid gets this many times its share: the others begin with what it found. */
static const double first_share = 1.6;

/* A budget that some grids can be done in on most processors [s]. */
static const double enough = 30.0;

static void notice(const strake_tuning *t, const char *format, ...) STRAKE_PRINTF(2, 3);

static void notice(const strake_tuning *t, const char *format, ...)
{
    char line[1024];
    va_list list;
    if (t->options->notice != NULL) {
        va_start(list, format);
        (void)strake_number_vprint(line, sizeof line, format, list);
        va_end(list);
        t->options->notice(t->options->user, line);
    }
}

/* Of particles it does not depend on how many there are: it is found with few, and once. */
static strake_status find_variant(strake_tuning *t, strake_error *error)
{
    enum { FEW = 1000 };
    static const int64_t few[STRAKE_AXES] = {1, 1, FEW};
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    strake_case *which = NULL;
    strake_scene scene = {.particle = NULL};
    if (t->variant != 0) {
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_tune_case(t->space, few, t->options->like, NULL, &text, error));
    STRAKE_TRY(
        strake_case_parse(t->space->name, text.data, t->options->sets, false, &which, error));
    STRAKE_TRY(strake_scene_make(which, &scene, error));
    t->variant = strake_scene_variant(&scene);
cleanup:
    strake_scene_close(&scene);
    strake_case_close(&which);
    strake_text_free(&text);
    return status;
}

/* Makes a grid the present one: its case and its facts. */
static strake_status enter_grid(strake_tuning *t, const int64_t n[STRAKE_AXES], strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    char name[sizeof t->space->name + 16];
    double number[STRAKE_MAX_FIELDS] = {0.0};
    strake_case_close(&t->which);
    /* The user's changes on top, so that a message about one names the option. */
    STRAKE_TRY(strake_tune_case(t->space, n, t->options->like, NULL, &text, error));
    (void)snprintf(name, sizeof name, "the case of %s", t->space->name);
    STRAKE_TRY(strake_case_parse(name, text.data, t->options->sets, false, &t->which, error));
    memcpy(t->n, n, sizeof t->n);
    if (t->which->problem->has_particles) {
        STRAKE_TRY(find_variant(t, error));
    } else {
        STRAKE_TRY(strake_case_graph(t->which, number, &t->graph, error));
        t->variant = strake_tuned_table(&t->graph);
    }
    t->prediction = (strake_prediction){.which = t->which,
                                        .graph = &t->graph,
                                        .is_gpu = t->options->device != NULL &&
                                                  strake_cl_device_is_gpu(t->options->device)};
    t->facts = strake_facts_of(t->options->device, &t->prediction);
cleanup:
    strake_text_free(&text);
    return status;
}

/* The present grid's case for the worker process. */
static strake_status write_case(const strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    STRAKE_TRY(strake_tune_case(t->space, t->n, t->options->like, t->options->sets, &text, error));
    STRAKE_TRY(strake_file_put(t->case_file, STRAKE_FILE_PRIVATE, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/*
 * What the present grid lacks, NULL for nothing: host and device hold arrays for all values of a step,
 * and the states twice; the folder of the results the reference's states.
 */
static const char *lacks(const strake_tuning *t)
{
    strake_machine machine;
    const double cells = (double)t->n[0] * (double)t->n[1] * (double)t->n[2];
    const double one = cells * strake_precision_size(t->which->precision);
    const strake_cl_device *const device = t->options->device;
    /* Of particles: reals for each, on either side. */
    int inputs = t->which->problem->has_particles ? STRAKE_TUNE_REALS : 0, live = inputs;
    for (int v = 0; v < t->graph.values; v++) {
        const strake_value *const value = &t->graph.value[v];
        inputs += value->stage < 0 && value->is_live && !value->is_constant;
        live += value->is_live && !value->is_constant;
    }
    strake_machine_read(&machine);
    const double free_disk = strake_disk_free(t->folder);
    const bool fits =
        (machine.memory == 0 || (inputs + 2) * one < most_memory * (double)machine.memory) &&
        (device == NULL || ((live + 2) * one < most_memory * (double)device->global_memory &&
                            strake_cl_device_may_hold(device, 1.1 * one)));
    const bool has_room = free_disk < 0.0 || 1.5 * one < free_disk;
    return !fits       ? "too much memory"
           : !has_room ? "more room than is left in the folder of the results (--cache)"
                       : NULL;
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
    t->grid_end = strake_clock_seconds() + streams_share * strake_tuning_left(t->end);
    STRAKE_TRY(tuning_streams(t, class, &record->streaming, error));
    if (record->streaming.streams > 0) {
        t->learnt = true;
        STRAKE_TRY(tuning_store(t, error));
    }
cleanup:
    return status;
}

/* Replaces an earlier result by a new one; of two on a disturbed machine the less disturbed one stays. */
static void keep(strake_tuned_class *old, const strake_tuned_class *class)
{
    const bool same_search = strcmp(class->space, old->space) == 0;
    const int before = same_search ? old->disturbed : 0;
    const int disturbed = class->disturbed > 0 ? before + 1 : 0;
    if (disturbed <= 1 || class->excess < old->excess) {
        *old = *class;
    }
    old->disturbed = disturbed;
}

/*
 * Measures the present grid and stores what is found. @param[in] again  there is a result of a disturbed
 * machine: nothing that was measured then is taken over, but its settings are tried first
 */
static strake_status tune_grid(strake_tuning *t, double seconds, bool again, bool *done,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_record *const record = &t->result->record;
    strake_tuned_class class;
    if (again) {
        const strake_tuned_class *const old = class_of(record, t->n);
        STRAKE_TRY(strake_journal_forget(&t->journal, t->n, error));
        t->finalists = 1;
        t->finalist[0] = (strake_contender){.settings = old->settings};
        memcpy(t->finalist[0].setting, old->setting, sizeof old->setting);
    }
    t->grid_end = strake_clock_seconds() + seconds;
    STRAKE_TRY(write_case(t, error));
    STRAKE_TRY(strake_tuning_grid(t, &class, done, error));
    if (*done) {
        keep(strake_tuned_class_for(record, t->n), &class);
        record->todo -= again ? 0 : 1;
        t->found++;
        STRAKE_TRY(tuning_store(t, error));
        STRAKE_TRY(tune_streams(t, error));
    }
cleanup:
    return status;
}

/* Whether a grid has a result of this search space, or of one without a hash. */
static bool is_known(const strake_tuning *t, const int64_t n[STRAKE_AXES])
{
    const strake_tuned_class *const class = class_of(&t->result->record, n);
    return class != NULL && (class->space[0] == '\0' || strcmp(class->space, t->space->hash) == 0);
}

/* Whether it has one of a disturbed machine, which is measured again. */
static bool is_due(const strake_tuning *t, const int64_t n[STRAKE_AXES])
{
    const strake_tuned_class *const class = class_of(&t->result->record, n);
    return t->options->like == NULL && class != NULL && strake_tuned_is_due(class);
}

/* The order in which grids are tuned: those that are due again, new ones, known ones. */
static void order_grids(const strake_tuning *t, int *order)
{
    int count = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int g = 0; g < t->grids; g++) {
            const int64_t *const n = t->space->grid[g];
            const int turn = is_due(t, n) ? 0 : is_known(t, n) ? 2 : 1;
            if (turn == pass) {
                order[count++] = g;
            }
        }
    }
}

/* How many of the grids from the k-th on are to be measured: they share the time that is left. */
static int count_open(const strake_tuning *t, const int *order, int k)
{
    int open = 0;
    for (; k < t->grids; k++) {
        const int64_t *const n = t->space->grid[order[k]];
        open += is_due(t, n) || !is_known(t, n) ? 1 : 0;
    }
    return open > 0 ? open : 1;
}

/* One grid after the other; record->todo counts those that could still be done. */
static strake_status tune_grids(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_record *const record = &t->result->record;
    int known = 0;
    int order[STRAKE_SPACE_GRIDS] = {0};
    const char *lack = NULL;    /* of the present grid */
    const char *lacking = NULL; /* of the last one that lacked something */
    t->grids = t->options->like != NULL ? 1 : t->space->grids;
    record->todo = t->grids;
    order_grids(t, order);
    for (int k = 0; k < t->grids; k++) {
        char text[STRAKE_GRID_TEXT];
        bool done = false, again = false;
        const int64_t *const n = t->options->like != NULL ? t->brief : t->space->grid[order[k]];
        const double left = strake_tuning_left(t->end);
        const int open = t->options->like != NULL ? 1 : count_open(t, order, k);
        const double share = t->found == 0 && open > 1 ? first_share : 1.0;
        const double part = share * left / open;
        t->grid = order[k] + 1;
        STRAKE_TRY(enter_grid(t, n, error));
        again = is_due(t, t->n);
        record->todo -= again ? 1 : 0;
        known += again ? 1 : 0;
        if (is_known(t, t->n) && !again) {
            known++;
            record->todo--;
            STRAKE_TRY(write_case(t, error));
            STRAKE_TRY(tune_streams(t, error));
        } else if ((lack = lacks(t)) != NULL) {
            record->todo -= again ? 0 : 1;
            lacking = lack;
            notice(t, "%s: grids of %s cells are left out: they need %s", t->options->where,
                   strake_grid_text(strake_size_axes(t->which->problem), t->n, text), lacking);
        } else if (left > 0.0 && !strake_tuning_stopped(t)) {
            STRAKE_TRY(tune_grid(t, part < left ? part : left, again, &done, error));
        }
    }
    if (record->classes > 0 && record->todo != t->stored_todo) {
        STRAKE_TRY(tuning_store(t, error));
    }
    STRAKE_CHECK(t->found + known + record->todo > 0 || t->options->like != NULL, error,
                 STRAKE_ERR_MEMORY, "%s: every grid of the search space needs %s",
                 t->options->where, lacking);
    /* Everything is in the result: the next tuning begins anew. */
    if (record->todo == 0 && !strake_tuning_stopped(t)) {
        strake_journal_close(&t->journal, true);
    }
cleanup:
    return status;
}

/* A first use that found nothing: stored without settings, so that it happens only once. */
static strake_status store_vain(strake_tuning *t, strake_error *error)
{
    strake_tuned_record *const record = &t->result->record;
    strake_tuned_class_for(record, t->brief)->end = STRAKE_TUNED_END_BUDGET;
    record->todo = 0;
    t->result->in_vain = true;
    return tuning_store(t, error);
}

static strake_status begin(strake_tuning *t, bool *found, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_tuned_record *const record = &t->result->record;
    const bool is_brief = t->options->like != NULL;
    *found = false;
    if (is_brief) {
        strake_tune_brief_grid(
            t->options->like,
            t->options->device != NULL && strake_cl_device_is_gpu(t->options->device), t->brief);
    }
    STRAKE_TRY(strake_tune_check_sets(t->options->sets, error));
    STRAKE_TRY(enter_grid(t, is_brief ? t->brief : t->space->grid[0], error));
    strake_tuned_key_make(t->options->cl, t->options->device, t->space->problem,
                          t->which->precision, t->variant, &t->key);
    STRAKE_TRY(strake_cache_create(t->folder, error));
    STRAKE_TRY(tuning_lock(t, error));
    STRAKE_TRY(tuning_name_files(t, error));
    STRAKE_TRY(t->options->force ? STRAKE_OK : find_known(t, record, found, error));
    if (!*found) {
        memset(record, 0, sizeof *record);
        record->key = t->key;
        record->is_brief = is_brief;
    }
    t->stored_todo = record->todo;
    STRAKE_TRY(tuning_open_journal(t, error));
cleanup:
    return status;
}

static strake_status tune_all(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool found = false;
    const strake_tuned_record *const record = &t->result->record;
    STRAKE_TRY(begin(t, &found, error));
    status = tune_grids(t, error);
    if (t->options->like != NULL && t->found == 0 && !strake_tuning_stopped(t) &&
        (status == STRAKE_OK || status == STRAKE_ERR_DEVICE)) {
        const strake_status stored = store_vain(t, status == STRAKE_OK ? error : NULL);
        STRAKE_TRY(status == STRAKE_OK ? stored : status);
    }
    STRAKE_TRY(status);
    STRAKE_CHECK(
        t->found > 0 || record->todo == 0 || t->learnt || strake_tuning_stopped(t), error,
        STRAKE_ERR_STATE,
        "%s: the budget (%.3g s of it) ended before anything but the defaults was measured%s; %s"
        "give more, for example --budget %.0f",
        t->options->where, t->options->budget,
        record->classes > 0 ? " on the grids that are still to do" : "",
        t->journal.entries > 0
            ? "what was measured is kept, and the same command again goes on from there; or "
            : "",
        fmax(enough, 4.0 * t->options->budget));
    t->result->already = found && t->found == 0 && !t->learnt && record->todo == 0;
cleanup:
    return status;
}

/* Conditions on the processor alone decide; there is no grid yet. */
static strake_status find_space(strake_tuning *t, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case empty = {0};
    const strake_prediction prediction = {.which = &empty};
    const strake_space_facts facts = strake_facts_of(t->options->device, &prediction);
    const char *const text = t->options->space;
    if (text != NULL) {
        STRAKE_TRY(strake_space_load(t->options->space_name, text, t->options->device == NULL,
                                     &facts, &t->space, error));
        STRAKE_CHECK(t->options->problem == NULL ||
                         strcmp(t->options->problem, t->space->problem) == 0,
                     error, STRAKE_ERR_USAGE,
                     "--problem %s: the search space %s is for %s; leave --problem out",
                     t->options->problem, t->space->name, t->space->problem);
        return STRAKE_OK;
    }
    STRAKE_TRY(strake_space_find(t->options->problem, t->options->device == NULL, &facts, &t->space,
                                 error));
cleanup:
    return status;
}

strake_status strake_tune(const strake_tune_options *options, strake_tune_result *result,
                          strake_error *error)
{
    strake_status status = STRAKE_OK;
    const double begin = strake_clock_seconds();
    strake_tuning *t = calloc(1, sizeof *t);
    memset(result, 0, sizeof *result);
    STRAKE_CHECK(t != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuning");
    t->options = options;
    t->result = result;
    t->begin = begin;
    t->end = begin + options->budget;
    t->folder = strake_cache_folder_or(options->folder);
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
        tuning_remove_files(t);
        strake_journal_close(&t->journal, false);
        strake_case_close(&t->which);
        free(t->case_file);
        free(t->reference);
        free(t->log);
        free(t->folder);
        tuning_unlock(t);
        free(t);
    }
    return status;
}

void strake_tune_end(strake_tune_result *result)
{
    strake_space_free(&result->space);
}
