#include "autotune/tune.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "autotune/tune_case.h"
#include "autotune/tune_impl.h"
#include "base/file.h"
#include "base/number.h"
#include "case/source.h"
#include "io/cache.h"
#include "io/folder.h"
#include "io/machine.h"
#include "scene/scene.h"

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
    t->grid_end = strake_clock_seconds() + streams_share * strake_tuning_left(t, t->end);
    STRAKE_TRY(strake_tuning_streams(t, class, &record->streaming, error));
    if (record->streaming.streams > 0) {
        t->learnt = true;
        STRAKE_TRY(strake_tuning_store(t, error));
    }
cleanup:
    return status;
}

/* A new result in the place of an earlier one; of two on a disturbed machine the less disturbed one. */
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
        STRAKE_TRY(strake_tuning_store(t, error));
        STRAKE_TRY(tune_streams(t, error));
    }
cleanup:
    return status;
}

/* Whether a grid has a result of this search space, or of one that is not told. */
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
        const double left = strake_tuning_left(t, t->end);
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
        STRAKE_TRY(strake_tuning_store(t, error));
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
    return strake_tuning_store(t, error);
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
    STRAKE_TRY(strake_tuning_lock(t, error));
    STRAKE_TRY(strake_tuning_name_files(t, error));
    STRAKE_TRY(t->options->force ? STRAKE_OK : find_known(t, record, found, error));
    if (!*found) {
        memset(record, 0, sizeof *record);
        record->key = t->key;
        record->is_brief = is_brief;
    }
    t->stored_todo = record->todo;
    STRAKE_TRY(strake_tuning_open_journal(t, error));
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
        strake_tuning_remove_files(t);
        strake_journal_close(&t->journal, false);
        strake_case_close(&t->which);
        free(t->case_file);
        free(t->reference);
        free(t->log);
        free(t->folder);
        strake_tuning_unlock(t);
        free(t);
    }
    return status;
}

void strake_tune_end(strake_tune_result *result)
{
    strake_space_free(&result->space);
}
