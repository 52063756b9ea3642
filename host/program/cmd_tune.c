/* `strake tune`: finds the fastest settings of processors and keeps them in the user's cache. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "autotune/tune_case.h"
#include "base/file.h"
#include "case/source.h"
#include "program/interrupt.h"
#include "program/places.h"
#include "autotune/protocol.h"
#include "program/command.h"
#include "program/say.h"
#include "program/options.h"
#include "cost/tuned.h"

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

static void print_class(const strake_tuned_class *class, const strake_problem *problem)
{
    char grid[STRAKE_GRID_TEXT], before[32], after[32], settings[900], searched[STRAKE_TUNED_TEXT];
    const double cells = (double)class->n[0] * (double)class->n[1] * (double)class->n[2];
    (void)printf("  %-15s %13s %13s %6.2f",
                 strake_grid_text(strake_size_axes(problem), class->n, grid),
                 strake_rate_text_of(problem, cells / class->fallback, before),
                 strake_rate_text_of(problem, cells / class->seconds, after),
                 class->fallback / class->seconds);
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
    const strake_problem *const problem = strake_problem_find(result->space->problem);
    (void)printf("%s: %s, %s, %s precision%s\n", where, result->record.key.device,
                 result->space->problem, strake_precision_name(result->record.key.precision),
                 result->already ? ": tuned already, --force tunes again" : "");
    if (result->record.classes > 0) {
        (void)printf("  %-15s %13s %13s %6s %9s %7s\n",
                     problem->has_particles ? "particles" : "grid", "default", "tuned", "gain",
                     "of naive", "spread");
    }
    for (int c = 0; c < result->record.classes; c++) {
        print_class(&result->record.class[c], problem);
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
    const strake_problem *problem = NULL;
    if (arguments->problem != NULL &&
        strake_problem_named(arguments->problem, &problem, error) != STRAKE_OK) {
        return strake_say_error(error);
    }
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
        const strake_tuning_request request = {.where = where,
                                               .cl = list->cl,
                                               .device = d >= 0 ? &list->device[d] : NULL,
                                               .space = space,
                                               .space_name = arguments->space,
                                               .problem = problem != NULL ? problem->name
                                                          : space == NULL ? "mpdata2d"
                                                                          : NULL,
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
    return strake_interrupted() ? strake_interrupt_code(strake_interrupt_number()) : code;
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

/* "mpdata2d-nvidia-h200.yaml", as the files of data/tuned are called; @p number tells equal ones apart. */
static void name_export(const strake_tuned_key *key, int number, char *name, size_t size)
{
    char device[sizeof key->device];
    size_t used = 0;
    for (const char *at = key->device; *at != '\0'; at++) {
        if (isalnum((unsigned char)*at)) {
            device[used++] = (char)tolower((unsigned char)*at);
        } else if (used > 0 && device[used - 1] != '-') {
            device[used++] = '-';
        }
    }
    used -= used > 0 && device[used - 1] == '-' ? 1 : 0;
    (void)snprintf(name, size, "%s-%.*s%s", key->problem, (int)used, device,
                   key->precision == STRAKE_SINGLE ? "-single" : "");
    if (number > 1) {
        (void)snprintf(name + strlen(name), size - strlen(name), "-%d", number);
    }
    (void)snprintf(name + strlen(name), size - strlen(name), ".yaml");
}

static strake_status export_record(const strake_tuned_record *record, const char *path,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    strake_tuned_print(record, &text);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_NAMED, text.data, text.length, error));
    (void)printf("%s: %s in %s precision on %s, %d grid%s%s\n", path, record->key.problem,
                 strake_precision_name(record->key.precision), record->key.device, record->classes,
                 record->classes == 1 ? "" : "s", record->is_brief ? ", tuned briefly" : "");
cleanup:
    strake_text_free(&text);
    return status;
}

/* What was found for these places, of the wanted problem or of all. @return how many there are */
static int collect_records(const strake_arguments *arguments, const places *all,
                           const strake_cl_list *list, const strake_tuned_set *set,
                           const strake_tuned_record **record, int most)
{
    int count = 0;
    for (int p = 0; p < all->count; p++) {
        strake_tuned_key key;
        const strake_tuned_record *found = NULL;
        const strake_cl_device *const device =
            all->device[p] >= 0 ? &list->device[all->device[p]] : NULL;
        if (is_repeated(all, p, list)) {
            continue;
        }
        strake_tuned_key_make(list->cl, device, NULL, STRAKE_DOUBLE, 0, &key);
        for (int k = 0; (found = strake_tuned_of_device(set, &key, k)) != NULL; k++) {
            const bool wanted =
                arguments->problem == NULL || strcmp(arguments->problem, found->key.problem) == 0;
            if (wanted && !found->is_shipped && found->classes > 0 && count < most) {
                record[count++] = found;
            }
        }
    }
    return count;
}

/* --export: results of the cache as files that others can use. */
static strake_status export_places(const strake_arguments *arguments, const places *all,
                                   const strake_cl_list *list, strake_error *error)
{
    enum { MOST = 256 };
    strake_status status = STRAKE_OK;
    const strake_tuned_record *record[MOST];
    strake_tuned_set *set = NULL;
    struct stat about;
    char *path = NULL;
    int count = 0;
    const bool folder = stat(arguments->export, &about) == 0 && S_ISDIR(about.st_mode);
    STRAKE_TRY(strake_tuned_load(arguments->cache, strake_notice, NULL, &set, error));
    count = collect_records(arguments, all, list, set, record, MOST);
    STRAKE_CHECK(count > 0, error, STRAKE_ERR_USAGE,
                 "--export: nothing was tuned here for --on %s%s%s; `strake tune` with the same "
                 "options does it",
                 arguments->on != NULL ? arguments->on : "auto",
                 arguments->problem != NULL ? " --problem " : "",
                 arguments->problem != NULL ? arguments->problem : "");
    STRAKE_CHECK(
        count == 1 || folder, error, STRAKE_ERR_USAGE,
        "--export %s: there are %d results; choose one with --on and --problem, or give an "
        "existing folder for all of them",
        arguments->export, count);
    for (int k = 0; k < count; k++) {
        int number = 1;
        char name[400];
        for (int other = 0; other < k; other++) {
            const strake_tuned_key *const a = &record[other]->key, *const b = &record[k]->key;
            number += strcmp(a->device, b->device) == 0 && strcmp(a->problem, b->problem) == 0 &&
                      a->precision == b->precision;
        }
        name_export(&record[k]->key, number, name, sizeof name);
        free(path);
        path = folder ? strake_path_join(arguments->export, name) : strdup(arguments->export);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for tuned settings");
        STRAKE_TRY(export_record(record[k], path, error));
    }
cleanup:
    free(path);
    strake_tuned_free(&set);
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
    strake_cl_list_tell(&list, false, strake_notice, NULL);
    STRAKE_TRY(strake_places_find(arguments->on, &list, "cannot be tuned", &found, error));
    collect(&found, &all);
    STRAKE_TRY(space != NULL ? keep_places(arguments, space, found.named, &all, error) : STRAKE_OK);
    if (arguments->export != NULL) {
        STRAKE_TRY(export_places(arguments, &all, &list, error));
        goto cleanup;
    }
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
    STRAKE_TEXT("--problem", problem, "NAME|FILE.c",
                "for which problem, also of particles, or in a file\n(default: mpdata2d)"),
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
    STRAKE_TEXT("--export", export, "FILE",
                "measure nothing: write what was found earlier, for others\nwith the same device "
                "(a folder: a file for each result)"),
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
        "the results in the T4 format of other tuning tools.\n"
        "A file of --export serves others who put it into their cache ($STRAKE_CACHE_DIR, else\n"
        "~/.cache/strake) under a name tuned-*.yaml; data/tuned of the source has such files.\n",
    .examples = "  strake tune\n"
                "  strake tune --on ocl:0 --budget 300\n"
                "  strake tune --on gpu --set precision=single\n"
                "  strake tune --on gpu:0 --problem mpdata2d --export mpdata2d-my-gpu.yaml\n",
    .run = command};

/* `strake tune-worker`: the process in which `strake tune` measures. Not for users, not in the help. */

static int serve(const strake_arguments *arguments)
{
    (void)arguments;
    return strake_worker_serve() == 0 ? STRAKE_EXIT_DONE : STRAKE_EXIT_USAGE;
}

static const strake_option serve_options[] = {STRAKE_OPTIONS_END};

const strake_command strake_command_tune_worker = {.name = "tune-worker",
                                                   .operands = "",
                                                   .text = "Measures for `strake tune`",
                                                   .option = serve_options,
                                                   .details = "Measures for `strake tune`.\n",
                                                   .examples = "  strake tune\n",
                                                   .run = serve,
                                                   .joins_ranks = true};
