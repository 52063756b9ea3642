/* `strake check`: validates a case, places it, and says what a run would do and how long that takes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/source.h"
#include "engine/graph.h"
#include "output/output.h"
#include "output/report.h"
#include "program/options.h"
#include "program/command.h"
#include "program/say.h"
#include "program/report_file.h"
#include "program/scan_plan.h"
#include "program/summary.h"

/* Part of the trials that processors were busy with other programs from which on that is told. */
static const double busy = 0.02;

/* Stages that run in every step, or -1 where the graph cannot be built without the solver. */
static int count_stages(const strake_case *which)
{
    double number[STRAKE_MAX_FIELDS] = {0.0};
    int count = -1;
    strake_graph *const graph = calloc(1, sizeof *graph);
    if (graph != NULL && strake_case_graph(which, number, graph, NULL) == STRAKE_OK) {
        count = 0;
        for (int s = 0; s < graph->stages; s++) {
            count += !graph->value[graph->stage[s].output].is_static;
        }
    }
    free(graph);
    return count;
}

static void print_outputs(const strake_case *which, const strake_solver *solver, FILE *stream)
{
    char size[32];
    bool any = false;
    (void)fprintf(stream, "output     ");
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f]) {
            (void)fprintf(stream, "%s%s", any ? ", " : "", which->problem->field[f].name);
            any = true;
        }
    }
    if (!any) {
        (void)fprintf(stream, "none\n");
    } else if (which->output_every > 0) {
        (void)fprintf(stream, " every %lld steps and at the last", (long long)which->output_every);
    } else if (which->output_seconds > 0.0) {
        (void)fprintf(stream, " every %.10g s and at the last step", which->output_seconds);
    } else {
        (void)fprintf(stream, " at the last step");
    }
    if (any) {
        (void)fprintf(stream, ": %s in folder %s\n",
                      strake_size_text(strake_output_bytes(which, solver, 0), size),
                      which->output_directory);
    }
    if (which->checkpoint_every > 0) {
        (void)fprintf(stream, "checkpoint every %lld steps\n", (long long)which->checkpoint_every);
    }
    if (which->checkpoint_seconds > 0.0) {
        (void)fprintf(stream, "checkpoint every %.10g s\n", which->checkpoint_seconds);
    }
    if (which->checkpoint_minutes > 0.0) {
        (void)fprintf(stream, "checkpoint every %.10g minutes of the run\n",
                      which->checkpoint_minutes);
    }
}

static void print_case(const strake_case *which, const strake_solver *solver, FILE *stream)
{
    char shape_text[72], size[32];
    int64_t shape[3];
    const int dims = strake_case_shape(which, shape);
    const int stages = count_stages(which);
    (void)fprintf(stream, "%s is valid\n\n", which->file);
    (void)fprintf(stream, "problem    %s, %s precision\n", which->problem->name,
                  strake_precision_name(which->precision));
    (void)fprintf(stream, "grid       %s = %.0f cells\n",
                  strake_shape_text(dims, shape, shape_text), strake_case_cells(which));
    for (int d = 0; d < dims; d++) {
        const int axis = strake_axis_of(dims, d);
        (void)fprintf(stream, "%s%s %s", d == 0 ? "boundary   " : ", ",
                      strake_axis_name(dims, axis),
                      strake_boundary_name(strake_case_boundary(which, axis)));
    }
    (void)fprintf(stream, "\n");
    if (which->problem->is_adaptive) {
        (void)fprintf(stream, "time       %.10g s in steps of at most %.10g s\n", which->end,
                      which->dt_max);
    } else if (which->tolerance > 0.0) {
        const bool has_end = which->end > 0.0;
        (void)fprintf(stream,
                      "time       %.10g %s as their error allows, at time.tolerance %.10g\n",
                      has_end ? which->end : (double)which->steps, has_end ? "s in steps" : "steps",
                      which->tolerance);
    } else if (which->end > 0.0) {
        (void)fprintf(stream,
                      "time       %.10g s in steps as the flow allows, at time.courant %.10g\n",
                      which->end, which->courant);
    } else if (which->courant > 0.0) {
        (void)fprintf(stream, "time       %lld steps as the flow allows, at time.courant %.10g\n",
                      (long long)which->steps, which->courant);
    } else {
        (void)fprintf(stream, "time       %lld steps of %.10g s\n", (long long)which->steps,
                      which->dt);
    }
    (void)fprintf(stream, "work       ");
    if (stages >= 0) {
        (void)fprintf(stream, "%d stages, ", stages);
    }
    (void)fprintf(stream, "%d operations and at least %d bytes per cell and step\n",
                  strake_solver_flops_per_cell(solver), strake_solver_bytes_per_cell(solver));
    (void)fprintf(stream, "memory     about %s for the fields\n",
                  strake_size_text(strake_case_bytes(which), size));
}

static void print_parts(const strake_case *which, const strake_solver *solver,
                        const strake_part_report *part, FILE *stream)
{
    const int count = strake_solver_parts(solver, NULL, 0);
    const double slabs = (double)strake_solver_describe(solver).slabs;
    (void)fprintf(stream, "\n%-8s %-40s %9s %6s %8s\n", "where", "device", strake_slab_name(which),
                  "share", "threads");
    for (int k = 0; k < count && k < STRAKE_MAX_PARTS; k++) {
        const strake_part_report *const p = &part[k];
        (void)fprintf(
            stream, "%-8.8s %-40.40s %9lld %4.0f %% %8d%s\n", p->id, p->name,
            (long long)(p->end - p->first), 100.0 * (double)(p->end - p->first) / slabs, p->threads,
            p->bit_exact ? "" : "\n         (not bit-exact: failed the arithmetic self-test)");
    }
}

/* What was known before, or what trial steps showed; nothing where there is no line of the kind. */
static void print_choices(const strake_choice *choice, int count, bool predicted, FILE *stream)
{
    bool any = false;
    for (int k = 0; k < count; k++) {
        if (choice[k].predicted != predicted) {
            continue;
        }
        if (!any) {
            (void)fprintf(stream, "\n%-16s %12s  %s\n", predicted ? "predicted" : "measured",
                          "ms a step", predicted ? "from" : "why it runs there or not");
        }
        any = true;
        (void)fprintf(stream, "%-16.40s ", choice[k].where);
        if (choice[k].seconds > 0.0) {
            (void)fprintf(stream, "%12.4g", 1e3 * choice[k].seconds);
        } else {
            (void)fprintf(stream, "%12s", "-");
        }
        (void)fprintf(stream, "  %s%s\n", choice[k].why, choice[k].taken ? ": it runs there" : "");
    }
}

/*
 * Trial steps compute every cell, and how many steps there are follows from states that nobody knows yet: only the
 * least number of them is known, and what one takes at most.
 */
static double least_steps(const strake_case *which)
{
    const double longest = which->problem->is_adaptive ? which->dt_max : which->dt;
    return fmin(ceil(which->end / longest), (double)which->steps);
}

static void print_open_forecast(const strake_case *which, const strake_forecast *f, FILE *stream)
{
    char rate[32];
    const bool is_paced = !which->problem->is_adaptive;
    (void)fprintf(stream, "\nprediction %s%.4g ms a step%s: %s\n", is_paced ? "" : "at most ",
                  1e3 * f->seconds, is_paced ? "" : ", where every cell is active",
                  strake_rate_text(strake_case_cells(which) / f->seconds, rate));
    (void)fprintf(stream, "           %.0f steps or more, as the %s will have it\n",
                  fmax(1.0, least_steps(which)),
                  which->tolerance > 0.0 ? "error"
                  : is_paced             ? "flow"
                                         : "states");
}

/* What a run would take, from trial steps, and what that was compared with. */
static void print_forecast(const strake_case *which, const strake_solver *solver,
                           const strake_forecast *f, FILE *stream)
{
    char rate[32];
    const double steps = (double)which->steps;
    const strake_choice *choice = NULL;
    const int count = strake_solver_choices(solver, &choice);
    if (count > 1) {
        print_choices(choice, count, true, stream);
        print_choices(choice, count, false, stream);
    }
    if (strake_case_ends_in_time(which)) {
        print_open_forecast(which, f, stream);
        return;
    }
    (void)fprintf(stream, "\nprediction %.4g ms a step, %s; %lld steps in about %.3g s\n",
                  1e3 * f->seconds, strake_rate_text(strake_case_cells(which) / f->seconds, rate),
                  (long long)which->steps, f->seconds * steps);
    (void)fprintf(stream,
                  "           between %.3g and %.3g ms a step in %d trials: %.3g to %.3g s\n",
                  1e3 * f->low, 1e3 * f->high, f->trials, f->low * steps, f->high * steps);
    if (f->waited > busy) {
        (void)fprintf(stream,
                      "           other programs had the processors for %.0f %% of the trials: the "
                      "shorter time\n           is what would be left without them\n",
                      100.0 * f->waited);
    }
}

/* A number of a report with its name. */
/* What the command prints, for other programs. */
static strake_status write_report(strake_report_file *report, const strake_case *which,
                                  const strake_solver *solver, const strake_part_report *part,
                                  const strake_forecast *f, strake_error *error)
{
    strake_text text = {0};
    strake_json writer = strake_json_on(&text), *const json = &writer;
    const int count = strake_solver_parts(solver, NULL, 0);
    /* Not a number, null there, where nobody knows how many there will be. */
    const bool is_open = strake_case_ends_in_time(which);
    const double steps = is_open ? (double)NAN : (double)which->steps;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_report_host(json);
    strake_json_object(json, "case", STRAKE_JSON_LINE);
    strake_json_string(json, "file", which->file);
    strake_json_string(json, "problem", which->problem->name);
    strake_report_shape(which, json);
    if (is_open) {
        strake_json_number(json, "end", which->end);
        strake_json_number(json, "least_steps",
                           which->problem->has_particles ? (double)NAN : least_steps(which));
    } else {
        strake_json_integer(json, "steps", which->steps);
    }
    strake_json_end(json);
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    for (int k = 0; k < count && k < STRAKE_MAX_PARTS; k++) {
        strake_report_device(which, &part[k], json);
    }
    strake_json_end(json);
    strake_report_choices(solver, json);
    if (f->trials > 0) {
        strake_json_object(json, "forecast", STRAKE_JSON_LINE);
        strake_json_integer(json, "trials", f->trials);
        strake_json_number(json, "seconds_per_step", f->seconds);
        strake_json_number(json, "seconds_per_step_low", f->low);
        strake_json_number(json, "seconds_per_step_high", f->high);
        strake_json_number(json, "seconds", steps * f->seconds);
        strake_json_number(json, "seconds_low", steps * f->low);
        strake_json_number(json, "seconds_high", steps * f->high);
        strake_json_number(json, "waited", f->waited);
        strake_json_end(json);
    } else {
        strake_json_null(json, "forecast");
    }
    strake_json_end(json);
    strake_text_append(&text, "\n", 1);
    const strake_status status = strake_report_end(report, &text, error);
    strake_text_free(&text);
    return status;
}

/* What is told of particles. */
typedef struct notes {
    strake_text text;
    bool is_trying; /* steps that nobody goes on with: what they meet stands beside the forecast */
} notes;

/* What stands where at the start is told while particles are placed; warnings go where they always go. */
static void gather(void *user, const char *line)
{
    notes *const n = user;
    if (n->is_trying) {
        return;
    }
    if (strncmp(line, STRAKE_NOTICE_WARNING, strlen(STRAKE_NOTICE_WARNING)) == 0) {
        strake_notice(NULL, line);
    } else {
        strake_text_print(&n->text, "%s\n", line);
    }
}

/* Steps of the case itself, which nobody goes on with: there are no trials of particles. */
static strake_status time_particles(strake_solver *solver, strake_forecast *f, strake_error *error)
{
    enum { TRIALS = 5, MOST = 256 };
    static const double enough = 0.1;
    strake_status status = STRAKE_OK;
    double seconds[TRIALS] = {0.0};
    const double waited[TRIALS] = {0.0};
    double step = 0.0;
    int trials = 0;
    STRAKE_TRY(strake_step(solver, 1, error));
    for (int k = -1; k < TRIALS; k++) { /* the first one only tells how many steps suffice */
        const double wanted = step > 0.0 ? enough / step : 2.0;
        const int64_t steps = wanted < 1.0 ? 1 : wanted < MOST ? (int64_t)wanted : MOST;
        const double begin = strake_solver_step_seconds(solver);
        const int64_t before = strake_step_count(solver);
        STRAKE_TRY(strake_step(solver, steps, error));
        const int64_t done = strake_step_count(solver) - before;
        if (done == 0) {
            break; /* the case has ended */
        }
        step = (strake_solver_step_seconds(solver) - begin) / (double)done;
        seconds[trials] = step;
        trials += k >= 0 ? 1 : 0;
    }
    if (trials > 0) {
        *f = strake_forecast_of(seconds, waited, trials);
    }
cleanup:
    if (status != STRAKE_OK) {
        const strake_error cause = *error;
        status = strake_fail(error, status, "trial steps fail: %s", cause.text);
    }
    return status;
}

static void print_particles(const strake_case *which, const strake_text *text, FILE *stream)
{
    (void)fprintf(stream, "%s is valid\n\nproblem    %s, %s precision\n%s", which->file,
                  which->problem->name, strake_precision_name(which->precision),
                  text->data != NULL ? text->data : "");
}

/* By now they have lists of neighbours, which take most of their memory. */
static void print_particles_forecast(const strake_solver *solver, const strake_forecast *f,
                                     FILE *stream)
{
    const strake_choice *choice = NULL;
    char size[32];
    const int count = strake_solver_choices(solver, &choice);
    const strake_domain_report domain = strake_solver_describe(solver);
    if (count > 1) {
        print_choices(choice, count, false, stream);
    }
    if (f->trials > 0) {
        (void)fprintf(stream, "\nprediction %.4g ms a step at the beginning", 1e3 * f->seconds);
        if (f->trials > 1) {
            (void)fprintf(stream, ", between %.3g and %.3g in %d trials", 1e3 * f->low,
                          1e3 * f->high, f->trials);
        }
        (void)fprintf(stream, ": %.4g %s\n", domain.items / f->seconds / domain.rate_unit,
                      domain.rate);
    }
    (void)fprintf(stream, "memory     %s where they are computed, %.0f bytes a particle\n",
                  strake_size_text(domain.memory, size), domain.memory / domain.items);
    if (domain.losses > 0) {
        (void)fprintf(stream, "lost       %lld particles left the box in these %lld steps\n",
                      (long long)domain.losses, (long long)strake_step_count(solver));
    }
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_part_report *part = NULL;
    strake_forecast forecast = {.trials = 0};
    int code = STRAKE_EXIT_DONE;
    strake_report_file report = {0};
    FILE *const stream = strake_table_stream(arguments->report);
    strake_options settings = strake_solver_options(arguments);
    notes told = {.is_trying = false};
    bool has_particles = false;
    if (strake_scan_is_asked(arguments)) {
        return strake_scan_check(arguments);
    }
    STRAKE_TRY(strake_case_from(arguments, &which, error));
    has_particles = which->problem->has_particles;
    if (has_particles) {
        settings.notice = gather;
        settings.user = &told;
    }
    STRAKE_TRY(strake_output_look(which, strake_formats, error));
    STRAKE_TRY(strake_case_check_alone(which, which->steps, error));
    STRAKE_TRY(strake_report_begin(&report, arguments->report, error));
    STRAKE_TRY(strake_open(which, &settings, &solver, error));
    part = calloc(STRAKE_MAX_PARTS, sizeof *part);
    STRAKE_CHECK(part != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    (void)strake_solver_parts(solver, part, STRAKE_MAX_PARTS);
    if (has_particles) {
        print_particles(which, &told.text, stream);
    } else {
        print_case(which, solver, stream);
    }
    print_outputs(which, solver, stream);
    print_parts(which, solver, part, stream);
    strake_summary_print_cpu(part, strake_solver_parts(solver, NULL, 0), stream);
    if (has_particles) {
        told.is_trying = true;
        STRAKE_TRY(time_particles(solver, &forecast, error));
        print_particles_forecast(solver, &forecast, stream);
    } else if (strcmp(part[0].id, "serial") != 0) {
        STRAKE_TRY(strake_solver_predict(solver, &forecast, error));
        print_forecast(which, solver, &forecast, stream);
    }
    if (report.path != NULL) {
        STRAKE_TRY(write_report(&report, which, solver, part, &forecast, error));
    }
cleanup:
    if (status != STRAKE_OK) {
        code = strake_say_error(error);
    }
    free(part);
    strake_text_free(&told.text);
    strake_report_drop(&report);
    strake_close(&solver);
    strake_case_close(&which);
    return code;
}

static const strake_option options[] = {
    STRAKE_OPTIONS_CASE,
    STRAKE_TEXT("--report", report, "FILE.json", "write the same as JSON; - is standard output"),
    STRAKE_OPTIONS_VALUES, STRAKE_OPTIONS_SCAN, STRAKE_OPTIONS_END};

const strake_command strake_command_check = {
    .name = "check",
    .operands = "CASE.yaml",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Validates a case and says what would run where",
    .option = options,
    .details =
        "Reads the case and every file it names, checks ranges, shapes and stability, and\n"
        "places it on processors as `strake run` would; times trial steps there and says how\n"
        "long the run would take, and why on these processors. The forecast is the median of\n"
        "several trials with the range of them, which is wide where other programs run; its\n"
        "lower end is the shortest trial less the time that other programs had the processors.\n"
        "Of particles it times the first steps. - for CASE.yaml reads it from standard input.\n"
        "\n"
        "With --over or --vents, and all else that `strake scan` is told, it says what that scan\n"
        "will take: reads the case of each run and makes its fields (of runs that lie evenly\n"
        "where all have more than 2e8 cells together), so that a value which is wrong is found;\n"
        "counts runs, cells and steps, those in the table not among them; says how many runs\n"
        "stand side by side on each place, and the memory and disk space that they need; and\n"
        "times trial steps of so many runs on each place. The time is unknown where the states\n"
        "decide how many steps there are, and where runs come one after the other.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples = "  strake check cone.yaml\n"
                "  strake check cone.yaml --on cpu,ocl:0 --split 1,3\n"
                "  strake check cone.yaml --set grid.rows=100000\n"
                "  strake check cone.yaml --over time.dt=0.02:0.1:5 --on cpu,gpu:0\n"
                "  strake new mpdata2d | strake check -\n",
    .run = command};
