/* `strake problem`: problems in C files of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/suggest.h"
#include "case/case.h"
#include "case/source.h"
#include "engine/graph.h"
#include "output/report.h"
#include "program/command.h"
#include "program/completion.h"
#include "program/say.h"
#include "program/summary.h"
#include "solver/problem_file.h"
#include "solver/solver.h"

strake_status strake_problem_named(const char *name, const strake_problem **out,
                                   strake_error *error)
{
    enum { MOST = 64 };
    const char *known[MOST + 1] = {NULL};
    char problems[1000] = "";
    if (name != NULL && strake_problem_is_file(name)) {
        return strake_problem_open(name, out, error);
    }
    *out = name != NULL ? strake_problem_find(name) : NULL;
    if (*out != NULL) {
        return STRAKE_OK;
    }
    for (int p = 0; p < MOST && strake_problem_at(p) != NULL; p++) {
        const size_t used = strlen(problems);
        known[p] = strake_problem_at(p)->name;
        (void)snprintf(problems + used, sizeof problems - used, "%s%s", p > 0 ? ", " : "",
                       known[p]);
    }
    if (name == NULL) {
        return strake_fail(error, STRAKE_ERR_USAGE, "PROBLEM: one of %s, or a file FILE.c",
                           problems);
    }
    const char *const near = strake_suggest(name, known);
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "there is no problem '%s'%s%s%s; expected one of %s, or a file FILE.c", name,
                       near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?)" : "", problems);
}

/* Prints the template, in which a problem's name and its file's stand for those of the example. */
static int print_template(const char *name)
{
    static const char its[] = "heat2d", file[] = "heat.";
    const char *text = (const char *)strake_template_texts[0].bytes;
    if (!strake_name_is_word(name, STRAKE_NAME_LENGTH - 1)) {
        strake_say("problem new: found '%s', expected a name of at most %d letters, digits and _ "
                   "that begins with a letter, such as shallow_water",
                   name, STRAKE_NAME_LENGTH - 1);
        return STRAKE_EXIT_USAGE;
    }
    if (strake_problem_find(name) != NULL) {
        strake_say("problem new: there is a problem %s already; choose another name", name);
        return STRAKE_EXIT_USAGE;
    }
    while (*text != '\0') {
        const bool is_name = strncmp(text, its, sizeof its - 1) == 0;
        const bool is_its_file = !is_name && strncmp(text, file, sizeof file - 1) == 0;
        if (is_name || is_its_file) {
            (void)printf("%s%s", name, is_its_file ? "." : "");
            text += is_name ? sizeof its - 1 : sizeof file - 1;
        } else {
            (void)putchar(*text++);
        }
    }
    return STRAKE_EXIT_DONE;
}

static void print_compiler_line(void *user, const char *line)
{
    (void)user;
    (void)fprintf(stderr, "%s\n", line);
}

/* The problem's example as a case. @param[in] more  "PATH=VALUE", or NULL */
static strake_status open_example(const char *file, const strake_problem *problem, const char *more,
                                  strake_case **out, strake_error *error)
{
    const char *const sets[] = {more, NULL};
    strake_text text = {0};
    strake_status status = STRAKE_OK;
    strake_text_print(&text, "problem: {file: ");
    strake_text_quote(&text, file);
    strake_text_print(&text, "}\n%s", problem->example != NULL ? problem->example : "");
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "%s: out of memory", file);
    STRAKE_TRY(strake_case_parse("its example", text.data, sets, false, out, error));
cleanup:
    strake_text_free(&text);
    return status;
}

static void print_tables(const strake_problem *problem)
{
    (void)printf("problem    %s: %s\n", problem->name, problem->text);
    for (int f = 0; f < problem->fields; f++) {
        const strake_field *const field = &problem->field[f];
        (void)printf("%s %-12s %-8s %-10s %s\n", f == 0 ? "fields    " : "          ", field->name,
                     field->unit,
                     field->is_derived ? "derived"
                     : field->is_state ? "state"
                                       : "input",
                     field->text);
    }
    for (int k = 0; k < problem->keys; k++) {
        const strake_key *const key = &problem->key[k];
        (void)printf("%s %s %s: %s\n", k == 0 ? "keys      " : "          ", key->path, key->unit,
                     key->text);
    }
    for (int q = 0; q < problem->quantities; q++) {
        (void)printf("%s %s %s: %s\n", q == 0 ? "measures  " : "          ",
                     problem->quantity[q].name, problem->quantity[q].unit,
                     problem->quantity[q].text);
    }
}

/* "-1..1": cells before and after that stages read around one, along an axis. */
static void print_halo(const strake_graph *graph, int value, int dims)
{
    for (int d = 0; d < dims; d++) {
        const int axis = strake_axis_of(dims, d);
        (void)printf(" %2d..%-2d", -graph->value[value].lo[axis], graph->value[value].hi[axis]);
    }
}

static strake_status print_stages(const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double number[STRAKE_MAX_FIELDS] = {0.0};
    const int dims = which->problem->dims;
    strake_ops ops;
    strake_graph *const graph = calloc(1, sizeof *graph);
    STRAKE_CHECK(graph != NULL, error, STRAKE_ERR_MEMORY, "%s: out of memory", which->file);
    STRAKE_TRY(strake_case_graph(which, number, graph, error));
    (void)printf("\nvalue                   formula                 halo on each axis\n");
    for (int v = 0; v < graph->values; v++) {
        if (graph->value[v].stage < 0 && !graph->value[v].is_constant && graph->value[v].is_live) {
            (void)printf("%-23.23s %-23s", graph->value[v].name, "(array)");
            print_halo(graph, v, dims);
            (void)printf("\n");
        }
    }
    for (int s = 0; s < graph->stages; s++) {
        const strake_stage *const stage = &graph->stage[s];
        const strake_value *const value = &graph->value[stage->output];
        (void)printf("%-23.23s %-23.23s", value->name, stage->point->name);
        print_halo(graph, stage->output, dims);
        (void)printf("%s\n", value->is_static ? "  once for all steps" : "");
    }
    ops = strake_graph_ops(graph);
    (void)printf("\nwork       %d additions, %d multiplications, %d divisions, %d comparisons, and "
                 "at least %d bytes per cell and step\n",
                 ops.adds, ops.muls, ops.divs, ops.selects, strake_graph_bytes(graph));
cleanup:
    free(graph);
    return status;
}

/* Whether the example is a case, and its stages are those of a problem with these fields. */
static strake_status try_example(const char *file, const strake_problem *problem,
                                 strake_error *error)
{
    double number[STRAKE_MAX_FIELDS] = {0.0};
    strake_case *which = NULL;
    strake_graph *const graph = calloc(1, sizeof *graph);
    strake_status status = graph != NULL ? open_example(file, problem, NULL, &which, error)
                                         : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory");
    status = status == STRAKE_OK ? strake_case_graph(which, number, graph, error) : status;
    strake_case_close(&which);
    free(graph);
    return status;
}

static int build(const char *file)
{
    strake_error error;
    const strake_problem *problem = NULL;
    const double start = strake_clock_seconds();
    if (strake_problem_build(file, print_compiler_line, NULL, &error) != STRAKE_OK ||
        strake_problem_open(file, &problem, &error) != STRAKE_OK) {
        return strake_say_error(&error);
    }
    if (problem->example != NULL && try_example(file, problem, &error) != STRAKE_OK) {
        return strake_say_error(&error);
    }
    if (!strake_is_quiet()) {
        (void)printf("%s: %s is built (%.1f s). Next:\n"
                     "  strake problem check %s\n"
                     "  strake new %s >case.yaml && strake run case.yaml\n",
                     file, problem->name, strake_clock_seconds() - start, file, file);
    }
    return STRAKE_EXIT_DONE;
}

/* What is said of a time step that is too long names the longest that is stable. */
static void print_bound(const char *file, const strake_problem *problem,
                        const strake_options *options)
{
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_error error;
    if (problem->is_adaptive) {
        (void)printf(
            "time step  follows from the states: the least value of the first reduction\n");
        return;
    }
    strake_status status = open_example(file, problem, "time.dt=1e6", &which, &error);
    status = status == STRAKE_OK ? strake_open(which, options, &solver, &error) : status;
    const char *const text = status != STRAKE_OK ? strstr(error.text, "time.dt: ") : NULL;
    (void)printf("time step  %s\n",
                 status == STRAKE_OK ? "any: nothing checks that it is stable (survey, judge)"
                 : text != NULL      ? strstr(text, "at most") != NULL ? strstr(text, "at most")
                                                                       : text + strlen("time.dt: ")
                                     : error.text);
    strake_close(&solver);
    strake_case_close(&which);
}

static int check(const strake_arguments *arguments)
{
    strake_error error;
    strake_status status = STRAKE_OK;
    const char *const file = arguments->operand[1];
    const strake_options options = strake_solver_options(arguments);
    const strake_problem *problem = NULL;
    strake_case *which = NULL;
    strake_solver *solver = NULL;
    strake_forecast forecast;
    char rate[32], shape_text[72];
    int64_t shape[3];
    int dims = 0;
    STRAKE_TRY(strake_problem_open(file, &problem, &error));
    print_tables(problem);
    STRAKE_TRY(open_example(file, problem, NULL, &which, &error));
    STRAKE_TRY(print_stages(which, &error));
    print_bound(file, problem, &options);
    STRAKE_TRY(strake_open(which, &options, &solver, &error));
    status = strake_solver_predict(solver, &forecast, &error);
    if (status == STRAKE_ERR_STATE) { /* the reference is never timed */
        status = STRAKE_OK;
        goto cleanup;
    }
    STRAKE_TRY(status);
    dims = strake_case_shape(which, shape);
    (void)printf("prediction its example, %s cells: %.4g ms a step, %s (`strake check CASE.yaml` "
                 "says the same of a case)\n",
                 strake_shape_text(dims, shape, shape_text), 1e3 * forecast.seconds,
                 strake_rate_text(strake_case_cells(which) / forecast.seconds, rate));
cleanup:
    strake_close(&solver);
    strake_case_close(&which);
    return status == STRAKE_OK ? STRAKE_EXIT_DONE : strake_say_error(&error);
}

static int command(const strake_arguments *arguments)
{
    static const char *const known[] = {"new", "build", "check", NULL};
    const char *const what = arguments->operand[0];
    const char *const name = arguments->operands > 1 ? arguments->operand[1] : NULL;
    strake_be_quiet(arguments->quiet);
    if (strcmp(what, "new") == 0) {
        return print_template(name != NULL ? name : "heat2d");
    }
    if (strcmp(what, "build") != 0 && strcmp(what, "check") != 0) {
        const char *const near = strake_suggest(what, known);
        strake_say("problem: found '%s'%s%s%s, expected new, build or check", what,
                   near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?)" : "");
        return STRAKE_EXIT_USAGE;
    }
    if (name == NULL) {
        strake_say("problem %s needs FILE.c; `strake problem new` prints one to begin with", what);
        return STRAKE_EXIT_USAGE;
    }
    return strcmp(what, "build") == 0 ? build(name) : check(arguments);
}

static const strake_option options[] = {
    STRAKE_TEXT("--on", on, "WHERE", "where `check` predicts (default: auto)"),
    STRAKE_OPTION_THREADS, STRAKE_FLAG("--quiet", quiet, "print nothing but errors"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_problem = {
    .name = "problem",
    .operands = "new [NAME] | build FILE.c | check FILE.c",
    .operands_least = 1,
    .operands_most = 2,
    .text = "Your own equations in one C file: begins, compiles and explains it",
    .option = options,
    .details =
        "new    prints a commented file that runs as it stands: heat conduction.\n"
        "build  compiles a file with the system's C compiler (CC, or cc, gcc, clang) for every\n"
        "       instruction set that this program has, in both precisions, into the user's cache\n"
        "       (STRAKE_CACHE_DIR, or ~/.cache/strake). OpenCL devices compile it when it runs.\n"
        "       Errors name the file and its lines. Build again after each change.\n"
        "check  says what a step consists of: fields, stages, halos, operations, bytes, the bound "
        "on\n"
        "       the time step, and how long steps of its example take here.\n"
        "\n"
        "A case names the file: `problem: {file: FILE.c}`, relative to the case. Such a file is "
        "code:\n"
        "it runs only where you have built it, as it is now; a case alone never makes code run.\n"
        "After that everything works with it as with Strake's own problems: run on any device, "
        "tune,\n"
        "bench, model, check, scan, checkpoints, MPI, all formats, Python.\n",
    .examples = "  strake problem new plate >plate.c && strake problem build plate.c\n"
                "  strake new plate.c >plate.yaml && strake run plate.yaml && strake view out\n"
                "  strake problem check plate.c --on cpu\n",
    .run = command};
