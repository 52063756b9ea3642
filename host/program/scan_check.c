/* `strake check` of a scan: how much there is to compute, where, and how long that takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cpu/machine.h"
#include "files/cache.h"
#include "files/json.h"
#include "output/output.h"
#include "program/bench.h"
#include "program/interrupt.h"
#include "program/report_file.h"
#include "program/say.h"
#include "program/scan_plan.h"
#include "program/scan_trace.h"
#include "program/summary.h"

/* Runs, and cells of them all, whose fields are made to see whether they can be run: of all, or of some that lie evenly. */
static const double most_tried = 200, most_cells = 2e8;

/* Numbers of a cell that a run leaves for maps, and maps. */
enum { TRACED = 2, MAPS = 4 };

/* Steps of the first trial of a batch, and seconds that the second one shall take. */
enum { TRIAL_STEPS = 64 };
static const double trial_seconds = 0.5;

/* A processor, or a device, as far as a scan goes. */
typedef struct place {
    char where[16], name[40];
    int most, threads; /* runs at a time, and threads of each; of a device 0 */
    double has, needs; /* memory of a device, for so many runs [bytes] */
    double rate,
        setup;     /* of so many runs together [1/s], before their first step [s]; NaN: not known */
    char why[256]; /* it is not */
} place;

typedef struct scan_check {
    strake_scan *s;
    strake_case *first;
    int64_t left, tried;
    double table, traces, maps, keep; /* bytes of files */
    double memory;                    /* of the host, for the runs at a time [bytes] */
    int places;
    place place[STRAKE_MOST_PLACES + 1];
    double seconds,
        most; /* of all runs, and where only the fastest place makes any; NaN: not known */
} scan_check;

/* Devices of a scan, as a process tells that has gone with its drivers. */
typedef struct scan_devices {
    strake_status status;
    strake_places places;
    double memory[STRAKE_MOST_PLACES];
    char name[STRAKE_MOST_PLACES][40];
    char text[600];
} scan_devices;

bool strake_scan_is_asked(const strake_arguments *a)
{
    return a->over_count > 0 || a->weight_count > 0 || a->vents != NULL || a->classes != NULL ||
           !isnan(a->eruptions) || a->draws > 0 || a->seed >= 0 || a->sampling != NULL ||
           a->table != NULL || a->keep != NULL || a->maps != NULL || a->mapped != NULL ||
           !isnan(a->threshold) || a->jobs > 0 || a->members > 0;
}

/* The case of a run, as `strake scan` gives it to the run. */
static strake_status open_run(const strake_scan *s, int64_t run, strake_case **out,
                              strake_error *error)
{
    strake_arguments arguments = *s->arguments;
    char **const sets = strake_scan_sets(&s->job, run);
    if (sets == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    }
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&s->values);
    const strake_status status = strake_case_from(&arguments, out, error);
    strake_scan_sets_free(&s->job, sets);
    return status;
}

/* What a process found out that made the fields of runs. */
typedef struct tried {
    int64_t runs, wrong, first;
    double bytes; /* of outputs */
    strake_error why;
} tried;

/* Makes the fields of a run without any step: what is wrong in them no case alone tells. */
static strake_status try_run(const strake_scan *s, int64_t run, tried *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    const strake_options settings = {.where = "serial"};
    STRAKE_TRY(open_run(s, run, &which, error));
    free(which->run.split);
    which->run.split = NULL;
    STRAKE_TRY(s->job.keep != NULL ? strake_output_look(which, strake_formats, error) : STRAKE_OK);
    STRAKE_TRY(strake_case_check_alone(which, which->steps, error));
    STRAKE_TRY(strake_open(which, &settings, &solver, error));
    out->bytes += strake_output_bytes(which, solver, 0);
    out->runs++;
cleanup:
    strake_close(&solver);
    strake_case_close(&which);
    return status;
}

/* In a process of its own: threads of a solver do not outlive that others, which make runs, are started. */
static void try_runs(const void *given, int to)
{
    const strake_scan *const s = given;
    const double runs = (double)s->values.runs, cells = s->extent.cells[1] * runs;
    const int64_t stride = (int64_t)ceil(fmax(fmax(cells / most_cells, runs / most_tried), 1.0));
    tried out = {.runs = 0};
    for (int64_t run = 0; run < s->values.runs; run += stride) {
        strake_error why;
        if (s->task[run].work > 0.0 && try_run(s, run, &out, &why) != STRAKE_OK &&
            out.wrong++ == 0) {
            out.first = run;
            out.why = why;
        }
    }
    (void)strake_file_write_all(to, &out, sizeof out);
}

_Static_assert(sizeof(tried) <= 4096, "what a process tells comes as a whole");

/* Whether all runs could be made; the first one that could not is the error. */
static strake_status try_all(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan *const s = c->s;
    tried out;
    char run[600];
    STRAKE_TRY(strake_scan_apart(try_runs, s, &out, sizeof out, error));
    if (out.wrong > 0 && (s->wrong == 0 || out.first < s->first_wrong)) {
        s->first_wrong = out.first;
        s->why_wrong = out.why;
    }
    s->wrong += out.wrong;
    c->tried = out.runs;
    c->keep = out.runs > 0 ? out.bytes / (double)out.runs : 0.0;
    if (s->wrong > 0) {
        strake_scan_describe(s, s->first_wrong, run, sizeof run);
        status = strake_fail(error, s->why_wrong.status, "run %lld of %lld (%s): %s%s",
                             (long long)s->first_wrong + 1, (long long)s->values.runs, run,
                             s->why_wrong.text, s->wrong > 1 ? "; others are wrong, too" : "");
    }
cleanup:
    return status;
}

/* Sizes of files. */
static void add_files(scan_check *c)
{
    const strake_scan *const s = c->s;
    const strake_problem *const problem = s->problem;
    const double runs = (double)s->values.runs, cells = s->extent.cells[1];
    double line = 90.0; /* run, state, where, steps, times, id */
    int formats = 0;
    for (int k = 0; k < s->values.axes; k++) {
        line += (double)strlen(strake_scan_value(&s->values, 0, k)) + 1.0;
    }
    for (int f = 0; f < problem->fields; f++) {
        line += strake_scan_has_column(&problem->field[f]) ? 4.0 * 20.0 + 17.0 : 0.0;
    }
    c->table = runs * (line + 20.0 * problem->quantities);
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        formats += c->first->output_format[k] && k != STRAKE_FORMAT_PNG ? 1 : 0;
    }
    c->traces = s->job.maps != NULL ? 8.0 * runs * TRACED * cells : 0.0;
    c->maps = s->job.maps != NULL ? 8.0 * formats * MAPS * cells : 0.0;
    c->keep = s->job.keep != NULL ? c->keep * runs : 0.0;
}

static void find_devices(const void *given, int to)
{
    strake_cl_list list = {0};
    strake_error error = {.text = ""};
    scan_devices out = {.status = strake_cl_list_open(&list, &error)};
    if (out.status == STRAKE_OK) {
        out.status =
            strake_places_find(given, &list, "is no place for a scan", &out.places, &error);
    }
    for (int k = 0; out.status == STRAKE_OK && k < out.places.devices; k++) {
        const strake_cl_device *const device = &list.device[out.places.device[k]];
        out.memory[k] = (double)device->global_memory;
        (void)snprintf(out.name[k], sizeof out.name[k], "%.39s", device->name);
    }
    (void)snprintf(out.text, sizeof out.text, "%.599s", error.text);
    (void)strake_file_write_all(to, &out, sizeof out);
}

_Static_assert(sizeof(scan_devices) <= 4096, "what a process tells comes as a whole");

/* Where runs are made, and how many at a time. */
static strake_status find_places(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scan_deal *const deal = &c->s->deal;
    const bool is_auto = strcmp(deal->where, "auto") == 0;
    scan_devices *const found = calloc(1, sizeof *found);
    strake_machine machine;
    STRAKE_CHECK(found != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    strake_machine_read(&machine);
    if (strcmp(deal->where, "cpu") == 0 || strcmp(deal->where, "serial") == 0) {
        found->places.cpu = true;
    } else {
        STRAKE_TRY(strake_scan_apart(find_devices, is_auto ? "hybrid" : deal->where, found,
                                     sizeof *found, error));
        STRAKE_CHECK(found->status == STRAKE_OK, error, found->status, "%s", found->text);
    }
    if (found->places.cpu) {
        place *const p = &c->place[c->places++];
        *p = (place){.most = deal->jobs, .threads = deal->threads, .rate = NAN, .setup = NAN};
        (void)snprintf(p->where, sizeof p->where, "%s",
                       strcmp(deal->where, "serial") == 0 ? "serial" : "cpu");
        (void)snprintf(p->name, sizeof p->name, "%.39s", machine.cpu);
    }
    for (int k = 0; k < found->places.devices && k < c->left; k++) {
        place *const p = &c->place[c->places++];
        *p = (place){.most = deal->members, .has = found->memory[k], .rate = NAN, .setup = NAN};
        (void)snprintf(p->where, sizeof p->where, "ocl:%d", found->places.device[k]);
        (void)snprintf(p->name, sizeof p->name, "%s", found->name[k]);
        /* What a batch has, and windows of its members have again (opencl/cl_batch.h). */
        p->needs = 2.0 * p->most * strake_case_bytes(c->first);
    }
    for (int k = 0; k < c->places; k++) {
        c->memory += c->place[k].most * strake_scan_bytes(c->first);
    }
cleanup:
    free(found);
    return status;
}

/* The rate of as many equal runs as a place makes at a time, dealt out as the scan does it. */
static strake_status try_place(scan_check *c, place *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_arguments arguments = *c->s->arguments;
    char **const sets = strake_scan_sets(&c->s->job, 0);
    const strake_bench_members members = {.counts = 1, .count = {p->most}};
    const strake_bench_options options = {.is_warm = true};
    strake_bench *const bench = calloc(1, sizeof *bench);
    bool stopped = false;
    STRAKE_CHECK(sets != NULL && bench != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    arguments.sets = (const char **)(void *)sets;
    arguments.set_count += strake_scan_set_count(&c->s->values);
    arguments.steps = c->first->steps < TRIAL_STEPS ? c->first->steps : TRIAL_STEPS;
    *bench = (strake_bench){.which = c->first, .repeats = 1};
    STRAKE_TRY(strake_bench_add(bench, p->where, error));
    for (int turn = 0; turn < 2 && !stopped; turn++) {
        const strake_bench_batch *batch = NULL;
        STRAKE_TRY(
            strake_bench_members_measure(bench, &members, &arguments, &options, &stopped, error));
        strake_bench_derive_batches(bench);
        batch = &bench->batch[0];
        if (batch->status != STRAKE_OK || stopped) {
            (void)snprintf(p->why, sizeof p->why, "%.255s", batch->why);
            break;
        }
        /* The first trial, which is not yet warm, says how many steps the second one makes. */
        const double steps = trial_seconds / batch->seconds[0] * (double)arguments.steps;
        arguments.steps = (int64_t)fmin((double)c->first->steps, fmax(steps, TRIAL_STEPS));
        p->rate = batch->rate.median;
        p->setup = batch->setup_seconds;
        bench->batches = 0;
        free(bench->batch);
        bench->batch = NULL;
    }
cleanup:
    if (bench != NULL) {
        strake_bench_free(bench);
    }
    free(bench);
    strake_scan_sets_free(&c->s->job, sets);
    return status;
}

/* How long it takes, where steps are known. */
static strake_status predict(scan_check *c, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_scan_extent *const e = &c->s->extent;
    double together = 0.0, fastest = 0.0, setup = 0.0;
    c->seconds = c->most = NAN;
    if (e->is_open || c->s->deal.one_by_one || c->left == 0) {
        goto cleanup;
    }
    for (int k = 0; k < c->places && !strake_interrupted(); k++) {
        place *const p = &c->place[k];
        STRAKE_TRY(try_place(c, p, error));
        together += isnan(p->rate) ? 0.0 : p->rate;
        fastest = fmax(fastest, p->rate);
        setup = fmax(setup, p->setup);
    }
    if (fastest > 0.0) {
        c->seconds = setup + e->work / together;
        c->most = setup + e->work / fastest;
    }
cleanup:
    return status;
}

/* "4096", or "4096 to 16384" where runs differ. */
static const char *span_text(const double span[2], char text[80])
{
    const int used = snprintf(text, 80, "%.0f", span[0]);
    if (span[1] > span[0]) {
        (void)snprintf(text + used, (size_t)(80 - used), " to %.0f", span[1]);
    }
    return text;
}

static void print_places(const scan_check *c, FILE *stream)
{
    char text[32], other[32];
    (void)fprintf(stream, "\n%-8s %-30s %6s %7s  %-21s %s\n", "where", "device", "runs", "threads",
                  "memory", "rate");
    for (int k = 0; k < c->places; k++) {
        const place *const p = &c->place[k];
        char memory[80] = "-", threads[16] = "-";
        if (p->has > 0.0 && !c->s->problem->has_particles) {
            (void)snprintf(memory, sizeof memory, "%s of %s", strake_size_text(p->needs, text),
                           strake_size_text(p->has, other));
        }
        if (p->threads > 0) {
            (void)snprintf(threads, sizeof threads, "%d", p->threads);
        }
        (void)fprintf(stream, "%-8.15s %-30.30s %6d %7s  %-21s %s\n", p->where, p->name, p->most,
                      threads, memory,
                      isnan(p->rate) ? "-" : strake_rate_text_of(c->s->problem, p->rate, text));
        if (p->why[0] != '\0') {
            (void)fprintf(stream, "         (no rate: %s)\n", p->why);
        }
    }
}

static void print_forecast(const scan_check *c, FILE *stream)
{
    const strake_scan *const s = c->s;
    const bool is_mixed = c->most > 1.005 * c->seconds;
    (void)fprintf(stream, "\nprediction ");
    if (c->left == 0) {
        (void)fprintf(stream, "nothing is left to be run\n");
    } else if (!isnan(c->seconds)) {
        (void)fprintf(stream,
                      "about %.3g s, from trial steps of as many runs as stand side by side",
                      c->seconds);
        (void)fprintf(stream,
                      is_mixed ? ";\n           %.3g s where only the fastest place makes any\n"
                               : "\n",
                      c->most);
    } else if (s->extent.is_open) {
        (void)fprintf(stream, "unknown: how many steps a run makes follows from its states\n");
    } else if (s->deal.one_by_one) {
        (void)fprintf(stream, "unknown: runs come one after the other, each as `strake check` says "
                              "of it alone\n");
    } else {
        (void)fprintf(stream, "unknown: no place has a rate\n");
    }
}

static void print_check(const scan_check *c, FILE *stream)
{
    const strake_scan *const s = c->s;
    const strake_scan_extent *const e = &s->extent;
    char text[80], size[32], other[32];
    strake_machine machine;
    strake_machine_read(&machine);
    (void)fprintf(stream, "%s is valid in all %lld runs", c->first->file,
                  (long long)s->values.runs);
    if (c->tried < s->values.runs) {
        (void)fprintf(stream, "; the fields of %lld of them were made", (long long)c->tried);
    }
    (void)fprintf(stream, "\n\nproblem    %s, %s precision\n", s->problem->name,
                  strake_precision_name(c->first->precision));
    (void)fprintf(stream, "runs       %lld", (long long)s->values.runs);
    if (s->before > 0) {
        (void)fprintf(stream, ", of which %s has %lld", s->table.path, (long long)s->before);
    }
    if (!s->problem->has_particles) {
        (void)fprintf(stream, "\ncells      %s in each", span_text(e->cells, text));
    }
    if (e->is_open) {
        (void)fprintf(stream, "\nsteps      as the states will have them\n");
    } else {
        (void)fprintf(stream, "\nsteps      %s in each\n", span_text(e->steps, text));
        if (!s->problem->has_particles) {
            (void)fprintf(stream, "work       %.4g cells times steps in all\n", e->work);
        }
    }
    if (!s->problem->has_particles) { /* theirs is in lists of neighbours, which no run has yet */
        (void)fprintf(stream, "memory     about %s of the host's %s, for the runs at a time\n",
                      strake_size_text(c->memory, size),
                      strake_size_text((double)machine.memory, other));
    }
    (void)fprintf(stream, "table      about %s: %s\n", strake_size_text(c->table, size),
                  s->table.path);
    if (s->job.maps != NULL) {
        (void)fprintf(stream, "maps       %s, and what runs leave for them at most %s: %s\n",
                      strake_size_text(c->maps, size), strake_size_text(c->traces, other),
                      s->job.maps);
    }
    if (s->job.keep != NULL) {
        (void)fprintf(stream, "outputs    about %s: folders in %s\n",
                      strake_size_text(c->keep, size), s->job.keep);
    }
    if (s->deal.one_by_one) {
        (void)fprintf(stream, "\nwhere      one after the other, each on all of %s\n",
                      s->deal.where);
    } else {
        print_places(c, stream);
    }
    print_forecast(c, stream);
}

static strake_status write_check(strake_report_file *report, const scan_check *c,
                                 strake_error *error)
{
    strake_text text = {0};
    strake_json writer = strake_json_on(&text), *const json = &writer;
    const strake_scan *const s = c->s;
    const strake_scan_extent *const e = &s->extent;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_string(json, "case", c->first->file);
    strake_json_string(json, "problem", s->problem->name);
    strake_json_integer(json, "runs", s->values.runs);
    strake_json_integer(json, "runs_there", s->before);
    strake_json_numbers(json, "cells", 2, e->cells);
    strake_json_numbers(json, "steps", e->is_open ? 0 : 2, e->steps);
    strake_json_number(json, "work", e->is_open ? (double)NAN : e->work);
    strake_json_boolean(json, "one_by_one", s->deal.one_by_one);
    strake_json_number(json, "memory", s->problem->has_particles ? (double)NAN : c->memory);
    strake_json_number(json, "table_bytes", c->table);
    strake_json_number(json, "maps_bytes", c->maps);
    strake_json_number(json, "traces_bytes", c->traces);
    strake_json_number(json, "outputs_bytes", c->keep);
    strake_json_array(json, "places", STRAKE_JSON_LINES);
    for (int k = 0; k < c->places; k++) {
        const place *const p = &c->place[k];
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "where", p->where);
        strake_json_string(json, "name", p->name);
        strake_json_integer(json, "runs_at_a_time", p->most);
        strake_json_integer(json, "threads", p->threads);
        const bool has_need = p->has > 0.0 && !s->problem->has_particles;
        strake_json_number(json, "memory", has_need ? p->needs : (double)NAN);
        strake_json_number(json, "memory_there", p->has > 0.0 ? p->has : (double)NAN);
        strake_json_number(json, "items_per_second", p->rate);
        strake_json_number(json, "setup_seconds", p->setup);
        strake_json_end(json);
    }
    strake_json_end(json);
    strake_json_number(json, "seconds", c->seconds);
    strake_json_number(json, "seconds_of_the_fastest_place", c->most);
    strake_json_end(json);
    strake_text_append(&text, "\n", 1);
    const strake_status status = strake_report_end(report, &text, error);
    strake_text_free(&text);
    return status;
}

/* Says of a disk that cannot take what comes. A folder that is not there yet will be where the one around it is. */
static void warn_of_disk(const char *folder, double bytes)
{
    char need[32], have[32];
    char *const around = strake_path_folder(folder);
    const double own = strake_disk_free(folder);
    const double there = own < 0.0 && around != NULL ? strake_disk_free(around) : own;
    free(around);
    if (there >= 0.0 && bytes > there) {
        strake_say_warning("%s needs about %s, but its disk has only %s free", folder,
                           strake_size_text(bytes, need), strake_size_text(there, have));
    }
}

int strake_scan_check(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_scan s = {.arguments = arguments};
    scan_check *const c = calloc(1, sizeof *c);
    strake_report_file report = {0};
    STRAKE_CHECK(c != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a scan");
    c->s = &s;
    STRAKE_TRY(strake_scan_prepare(&s, error));
    STRAKE_TRY(strake_scan_maps_find(&s.job, &s.table, error));
    STRAKE_TRY(strake_report_begin(&report, arguments->report, error));
    (void)strake_scan_count_rows(&s);
    c->first = s.first;
    c->left = s.values.runs - s.before;
    STRAKE_TRY(try_all(c, error));
    for (int64_t k = 0; k < s.values.runs; k++) {
        s.extent.work += s.task[k].done ? 0.0 : s.task[k].work;
    }
    add_files(c);
    if (c->left > 0) {
        strake_scan_plan_deal(&s);
        c->memory = s.deal.one_by_one ? strake_scan_bytes(c->first) : 0.0;
        STRAKE_TRY(s.deal.one_by_one ? STRAKE_OK : find_places(c, error));
    }
    STRAKE_TRY(predict(c, error));
    print_check(c, strake_table_stream(arguments->report));
    warn_of_disk(s.job.keep != NULL ? s.job.keep : ".", c->keep);
    warn_of_disk(s.job.maps != NULL ? s.job.maps : ".", c->maps + c->traces);
    STRAKE_TRY(report.path != NULL ? write_check(&report, c, error) : STRAKE_OK);
cleanup:
    strake_report_drop(&report);
    strake_scan_values_free(&s.values);
    strake_scan_table_free(&s.table);
    strake_case_close(&s.first);
    free(s.task);
    free(c);
    return status != STRAKE_OK ? strake_say_error(error) : STRAKE_EXIT_DONE;
}
