/* `strake scan`: many runs of one case, in one table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/case.h"
#include "case/features.h"
#include "files/cache.h"
#include "program/options.h"
#include "program/command.h"
#include "program/compare_footprint.h"
#include "program/interrupt.h"
#include "program/progress.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/scan_events.h"
#include "program/scan_plan.h"
#include "program/scan_trace.h"

/* Bytes of files that runs have in common. */
static const uint64_t most_kept = UINT64_C(1) << 30;

/* --- the plan ------------------------------------------------------------------------------------- */

void strake_scan_describe(const strake_scan *s, int64_t run, char *text, size_t size)
{
    text[0] = '\0';
    for (int k = 0; k < s->values.axes; k++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, size - used, "%s%s=%s", k > 0 ? " " : "",
                       s->values.axis[k].path, strake_scan_value(&s->values, run, k));
    }
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return strake_fnv1a(hash, text, strlen(text) + 1);
}

/* What the runs need of a case that could be read. */
static void look_at_case(strake_scan *s, const strake_case *which, strake_scan_task *task)
{
    const double cells = strake_case_cells(which), steps = (double)which->steps;
    strake_scan_extent *const e = &s->extent;
    const bool is_first = s->problem == NULL;
    e->cells[0] = is_first ? cells : fmin(e->cells[0], cells);
    e->cells[1] = fmax(e->cells[1], cells);
    e->steps[0] = is_first ? steps : fmin(e->steps[0], steps);
    e->steps[1] = fmax(e->steps[1], steps);
    e->is_open = e->is_open || strake_case_ends_in_time(which);
    task->work = strake_scan_work(which);
    task->order.like =
        hash_text(strake_fnv1a(STRAKE_FNV_SEED, which->n, sizeof which->n), which->problem->name) ^
        (uint64_t)which->precision;
    s->bytes = fmax(s->bytes, strake_scan_bytes(which));
    s->has_split = s->has_split || which->run.split != NULL;
    s->threads = which->run.threads > s->threads ? which->run.threads : s->threads;
    if (s->problem == NULL && which->run.on != NULL) {
        (void)snprintf(s->where, sizeof s->where, "%s", which->run.on);
    }
}

/* Whether tables of runs have the same columns: a case with names of its own has a copy of its problem. */
static bool is_alike(const strake_problem *one, const strake_problem *other)
{
    bool is = strcmp(one->name, other->name) == 0 && one->fields == other->fields;
    for (int f = 0; is && f < one->fields; f++) {
        is = strcmp(one->field[f].name, other->field[f].name) == 0;
    }
    return is;
}

/* A case that cannot be read fails later, as its run. */
static void note_wrong(strake_scan *s, int64_t run, const strake_error *why)
{
    if (s->wrong++ == 0) {
        s->first_wrong = run;
        s->why_wrong = *why;
    }
}

/* A run's id and work. */
static strake_status plan_run(strake_scan *s, int64_t run, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_error reason;
    strake_case *which = NULL;
    strake_scan_task *const task = &s->task[run];
    strake_arguments arguments = *s->arguments;
    char **const sets = strake_scan_sets(&s->job, run);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&s->values);
    task->order.run = run;
    if (strake_case_from(&arguments, &which, &reason) == STRAKE_OK) {
        look_at_case(s, which, task);
        s->first = s->first == NULL ? which : s->first;
        s->problem = s->first->problem;
        STRAKE_CHECK(is_alike(s->problem, which->problem), error, STRAKE_ERR_USAGE,
                     "a scan is over runs of one problem and one list of fields, not of %s and %s "
                     "with others: its table has the columns of one",
                     s->problem->name, which->problem->name);
        task->order.id = hash_text(STRAKE_FNV_SEED, which->text);
        STRAKE_TRY(strake_scan_maps_check_case(&s->job, s->first, which, error));
    } else {
        note_wrong(s, run, &reason);
    }
    for (int k = 0; sets[k] != NULL; k++) {
        task->order.id = hash_text(task->order.id, sets[k]);
    }
    task->order.id ^= (uint64_t)s->arguments->steps;
    if (s->values.classes > 0) { /* its line names it */
        task->order.id = hash_text(task->order.id, strake_scan_value(&s->values, run, 0));
    }
    if (s->job.mapped != NULL) {
        task->order.id = hash_text(task->order.id, s->job.mapped);
        task->order.id = strake_fnv1a(task->order.id, &s->job.threshold, sizeof(double));
    }
    s->table.row[run].id = task->order.id;
cleanup:
    if (which != s->first) {
        strake_case_close(&which);
    }
    strake_scan_sets_free(&s->job, sets);
    return status;
}

/* The case knows which keys take integers: where it refuses a drawn value for that, the key's are drawn as integers. */
static strake_status draw_integers(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int turn = 0; turn < s->values.axes; turn++) {
        strake_error reason;
        strake_case *which = NULL;
        strake_scan_axis *refused = NULL;
        strake_arguments arguments = *s->arguments;
        char **const sets = strake_scan_sets(&s->job, 0);
        STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
        arguments.sets = (const char **)(void *)sets;
        arguments.set_count += strake_scan_set_count(&s->values);
        const bool is_read = strake_case_from(&arguments, &which, &reason) == STRAKE_OK;
        for (int k = 0; k < s->values.axes && !is_read; k++) {
            strake_scan_axis *const axis = &s->values.axis[k];
            if (axis->is_random && strstr(reason.text, "expected an integer") != NULL &&
                strstr(reason.text, sets[s->arguments->set_count + k]) != NULL) {
                refused = axis;
            }
        }
        strake_scan_sets_free(&s->job, sets);
        strake_case_close(&which);
        if (refused == NULL) {
            break;
        }
        STRAKE_TRY(strake_scan_axis_draw_integers(refused, error));
    }
cleanup:
    return status;
}

static strake_status plan_runs(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    s->task = calloc((size_t)s->values.runs, sizeof *s->task);
    s->table.row = calloc((size_t)s->values.runs, sizeof *s->table.row);
    STRAKE_CHECK(s->task != NULL && s->table.row != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a scan");
    s->table.rows = s->values.runs;
    for (int64_t run = 0; run < s->values.runs; run++) {
        STRAKE_TRY(plan_run(s, run, error));
    }
    if (s->problem == NULL) {
        *error = s->why_wrong; /* it is the same for all, or as bad */
        return error->status;
    }
cleanup:
    return status;
}

/* A run that ends before its eruption has less lava than the class says. */
static void warn_of_ends(const strake_scan *s)
{
    for (int k = 0; k < s->values.classes; k++) {
        const strake_scan_class *const c = &s->values.one_class[k];
        const double end = c->end != NULL ? strake_number_read(c->end, NULL) : s->first->end;
        if (end < c->duration) {
            strake_say_warning("runs of class %s end at %.15g s, before their eruption does at "
                               "%.15g s: a column end of --classes, or time.end, says when",
                               c->name, end, c->duration);
        }
    }
}

/* Whether something asks for runs one after the other: their speeds are compared, or a split is given. */
static bool is_one_by_one(const strake_scan *s)
{
    bool compares = false;
    for (int k = 0; k < s->values.axes; k++) {
        compares = compares || strncmp(s->values.axis[k].path, "run.", 4) == 0;
    }
    return compares || s->arguments->jobs == 1 || s->arguments->split != NULL || s->has_split;
}

/* WHERE of this rank, of a list for all or for each. */
static strake_status pick_where(strake_scan *s, strake_error *error)
{
    const char *const where = s->arguments->on != NULL ? s->arguments->on : s->where;
    s->deal.is_own = strchr(where, '/') != NULL;
    s->job.on = s->arguments->on != NULL ? s->own : NULL;
    return strake_ranks_pick(s->ranks, "--on", where, s->own, sizeof s->own, error);
}

void strake_scan_plan_deal(strake_scan *s)
{
    strake_scan_deal *const deal = &s->deal;
    deal->job = &s->job;
    deal->tasks = s->values.runs;
    deal->task = s->task;
    deal->one_by_one = is_one_by_one(s);
    deal->where = s->own;
    deal->ranks = s->ranks;
    strake_scan_deal_share(deal, s->values.runs - s->before, s->bytes, s->threads);
    for (int64_t k = 0; k < s->values.runs; k++) {
        s->task[k].order.like =
            deal->one_by_one && strcmp(deal->where, "auto") == 0 ? s->task[k].order.like : 0;
    }
}

/* --- while it goes on ----------------------------------------------------------------------------- */

static void count_place(strake_scan *s, const char *where)
{
    int k = 0;
    while (k < s->places && strcmp(s->made[k].where, where) != 0) {
        k++;
    }
    if (k == s->places && k < STRAKE_MOST_PLACES) {
        (void)snprintf(s->made[k].where, sizeof s->made[k].where, "%s", where);
        s->places++;
    }
    s->made[k < STRAKE_MOST_PLACES ? k : STRAKE_MOST_PLACES - 1].runs++;
}

/* ", cpu 12/s, ocl:0 40/s": runs a second that each place has made so far, at the end of a text. */
static void add_rates(const strake_scan *s, double seconds, char *text, size_t size)
{
    for (int k = 0; k < s->places && seconds > 0.0; k++) {
        const size_t used = strlen(text);
        char rate[24];
        (void)strake_number_print(rate, sizeof rate, "%.3g", (double)s->made[k].runs / seconds);
        (void)snprintf(text + used, size - used, ", %s %s/s", s->made[k].where, rate);
    }
}

static strake_status take_answer(void *user, const strake_scan_answer *answer, strake_error *error)
{
    strake_scan *const s = user;
    const bool failed = answer->status != STRAKE_OK;
    if (failed && s->first_failure[0] == '\0') {
        (void)snprintf(s->first_failure, sizeof s->first_failure, "%s", answer->text);
        s->first_failed = answer->run;
    }
    s->ended++;
    s->failed += failed ? 1 : 0;
    count_place(s, answer->where);
    return strake_scan_table_put(&s->table, &s->job, answer, error);
}

static strake_status tick(void *user, int busy, strake_error *error)
{
    strake_scan *const s = user;
    char facts[240];
    const double done = (double)(s->before + s->ended), all = (double)s->values.runs;
    const double seconds = strake_clock_seconds() - s->begin;
    const double left = s->ended > 0 ? seconds / (double)s->ended * (all - done) : 0.0;
    (void)snprintf(facts, sizeof facts, "%lld of %lld runs, %lld failed, %d at a time",
                   (long long)done, (long long)all, (long long)s->failed, busy);
    if (s->ended > 0) {
        (void)snprintf(facts + strlen(facts), sizeof facts - strlen(facts), ", %.0f s left", left);
        add_rates(s, seconds, facts, sizeof facts);
    }
    if (!s->arguments->quiet) {
        strake_progress_show(&s->progress, done / all, facts);
    }
    /* A launcher of ranks gives them a second between two signals. */
    return strake_scan_table_write(&s->table, s->table.is_new && strake_interrupted(), error);
}

/* --- the command ---------------------------------------------------------------------------------- */

bool strake_scan_count_rows(strake_scan *s)
{
    for (int64_t k = 0; k < s->values.runs; k++) {
        s->task[k].done = s->table.row[k].text != NULL;
        s->before += s->task[k].done ? 1 : 0;
        s->failed += s->table.row[k].failed ? 1 : 0;
    }
    return s->before == s->values.runs;
}

/* Vents of a file; points of a map lie in the grid of the case, which is read without its own vents. */
static strake_status add_vents(strake_scan *s, strake_scan_draws *draws, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_vents vents = {0};
    strake_case *which = NULL;
    const char *const path = s->arguments->vents;
    strake_arguments arguments = *s->arguments;
    const int count = arguments.set_count;
    const char **const sets = calloc((size_t)count + 3, sizeof *sets);
    STRAKE_CHECK(sets != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    memcpy(sets, arguments.sets, (size_t)count * sizeof *sets);
    sets[arguments.set_count++] = "vents=[]";
    arguments.sets = sets;
    if (strake_features_are_in(path)) {
        STRAKE_TRY(strake_case_from(&arguments, &which, error));
    }
    STRAKE_TRY(strake_scan_vents_read(path, which, &vents, error));
    STRAKE_TRY(strake_scan_vents_add(&vents, draws, &s->values, error));
cleanup:
    free(sets);
    strake_case_close(&which);
    strake_scan_vents_free(&vents);
    return status;
}

strake_status strake_scan_prepare(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    strake_scan_draws draws = {.count = arguments->draws,
                               .seed = arguments->seed >= 0 ? (uint64_t)arguments->seed : 1,
                               .is_latin = arguments->sampling != NULL &&
                                           strcmp(arguments->sampling, "lhs") == 0};
    STRAKE_CHECK(arguments->over_count > 0 || arguments->vents != NULL ||
                     arguments->classes != NULL,
                 error, STRAKE_ERR_USAGE,
                 "a scan needs --over PATH=VALUES at least once, for example --over "
                 "scheme.iterations=1,2,3");
    s->job = (strake_scan_job){.arguments = arguments,
                               .values = &s->values,
                               .keep = arguments->keep,
                               .maps = arguments->maps,
                               .mapped = arguments->mapped,
                               .threshold = isnan(arguments->threshold) ? STRAKE_USUAL_THRESHOLD
                                                                        : arguments->threshold};
    s->table.path = arguments->table != NULL ? arguments->table : "scan.csv";
    (void)snprintf(s->where, sizeof s->where, "auto");
    STRAKE_CHECK(
        arguments->sampling == NULL || strcmp(arguments->sampling, "random") == 0 || draws.is_latin,
        error, STRAKE_ERR_USAGE,
        "option --sampling: '%s' is no way to draw; expected random or lhs", arguments->sampling);
    STRAKE_CHECK(arguments->draws > 0 || (arguments->sampling == NULL && arguments->seed < 0),
                 error, STRAKE_ERR_USAGE, "option %s: goes with --draws N",
                 arguments->sampling != NULL ? "--sampling" : "--seed");
    STRAKE_TRY(arguments->classes != NULL
                   ? strake_scan_classes_read(arguments->classes, &draws, &s->values, error)
                   : STRAKE_OK);
    STRAKE_TRY(arguments->vents != NULL ? add_vents(s, &draws, error) : STRAKE_OK);
    STRAKE_TRY(strake_scan_values_read(arguments->overs, &draws, &s->values, error));
    STRAKE_TRY(strake_scan_weights_read(arguments->weights, &s->values, error));
    STRAKE_TRY(strake_scan_maps_check_options(arguments, error));
    strake_asc_keep(most_kept);
    STRAKE_TRY(draw_integers(s, error));
    STRAKE_TRY(plan_runs(s, error));
    STRAKE_TRY(pick_where(s, error));
    strake_scan_table_head(&s->table, &s->job, s->problem);
    STRAKE_CHECK(!s->table.header.failed, error, STRAKE_ERR_MEMORY, "out of memory for the table");
    if (strake_ranks_self(s->ranks) > 0) {
        goto cleanup;
    }
    warn_of_ends(s);
    STRAKE_TRY(strake_scan_table_read(&s->table, arguments->keep != NULL, error));
cleanup:
    return status;
}

/* Makes the folders of --keep and --maps, of which this scan is then the owner, and looks what there is for maps. */
static strake_status own_folders(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = s->arguments;
    char *runs = NULL;
    if (arguments->keep != NULL) {
        STRAKE_TRY(strake_folder_create(arguments->keep, error));
        STRAKE_TRY(strake_folder_own(&s->kept, arguments->keep, error));
    }
    if (arguments->maps != NULL) {
        runs = strake_path_join(arguments->maps, "runs");
        STRAKE_CHECK(runs != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        STRAKE_TRY(strake_folder_create(runs, error));
    }
    STRAKE_TRY(strake_scan_maps_find(&s->job, &s->table, error));
    if (arguments->maps != NULL && !strake_folder_is_own(&s->kept, arguments->maps)) {
        STRAKE_TRY(strake_folder_own(&s->mapped, arguments->maps, error));
    }
cleanup:
    free(runs);
    return status;
}

/* Whether another rank sees the folders that rank 0 has: what runs leave there is for all. */
static strake_status check_folder(const strake_scan *s, const char *folder, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_first = strake_ranks_self(s->ranks) == 0;
    char name[64], host[64] = "";
    char *path = NULL;
    int64_t number = (int64_t)getpid() ^ strake_clock_date() << 20;
    STRAKE_TRY(strake_ranks_broadcast(s->ranks, &number, sizeof number, error));
    (void)snprintf(name, sizeof name, ".strake-ranks-%llx.tmp", (unsigned long long)number);
    (void)gethostname(host, sizeof host - 1);
    path = strake_path_join(folder, name);
    status = path == NULL ? strake_fail(error, STRAKE_ERR_MEMORY, "out of memory")
             : is_first   ? strake_file_put(path, STRAKE_FILE_HASTY, "", 0, error)
                          : STRAKE_OK;
    STRAKE_TRY(strake_ranks_agree(s->ranks, status, error));
    if (!is_first && access(path, F_OK) != 0) {
        status = strake_fail(error, STRAKE_ERR_USAGE,
                             "folder %s on host %s is not the one of rank 0: --keep and --maps "
                             "need a folder that all ranks see",
                             folder, host);
    }
    STRAKE_TRY(strake_ranks_agree(s->ranks, status, error));
cleanup:
    if (is_first && path != NULL) {
        (void)unlink(path);
    }
    free(path);
    return status;
}

/* All ranks plan the same runs, each from the files that it sees. */
static strake_status check_ranks(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    uint64_t own = STRAKE_FNV_SEED, first = 0;
    for (int64_t run = 0; run < s->values.runs; run++) {
        own = strake_fnv1a(own, &s->task[run].order.id, sizeof own);
    }
    first = own;
    STRAKE_TRY(strake_ranks_broadcast(s->ranks, &first, sizeof first, error));
    if (own != first) {
        status = strake_fail(error, STRAKE_ERR_USAGE,
                             "%s and the values of the scan are others here than on rank 0; all "
                             "ranks have to see the same files",
                             s->arguments->operand[0]);
    }
    STRAKE_TRY(strake_ranks_agree(s->ranks, status, error));
    STRAKE_TRY(s->job.keep != NULL ? check_folder(s, s->job.keep, error) : STRAKE_OK);
    STRAKE_TRY(s->job.maps != NULL ? check_folder(s, s->job.maps, error) : STRAKE_OK);
cleanup:
    return status;
}

/* The folders are rank 0's, as the table is. */
static strake_status prepare_all(strake_scan *s, strake_error *error)
{
    const strake_status status = strake_scan_prepare(s, error);
    return status == STRAKE_OK && strake_ranks_self(s->ranks) == 0 ? own_folders(s, error) : status;
}

/* Joins the ranks; all plan the same runs, or none goes on. */
static strake_status begin_together(strake_scan *s, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* A fit has many scans made by this process, which would join and leave with each. */
    STRAKE_TRY(s->arguments->fit_is_made != NULL ? STRAKE_OK : strake_ranks_open(&s->ranks, error));
    strake_ranks_set_patience(s->ranks, INFINITY); /* rank 0 may look at what many runs left */
    STRAKE_TRY(strake_case_input(s->arguments, s->ranks, error));
    STRAKE_TRY(strake_ranks_agree(s->ranks, prepare_all(s, error), error));
    STRAKE_TRY(s->ranks != NULL ? check_ranks(s, error) : STRAKE_OK);
    s->has_helpers = s->ranks != NULL && strake_ranks_self(s->ranks) == 0;
cleanup:
    return status;
}

static void tell_end(const strake_scan *s)
{
    const int64_t done = s->before + s->ended;
    char run[600], rates[240] = "";
    const double seconds = strake_clock_seconds() - s->begin;
    if (strake_interrupted() && done < s->values.runs) {
        strake_say("interrupted after %lld of %lld runs, which are in %s; the same command goes on "
                   "from there",
                   (long long)done, (long long)s->values.runs, s->table.path);
    } else if (!s->arguments->quiet && s->arguments->fit_is_made == NULL) {
        (void)printf("%s: %lld run%s, %lld failed; %.2f s, %d at a time", s->table.path,
                     (long long)s->values.runs, s->values.runs == 1 ? "" : "s",
                     (long long)s->failed, seconds, s->deal.busiest);
        add_rates(s, seconds, rates, sizeof rates);
        (void)printf("%s", rates);
        if (s->before > 0) {
            (void)printf("; %lld were there already", (long long)s->before);
        }
        (void)putchar('\n');
    }
    if (s->first_failure[0] != '\0') {
        strake_scan_describe(s, s->first_failed, run, sizeof run);
        strake_say("run %lld failed (%s): %s%s", (long long)s->first_failed + 1, run,
                   s->first_failure, s->failed > 1 ? "; others, too: see the table" : "");
    }
}

/* Makes all runs that the table lacks, on rank 0. @param[out] code  exit status */
static strake_status make_runs(strake_scan *s, int *code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    /* Where it cannot be written that is known now. */
    STRAKE_TRY(strake_scan_table_write(&s->table, true, error));
    strake_scan_plan_deal(s);
    s->deal.ended = take_answer;
    s->deal.tick = tick;
    s->deal.user = s;
    strake_interrupt_install();
    strake_progress_begin(&s->progress, s->arguments->quiet, 0, s->values.runs, 0.0);
    status = strake_scan_deal_all(&s->deal, error);
    strake_progress_clear(&s->progress);
    STRAKE_TRY(status);
    STRAKE_TRY(strake_scan_table_write(&s->table, true, error));
    tell_end(s);
    *code = s->failed > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
    if (strake_interrupted() && s->before + s->ended < s->values.runs) {
        *code = strake_interrupt_code(strake_interrupt_number());
    } else {
        STRAKE_TRY(strake_scan_maps_write(&s->job, &s->table, s->first, error));
    }
cleanup:
    return status;
}

/* What one of several ranks does, and rank 0, which has the table. */
static strake_status take_part(strake_scan *s, int *code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    if (strake_ranks_self(s->ranks) > 0) {
        strake_scan_plan_deal(s);
        strake_interrupt_install();
        STRAKE_TRY(strake_scan_deal_serve(&s->deal, code, error));
    } else if (strake_scan_count_rows(s)) {
        if (!s->arguments->quiet && s->arguments->fit_is_made == NULL) {
            (void)printf("%s is complete already: %lld run%s, %lld failed; a run whose line is "
                         "removed is made again\n",
                         s->table.path, (long long)s->before, s->before == 1 ? "" : "s",
                         (long long)s->failed);
        }
        *code = s->failed > 0 ? STRAKE_EXIT_FAILED : STRAKE_EXIT_DONE;
        STRAKE_TRY(strake_scan_maps_write(&s->job, &s->table, s->first, error));
    } else {
        STRAKE_TRY(make_runs(s, code, error));
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    int code = STRAKE_EXIT_DONE;
    strake_scan s = {.arguments = arguments, .begin = strake_clock_seconds()};
    STRAKE_TRY(begin_together(&s, error));
    STRAKE_TRY(take_part(&s, &code, error));
cleanup:
    if (status != STRAKE_OK) {
        (void)(s.table.is_new && strake_scan_table_write(&s.table, true, NULL) != STRAKE_OK);
        code = strake_ranks_may_tell(s.ranks) ? strake_say_error(error) : strake_error_code(error);
    }
    if (s.has_helpers) {
        (void)strake_scan_deal_dismiss(s.ranks, code, error);
    }
    strake_ranks_close(&s.ranks);
    strake_lock_release(&s.kept);
    strake_lock_release(&s.mapped);
    strake_scan_values_free(&s.values);
    strake_scan_table_free(&s.table);
    strake_case_close(&s.first);
    free(s.task);
    if (arguments->fit_is_made != NULL) {
        *arguments->fit_is_made = status == STRAKE_OK;
    }
    return code;
}

static const strake_option options[] = {
    STRAKE_OPTIONS_VALUES,
    STRAKE_TEXT("--on", on, "WHERE", "processors, see above (default: `run.on`, else auto)"),
    STRAKE_TEXT("--split", split, "W,W,...", "share of each entry of WHERE in every run"),
    STRAKE_OPTION_THREADS,
    STRAKE_NUMBER("--steps", INTEGER, steps, "N", 0, STRAKE_MOST_STEPS,
                  "last step, instead of the case's `time.steps`"),
    STRAKE_SET("change a key of the case in every run; repeatable"),
    STRAKE_OPTION_CACHE,
    STRAKE_OPTIONS_SCAN,
    STRAKE_FLAG("--quiet", quiet, "no progress, notes and summary"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_scan = {
    .name = "scan",
    .operands = "CASE.yaml",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Runs a case many times with other values, into one table",
    .option = options,
    .details =
        "VALUES of a key are A,B,C, or FROM:TO:COUNT with both ends, or\n"
        "random:LOW:HIGH:COUNT:SEED, as integers where the key takes integers. With --draws N\n"
        "they may be drawn, for all keys together: uniform:LOW:HIGH, normal:MEAN:SD,\n"
        "lognormal:MEDIAN:FACTOR (of one standard deviation), or of:FILE[:COLUMN], line after\n"
        "line of a text in columns: numbers, or, below a line of names, texts in double quotes.\n"
        "More random draws of a seed begin with the same ones.\n"
        "The table (CSV) has a line for each run: the values, minimum, maximum, sum, norm and\n"
        "checksum of every state after the last step, what the problem measures, times, and\n"
        "why a run failed. One that fails does not end the scan; the exit status is then 1.\n"
        "\n"
        "Runs stand side by side, one on each core and up to 256 on each device of WHERE, as far\n"
        "as memory goes; fewer runs than cores share them. On a device runs of one grid in one or\n"
        "two dimensions, which differ in numbers alone, step in common launches; others step\n"
        "beside them. One after the other, each on all of WHERE, runs come with --jobs 1, with\n"
        "--split, and where run.* keys are varied, so that times can be compared. The results\n"
        "are the same.\n"
        "\n"
        "Under mpirun all ranks make runs, as fast as each can: cores and devices of a machine "
        "are\n"
        "dealt out to its ranks, and --on cpu/ocl:0 gives each rank its own list. There is one\n"
        "table and one set of maps, of rank 0, with the same bytes as without mpirun. All ranks\n"
        "have to see the files of the case, and the folders of --keep and --maps. A rank without\n"
        "places says why, and the others go on; one that dies ends the scan. One after the\n"
        "other, runs are made by the first rank of each machine.\n"
        "\n"
        "The table is up to date within a second. The same command goes on where a scan was\n"
        "ended by Ctrl-C or a power cut, and makes what is new where VALUES were added.\n"
        "\n"
        "With --vents every vent of a file is run, or with --draws as many as are drawn by their\n"
        "weights: vents[0] of the case has to have x and y. Coordinates are those of the map;\n"
        "points in others, or in longitude and latitude, are converted.\n"
        "\n"
        "With --classes every class of eruptions is run, from every vent, or drawn by its\n"
        "probability beside the others: it says the rate of vents[0] and, in a column end, the\n"
        "case's time.end [s]. A line is a class of so many m3 in so many seconds, which come out\n"
        "by its curve: constant, falling (from the largest rate to 0), triangle:F (from 0 to the\n"
        "largest rate after a part F of the duration, 0.25 if it is not said, and back to 0), or\n"
        "a file of times and rates, each until the next time, which are brought to both.\n"
        "A map probability-CLASS is that of eruptions of the class.\n"
        "\n"
        "Maps are made when all runs are there, in the formats of the case and with a picture;\n"
        "of runs on one grid whose problem has a footprint. A run is as thick in a cell as it was\n"
        "at most while it flowed, or as what lies there at the end if that is more. DIR/runs\n"
        "keeps what each run left: other weights and thresholds, and more runs, cost no run "
        "again.\n"
        "\n"
        "The probability p of a flow is that of an eruption, with weights as they are beside each\n"
        "other. --eruptions N makes it absolute: 1 - exp(-N p), where eruptions come as a Poisson\n"
        "process (Connor and Hill, 1995); 0.5 a year are N = 0.5 for a year and 25 for 50 years.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples =
        "  strake scan cone.yaml --over scheme.iterations=1,2,3\n"
        "  strake scan cone.yaml --over time.dt=0.02:0.1:5 --over scheme.gauge=none,infinite\n"
        "  strake scan quench.yaml --over parameters.K=random:0.5:2:100:1 --keep runs\n"
        "  strake scan lava.yaml --draws 1000 --over 'vents[0].rate=lognormal:10:2' \\\n"
        "      --over parameters.water_content=uniform:0.05:0.2 --maps maps\n"
        "  strake scan lava.yaml --vents vents.geojson --classes classes.csv --maps maps \\\n"
        "      --eruptions 25\n"
        "  strake scan cone.yaml --over run.on=cpu,gpu,hybrid --table places.csv\n"
        "  mpirun -np 8 strake scan lava.yaml --draws 1000 --over 'vents[0].rate=lognormal:10:2'\n"
        "  strake scan lava.yaml --over 'vents[0].rate=5,10' --maps m --weights "
        "'vents[0].rate=2,1'\n",
    .run = command,
    .joins_ranks = true};
