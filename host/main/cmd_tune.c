/* `strake tune`: finds the fastest settings of processors and keeps them in the user's cache. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "autotune/tune_case.h"
#include "base/file.h"
#include "main/interrupt.h"
#include "main/places.h"
#include "main/command.h"
#include "main/say.h"
#include "main/tuning.h"

enum { BUDGET = 180, MOST_BYTES = 1 << 20 /* of a space */ };

/* What is tuned: devices by index, -1 the CPU. */
typedef struct places {
    int count;
    int device[STRAKE_MOST_PLACES + 1];
} places;

/* Each once, however often it is listed. */
static void collect(const strake_places *found, places *all)
{
    if (found->cpu) {
        all->device[all->count++] = -1;
    }
    for (int k = 0; k < found->devices; k++) {
        bool again = false;
        for (int j = 0; j < all->count; j++) {
            again = again || all->device[j] == found->device[k];
        }
        if (!again) {
            all->device[all->count++] = found->device[k];
        }
    }
}

/* Equal devices need the same settings: the first stands for all. */
static bool is_repeated(const places *all, int k, const strake_cl_list *list)
{
    for (int j = 0; j < k && all->device[k] >= 0; j++) {
        const strake_cl_device *const a = &list->device[all->device[k]];
        if (all->device[j] < 0) {
            continue;
        }
        const strake_cl_device *const b = &list->device[all->device[j]];
        if (strcmp(a->name, b->name) == 0 && strcmp(a->driver, b->driver) == 0 &&
            strcmp(a->platform_name, b->platform_name) == 0) {
            return true;
        }
    }
    return false;
}

static void print_class(const strake_tuned_class *class, int dims)
{
    char grid[STRAKE_GRID_TEXT], before[32], after[32], settings[900], searched[STRAKE_TUNED_TEXT];
    const double cells = (double)class->n[0] * (double)class->n[1] * (double)class->n[2];
    (void)printf("  %-15s %13s %13s %6.2f", strake_grid_text(dims, class->n, grid),
                 strake_rate_text(cells / class->fallback, before),
                 strake_rate_text(cells / class->seconds, after), class->fallback / class->seconds);
    if (class->baseline > 0.0) {
        (void)printf(" %9.2f", class->baseline / class->seconds);
    } else {
        (void)printf(" %9s", "-");
    }
    (void)printf(" %5.1f %%\n    %s\n    %s\n", 100.0 * class->spread,
                 strake_settings_text(class->settings, class->setting, settings, sizeof settings),
                 strake_tuned_search_text(class, searched, sizeof searched));
}

static void print_counts(const strake_tune_result *result)
{
    bool any = false;
    for (int k = STRAKE_OUTCOME_BUILD; k <= STRAKE_OUTCOME_WRONG; k++) {
        if (result->count[k] > 0) {
            (void)printf("%s %d %s", any ? "," : "  failed and left out:", result->count[k],
                         strake_outcome_word((strake_outcome)k));
            any = true;
        }
    }
    (void)printf("%s", any ? "\n" : "");
    for (int c = 0; c < result->space->constraints; c++) {
        if (result->pruned[c] > 0) {
            (void)printf("  ruled out without compiling%s: %lld, because %s\n",
                         result->record.classes > 1 ? " (all grids)" : "",
                         (long long)result->pruned[c], result->why[c]);
        }
    }
}

static void print_result(const char *where, const strake_tune_result *result)
{
    const int dims = strake_problem_find(result->space->problem)->dims;
    (void)printf("%s: %s, %s, %s precision%s\n", where, result->record.key.device,
                 result->space->problem, strake_precision_name(result->record.key.precision),
                 result->already ? ": tuned already, --force tunes again" : "");
    if (result->record.classes > 0) {
        (void)printf("  %-15s %13s %13s %6s %9s %7s\n", "grid", "default", "tuned", "gain",
                     "of naive", "spread");
    }
    for (int c = 0; c < result->record.classes; c++) {
        print_class(&result->record.class[c], dims);
    }
    if (result->record.streaming.streams > 0) {
        const strake_tuned_streaming *const s = &result->record.streaming;
        (void)printf(
            "  grids larger than the memory: %d stream%s, more are no faster; link %.1f GB/s "
            "up, %.1f down\n",
            s->streams, s->streams > 1 ? "s" : "", 1e-9 * s->up, 1e-9 * s->down);
    }
    if (result->record.todo > 0) {
        (void)printf("  %d grid%s still to do: run `strake tune` again with the same options to go "
                     "on\n",
                     result->record.todo, result->record.todo > 1 ? "s are" : " is");
    }
    print_counts(result);
    if (result->ahead > 0) {
        (void)printf("  built ahead beside the measurements: %d\n", result->ahead);
    }
    if (result->resumed > 0) {
        (void)printf("  taken over from a tuning that was interrupted: %d measurement%s\n",
                     result->resumed, result->resumed == 1 ? "" : "s");
    }
}

static int tune_places(const strake_arguments *arguments, const char *space, const places *all,
                       const strake_cl_list *list, double begin, strake_error *error)
{
    int code = STRAKE_EXIT_DONE;
    static strake_tune_result result; /* large */
    const double budget = arguments->budget > 0.0 ? arguments->budget : BUDGET;
    for (int k = 0; k < all->count && !strake_interrupted(); k++) {
        char where[24] = "cpu";
        const int d = all->device[k];
        const double left = budget - (strake_clock_seconds() - begin);
        if (is_repeated(all, k, list)) {
            strake_say_note("ocl:%d is like another device: it uses the same settings", d);
            continue;
        }
        if (d >= 0) {
            (void)snprintf(where, sizeof where, "ocl:%d", d);
        }
        const strake_tuning_request request = {
            .where = where,
            .cl = list->cl,
            .device = d >= 0 ? &list->device[d] : NULL,
            .space = space,
            .space_name = arguments->space,
            .problem =
                arguments->problem == NULL && space == NULL ? "mpdata2d" : arguments->problem,
            .sets = arguments->sets,
            .cache = arguments->cache,
            .budget = left / (all->count - k),
            .force = arguments->force,
            .quiet = arguments->quiet};
        const strake_status status = strake_tuning_run(&request, &result, error);
        if (status != STRAKE_OK) {
            code = strake_say_error(error);
        } else if (!arguments->quiet) {
            print_result(where, &result);
        }
        strake_tune_end(&result);
        if (status == STRAKE_ERR_STATE || status == STRAKE_ERR_USAGE || status == STRAKE_ERR_IO) {
            break; /* the next would fail likewise */
        }
    }
    return strake_interrupted() ? STRAKE_EXIT_INTERRUPTED : code;
}

/*
 * A search space is for the CPU or for devices: of those that a word stands for the others are left out,
 * those that the user listed himself are a slip.
 */
static strake_status keep_places(const strake_arguments *arguments, const char *space, bool listed,
                                 places *all, strake_error *error)
{
    strake_status status = STRAKE_OK;
    bool any = false, is_cpu = false;
    int kept = 0;
    STRAKE_TRY(strake_space_place(arguments->space, space, &any, &is_cpu, error));
    for (int k = 0; k < all->count; k++) {
        const bool fits = any || is_cpu == (all->device[k] < 0);
        STRAKE_CHECK(fits || !listed, error, STRAKE_ERR_USAGE,
                     "--on %s: the search space %s is for %s", arguments->on, arguments->space,
                     is_cpu ? "the CPU; give --on cpu" : "OpenCL devices; leave cpu out of --on");
        all->device[kept] = all->device[k];
        kept += fits;
    }
    all->count = kept;
    STRAKE_CHECK(kept > 0, error, STRAKE_ERR_USAGE,
                 "the search space %s is for %s, and --on %s has none", arguments->space,
                 is_cpu ? "the CPU" : "OpenCL devices",
                 arguments->on != NULL ? arguments->on : "auto");
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    strake_cl_list list = {0};
    places all = {0};
    strake_places found;
    char *space = NULL;
    size_t length = 0;
    int code = STRAKE_EXIT_DONE;
    const double begin = strake_clock_seconds(); /* loading drivers counts */
    if (arguments->space != NULL) {
        STRAKE_TRY(
            strake_file_read(arguments->space, MOST_BYTES, "search space", &space, &length, error));
    }
    STRAKE_TRY(strake_cl_list_open(&list, error));
    STRAKE_TRY(strake_places_find(arguments->on, &list, "cannot be tuned", &found, error));
    collect(&found, &all);
    STRAKE_TRY(space != NULL ? keep_places(arguments, space, found.named, &all, error) : STRAKE_OK);
    strake_interrupt_install();
    code = tune_places(arguments, space, &all, &list, begin, error);
cleanup:
    if (status != STRAKE_OK) {
        code = strake_say_error(error);
    }
    strake_cl_list_free(&list);
    free(space);
    return code;
}

static const strake_option options[] = {
    STRAKE_TEXT("--on", on, "WHERE",
                "what to tune: a list of cpu, gpu:N and ocl:N, or\n"
                "gpu, hybrid, auto (default: the CPU and every device)"),
    STRAKE_TEXT("--problem", problem, "NAME", "for which problem (default: mpdata2d)"),
    STRAKE_NUMBER("--budget", REAL, budget, "SECONDS", 5, 1e6,
                  "time for everything together, kept within a tenth\n(default: 180, least: 5)"),
    STRAKE_FLAG("--force", force, "tune again what is tuned already"),
    STRAKE_TEXT(
        "--space", space, "FILE",
        "search this space instead of the program's own, on those\nof WHERE that it is for, "
        "or change some of that (autotune/\nREADME.md has the format)"),
    STRAKE_SET(
        "tune for another variant of the problem, for\nexample precision=single; repeatable"),
    STRAKE_TEXT("--cache", cache, "DIR", "folder of the results (default: the user's cache)"),
    STRAKE_FLAG("--quiet", quiet, "no progress, notes and summary"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_tune = {
    .name = "tune",
    .operands = "",
    .text = "Finds the fastest settings of processors, once for each",
    .option = options,
    .details =
        "Settings (kernels, work-groups, steps per sweep: the run.* keys of a case) change the\n"
        "speed, never the results. Every configuration runs in a process of its own and must give\n"
        "the bits of the reference. The defaults are measured first and stay unless something is\n"
        "faster. Runs find the results by device, driver and problem and say which they use; a\n"
        "case or a run's --set run.KEY=VALUE overrides a setting, --set run.tuned=false all of\n"
        "them. Here run.* cannot be set: a --space with one value fixes a key. Ctrl-C keeps what\n"
        "was found, and grids that the budget did not suffice for are told; the next\n"
        "`strake tune` goes on from there, and begins with results that are DISTURBED: half of\n"
        "their samples took 10 % longer than the shortest, or more. All measurements lie beside\n"
        "the results in the T4 format of other tuning tools.\n",
    .examples = "  strake tune\n"
                "  strake tune --on ocl:0 --budget 300\n"
                "  strake tune --on gpu --set precision=single\n",
    .run = command};
