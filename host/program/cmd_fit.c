/* `strake fit`: the values of some keys with which a run covers a mapped flow best. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/random.h"
#include "files/cache.h"
#include "program/command.h"
#include "program/compare_footprint.h"
#include "program/say.h"
#include "program/scan_table.h"
#include "program/scan_trace.h"
#include "program/scan_worker.h"

/*
 * The search is differential evolution (Storn and Price, Differential evolution - a simple and efficient heuristic for
 * global optimization over continuous spaces, J. Global Optimization 11, 1997): e1 changes by whole cells, so that it has
 * no derivatives. A generation is a batch of runs that `strake scan` makes. All points follow from the seed and from
 * what earlier runs came to, and the table keeps that: a search that was ended makes the same points again, whose runs
 * are there.
 */

enum {
    LEAST_POPULATION = 12,
    POPULATION_PER_KEY = 6,
    USUAL_RUNS_PER_KEY = 120,
    NUMBER = 40,   /* characters of a number */
    MOST_NEAR = 8, /* rows of the table of the best */
    PATIENCE = 12  /* generations in which the best stays the best end the search */
};

/* Crossover and the bounds between which the weight of differences is drawn, as Storn and Price (1997) advise. */
static const double crossover = 0.9, least_weight = 0.4, most_weight = 0.9;

/* A key is found where all of the population agree on it up to this part of the range. */
static const double agreement = 1e-3;

/* Runs whose e1 is less than the best by at most this are as good: numerics change it by as much. */
static const double as_good = 0.02;

typedef struct key {
    char *path;
    double low, high;
    bool is_log;
} key;

typedef struct fit {
    const strake_arguments *arguments;
    int keys, population;
    key key[STRAKE_SCAN_AXES];
    int64_t runs, most; /* that are planned so far, and at most */
    double *point;      /* [runs][keys] from 0 to 1 */
    double *e1;         /* [runs]; -1: failed */
    int64_t *member;    /* [population] runs */
    int64_t last;       /* number of the last run of the table */
    int generations;
    uint64_t random;
    char points[4096]; /* file of all points */
    const char *table;
} fit;

/* --- keys and points ------------------------------------------------------------------------------------ */

static strake_status read_key(const char *over, key *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double bounds[2] = {0.0, 0.0};
    const char *const equals = strchr(over, '=');
    const char *const rest = equals != NULL ? strake_number_list(equals + 1, ':', 2, bounds) : NULL;
    STRAKE_CHECK(
        rest != NULL && equals > over && (*rest == '\0' || strcmp(rest, ":log") == 0), error,
        STRAKE_ERR_USAGE,
        "option --over: '%s' gives no range; expected PATH=LOW:HIGH or PATH=LOW:HIGH:log, for "
        "example 'vents[0].rate=5:50'",
        over);
    out->low = bounds[0];
    out->high = bounds[1];
    out->is_log = *rest != '\0';
    STRAKE_CHECK(isfinite(bounds[0]) && isfinite(bounds[1]) && bounds[0] < bounds[1] &&
                     (!out->is_log || bounds[0] > 0.0),
                 error, STRAKE_ERR_USAGE,
                 "option --over: '%s': the lower end must be below the upper one%s", over,
                 out->is_log ? ", and above 0 for a logarithm" : "");
    out->path = strndup(over, (size_t)(equals - over));
    STRAKE_CHECK(out->path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a fit");
cleanup:
    return status;
}

static double draw(fit *f)
{
    return strake_random_unit(&f->random);
}

static int64_t draw_below(fit *f, int64_t count)
{
    return (int64_t)(draw(f) * (double)count);
}

/* The value of a key at a place from 0 to 1 of its range. */
static double value_of(const key *k, double place)
{
    return k->is_log ? k->low * exp(place * log(k->high / k->low))
                     : k->low + place * (k->high - k->low);
}

static void print_value(const fit *f, int64_t run, int k, char text[NUMBER])
{
    (void)strake_number_print(text, NUMBER, "%.9g",
                              value_of(&f->key[k], f->point[run * f->keys + k]));
}

/* The first generation: a Latin hypercube (McKay, Beckman and Conover 1979), a point in each part of each key. */
static void draw_first(fit *f)
{
    for (int k = 0; k < f->keys; k++) {
        for (int m = 0; m < f->population; m++) {
            f->point[m * f->keys + k] = ((double)m + draw(f)) / f->population;
        }
        for (int m = f->population - 1; m > 0; m--) {
            const int64_t other = draw_below(f, m + 1);
            const double kept = f->point[m * f->keys + k];
            f->point[m * f->keys + k] = f->point[other * f->keys + k];
            f->point[other * f->keys + k] = kept;
        }
    }
    f->runs = f->population;
}

static int64_t find_best(const fit *f)
{
    int64_t best = f->member[0];
    for (int m = 1; m < f->population; m++) {
        best = f->e1[f->member[m]] > f->e1[best] ? f->member[m] : best;
    }
    return best;
}

/* A point beyond an end of the range goes back by as much. */
static double reflect(double place)
{
    const double back = place < 0.0 ? -place : place > 1.0 ? 2.0 - place : place;
    return fmin(fmax(back, 0.0), 1.0);
}

/* For each member one that may take its place: between it and the best, and off by the difference of two others. */
static void draw_next(fit *f)
{
    const int64_t best = find_best(f);
    for (int m = 0; m < f->population; m++) {
        const double *const own = f->point + f->member[m] * f->keys;
        const double *const lead = f->point + best * f->keys;
        const double *const one = f->point + f->member[draw_below(f, f->population)] * f->keys;
        const double *const two = f->point + f->member[draw_below(f, f->population)] * f->keys;
        const double weight = least_weight + (most_weight - least_weight) * draw(f);
        const int64_t always = draw_below(f, f->keys);
        double *const next = f->point + (f->runs + m) * f->keys;
        for (int k = 0; k < f->keys; k++) {
            const bool crosses = draw(f) < crossover || k == always;
            next[k] =
                crosses ? reflect(own[k] + weight * (lead[k] - own[k]) + weight * (one[k] - two[k]))
                        : own[k];
        }
    }
    f->runs += f->population;
}

/* Whether all members agree on every key. */
static bool agree(const fit *f)
{
    for (int k = 0; k < f->keys; k++) {
        double least = 1.0, most = 0.0;
        for (int m = 0; m < f->population; m++) {
            const double place = f->point[f->member[m] * f->keys + k];
            least = fmin(least, place);
            most = fmax(most, place);
        }
        if (most - least > agreement) {
            return false;
        }
    }
    return true;
}

/* --- runs ------------------------------------------------------------------------------------------------ */

static strake_status write_points(const fit *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    for (int64_t run = 0; run < f->runs; run++) {
        for (int k = 0; k < f->keys; k++) {
            char value[NUMBER];
            print_value(f, run, k, value);
            strake_text_print(&text, "%s%s", value, k + 1 < f->keys ? "," : "\n");
        }
    }
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for a fit");
    STRAKE_TRY(strake_file_put(f->points, STRAKE_FILE_NAMED, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    return status;
}

/* What the table says of the runs. */
static strake_status read_scores(fit *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL, *rest = NULL, *line = NULL;
    size_t length = 0;
    const char *cell = NULL;
    int at = -1;
    STRAKE_TRY(strake_file_read(f->table, INT64_C(1) << 32, "table", &text, &length, error));
    rest = text;
    line = strsep(&rest, "\n");
    for (int k = 0; (cell = strake_scan_table_cell(line, k, &length)) != NULL; k++) {
        at = length == 2 && strncmp(cell, "e1", 2) == 0 ? k : at;
    }
    while ((line = strsep(&rest, "\n")) != NULL) {
        const int64_t run = strtoll(line, NULL, 10) - 1;
        cell = strake_scan_table_cell(line, at, &length);
        f->last = run + 1 > f->last ? run + 1 : f->last;
        if (run >= 0 && run < f->runs && cell != NULL) {
            f->e1[run] = length > 0 ? strake_number_read(cell, NULL) : -1.0;
        }
    }
cleanup:
    free(text);
    return status;
}

/* No run of the last generation has ended. */
static void forget_scores(fit *f)
{
    for (int64_t run = f->runs - f->population; run < f->runs; run++) {
        f->e1[run] = (double)NAN;
    }
}

/* Whether all runs of the last generation have ended, well or not. */
static bool is_complete(const fit *f)
{
    bool is = true;
    for (int64_t run = f->runs - f->population; run < f->runs; run++) {
        is = is && !isnan(f->e1[run]);
    }
    return is;
}

/*
 * Makes the runs of all points that are not in the table. Where a search goes on that has come further, its later runs
 * tell that this generation is complete; the scan of its last generation finds out whether all are of this case.
 * @param[out] code  of the scan; the runs of a generation may fail
 */
static strake_status make_runs(fit *f, int *code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *over[STRAKE_SCAN_AXES + 1] = {NULL};
    strake_text text[STRAKE_SCAN_AXES] = {{0}};
    strake_arguments arguments = *f->arguments;
    bool is_made = false;
    forget_scores(f);
    if (access(f->table, F_OK) == 0) {
        STRAKE_TRY(read_scores(f, error));
        if (f->last > f->runs && is_complete(f)) {
            return STRAKE_OK;
        }
    }
    STRAKE_TRY(write_points(f, error));
    for (int k = 0; k < f->keys; k++) {
        strake_text_print(&text[k], "%s=of:%s:%d", f->key[k].path, f->points, k + 1);
        STRAKE_CHECK(!text[k].failed, error, STRAKE_ERR_MEMORY, "out of memory for a fit");
        over[k] = text[k].data;
    }
    arguments.overs = (const char **)(void *)over;
    arguments.over_count = f->keys;
    arguments.draws = f->runs;
    arguments.seed = -1;
    arguments.table = f->table;
    arguments.fit_is_made = &is_made;
    *code = strake_command_scan.run(&arguments);
    if (is_made) {
        STRAKE_TRY(read_scores(f, error));
    } else { /* what was read above may be of another flow or case */
        forget_scores(f);
    }
cleanup:
    (void)unlink(f->points);
    for (int k = 0; k < f->keys; k++) {
        strake_text_free(&text[k]);
    }
    return status;
}

/* --- the command ----------------------------------------------------------------------------------------- */

static void tell_generation(const fit *f)
{
    const int64_t best = find_best(f);
    char e1[NUMBER];
    if (f->arguments->quiet) {
        return;
    }
    (void)strake_number_print(e1, sizeof e1, "%.4f", f->e1[best]);
    (void)printf("generation %3d, %5lld runs: e1 %s with", f->generations, (long long)f->runs, e1);
    for (int k = 0; k < f->keys; k++) {
        char value[NUMBER];
        print_value(f, best, k, value);
        (void)printf(" %s=%s", f->key[k].path, value);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

/* The range of a key among the runs that are as good as the best. */
static void find_range(const fit *f, int k, double best, double *least, double *most)
{
    *least = (double)INFINITY;
    *most = -(double)INFINITY;
    for (int64_t run = 0; run < f->runs; run++) {
        if (f->e1[run] >= best - as_good) {
            *least = fmin(*least, value_of(&f->key[k], f->point[run * f->keys + k]));
            *most = fmax(*most, value_of(&f->key[k], f->point[run * f->keys + k]));
        }
    }
}

/* The best ones, each with other values than those before. */
static void print_near(const fit *f)
{
    double last = (double)INFINITY;
    (void)printf("\n  %8s  %8s", "run", "e1");
    for (int k = 0; k < f->keys; k++) {
        (void)printf("  %*s", 14, f->key[k].path);
    }
    (void)printf("\n");
    for (int row = 0; row < MOST_NEAR; row++) {
        int64_t next = -1;
        for (int64_t run = 0; run < f->runs; run++) {
            if (f->e1[run] < last && (next < 0 || f->e1[run] > f->e1[next])) {
                next = run;
            }
        }
        if (next < 0 || f->e1[next] < 0.0) {
            break;
        }
        char e1[NUMBER];
        (void)strake_number_print(e1, sizeof e1, "%.4f", f->e1[next]);
        (void)printf("  %8lld  %8s", (long long)next + 1, e1);
        for (int k = 0; k < f->keys; k++) {
            char value[NUMBER];
            print_value(f, next, k, value);
            (void)printf("  %*.*s", (int)fmax(14, (double)strlen(f->key[k].path)), 14, value);
        }
        (void)printf("\n");
        last = f->e1[next];
    }
}

static void tell_end(const fit *f)
{
    const int64_t best = find_best(f);
    char e1[NUMBER];
    (void)strake_number_print(e1, sizeof e1, "%.4f", f->e1[best]);
    (void)printf("%s: %lld runs in %d generations; the best is run %lld, e1 = %s\n", f->table,
                 (long long)f->runs, f->generations, (long long)best + 1, e1);
    for (int k = 0; k < f->keys; k++) {
        double least = 0.0, most = 0.0;
        char value[NUMBER], from[NUMBER], to[NUMBER];
        print_value(f, best, k, value);
        find_range(f, k, f->e1[best], &least, &most);
        (void)strake_number_print(from, sizeof from, "%.4g", least);
        (void)strake_number_print(to, sizeof to, "%.4g", most);
        (void)printf("  %s = %s; runs within %.2g of its e1 have %s to %s\n", f->key[k].path, value,
                     as_good, from, to);
    }
    print_near(f);
}

enum { MAPPED_ONLY = 1, RUN_ONLY, IN_BOTH };

/* Where the best run and the mapped flow are, together and alone, as a map and a picture in the folder `fit` of the run's. */
static strake_status draw_overlap(const fit *f, const strake_arguments *best, strake_error *error)
{
    static const strake_field field = {.name = "overlap",
                                       .position = STRAKE_CELL,
                                       .unit = "[-]",
                                       .text = "1: in the mapped flow alone, 2: in the run alone, "
                                               "3: in both",
                                       .is_extent = true};
    strake_status status = STRAKE_OK;
    const strake_arguments *const given = f->arguments;
    const double threshold = isnan(given->threshold) ? STRAKE_USUAL_THRESHOLD : given->threshold;
    strake_case *which = NULL;
    strake_flow *flow[2] = {NULL, NULL}; /* mapped, and of the run */
    double *map = NULL;
    char *folder = strake_path_join(given->output, "fit");
    int64_t shape[2];
    strake_scan_maps maps = {.arguments = best,
                             .command = "fit",
                             .text = "how a run covers a mapped flow",
                             .fields = 1,
                             .field = &field,
                             .high = IN_BOTH};
    STRAKE_TRY(strake_case_from(best, &which, error));
    shape[0] = which->n[0];
    shape[1] = which->n[2];
    map = calloc((size_t)(shape[0] * shape[1]), sizeof *map);
    STRAKE_CHECK(map != NULL && folder != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a fit");
    STRAKE_TRY(strake_folder_create(folder, error));
    for (int k = 0; k < 2; k++) {
        STRAKE_TRY(strake_flow_open(k == 0 ? given->mapped : given->output, &flow[k], error));
        STRAKE_TRY(strake_flow_match(flow[k], which->file, shape, &which->georef, error));
        for (int64_t i = 0; i < shape[0]; i++) {
            const double *line = NULL;
            STRAKE_TRY(strake_flow_row(flow[k], i, &line, error));
            for (int64_t j = 0; j < shape[1]; j++) {
                map[i * shape[1] + j] +=
                    line[j] > threshold ? (k == 0 ? MAPPED_ONLY : RUN_ONLY) : 0;
            }
        }
    }
    maps.which = which;
    maps.time = which->end;
    maps.folder = folder;
    maps.map = &map;
    STRAKE_TRY(strake_scan_maps_put(&maps, error));
    if (!given->quiet) {
        (void)printf("%s: cells of the mapped flow alone (1), of the run alone (2), of both (3)\n",
                     folder);
    }
cleanup:
    strake_flow_close(&flow[0]);
    strake_flow_close(&flow[1]);
    strake_case_close(&which);
    free(map);
    free(folder);
    return status;
}

/* Runs the best as `strake run` does, into the folder of --output. */
static int run_best(const fit *f, strake_error *error)
{
    const int64_t best = find_best(f);
    const strake_arguments *const given = f->arguments;
    strake_text text[STRAKE_SCAN_AXES] = {{0}};
    const char **const sets = calloc((size_t)(given->set_count + f->keys) + 1, sizeof *sets);
    strake_arguments arguments = *given;
    bool failed = sets == NULL;
    for (int k = 0; !failed && k < given->set_count; k++) {
        sets[k] = given->sets[k];
    }
    for (int k = 0; !failed && k < f->keys; k++) {
        char value[NUMBER];
        print_value(f, best, k, value);
        strake_text_print(&text[k], "%s=%s", f->key[k].path, value);
        failed = text[k].failed;
        sets[given->set_count + k] = text[k].data;
    }
    arguments.sets = sets;
    arguments.set_count += f->keys;
    arguments.overs = NULL;
    arguments.over_count = 0;
    arguments.no_tune = true;
    int code = STRAKE_EXIT_FAILED;
    if (failed) {
        (void)strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for a fit");
        code = strake_say_error(error);
    } else {
        code = strake_command_run.run(&arguments);
    }
    if (code == STRAKE_EXIT_DONE && draw_overlap(f, &arguments, error) != STRAKE_OK) {
        code = strake_say_error(error);
    }
    for (int k = 0; k < f->keys; k++) {
        strake_text_free(&text[k]);
    }
    free((void *)sets);
    return code;
}

static strake_status prepare(fit *f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_arguments *const arguments = f->arguments;
    STRAKE_CHECK(arguments->mapped != NULL, error, STRAKE_ERR_USAGE,
                 "fit needs --to FLOW: the mapped flow that runs are to cover");
    STRAKE_CHECK(arguments->over_count > 0 && arguments->over_count <= STRAKE_SCAN_AXES, error,
                 STRAKE_ERR_USAGE,
                 "fit needs --over PATH=LOW:HIGH once to %d times, for example --over "
                 "'vents[0].rate=5:50'",
                 STRAKE_SCAN_AXES);
    for (int k = 0; k < arguments->over_count; k++) {
        STRAKE_TRY(read_key(arguments->overs[k], &f->key[k], error));
        f->keys = k + 1;
        for (int other = 0; other < k; other++) {
            STRAKE_CHECK(strcmp(f->key[k].path, f->key[other].path) != 0, error, STRAKE_ERR_USAGE,
                         "option --over: %s is given twice", f->key[k].path);
        }
    }
    f->population = f->keys * POPULATION_PER_KEY;
    f->population = f->population > LEAST_POPULATION ? f->population : LEAST_POPULATION;
    f->most = arguments->draws > 0 ? arguments->draws : (int64_t)f->keys * USUAL_RUNS_PER_KEY;
    f->population = f->population < f->most ? f->population : (int)f->most;
    f->most = f->most / f->population * f->population;
    f->table = arguments->table != NULL ? arguments->table : "fit.csv";
    f->random = arguments->seed >= 0 ? (uint64_t)arguments->seed : 1;
    (void)snprintf(f->points, sizeof f->points, "%s.points", f->table);
    f->point = calloc((size_t)(f->most * f->keys), sizeof *f->point);
    f->e1 = calloc((size_t)f->most, sizeof *f->e1);
    f->member = calloc((size_t)f->population, sizeof *f->member);
    STRAKE_CHECK(f->point != NULL && f->e1 != NULL && f->member != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for a fit");
cleanup:
    return status;
}

/* Generation after generation. @param[out] code  of the scan that ended it early, or STRAKE_EXIT_DONE */
static strake_status search(fit *f, int *code, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double best = -1.0;
    int since = 0;
    draw_first(f);
    for (;;) {
        STRAKE_TRY(make_runs(f, code, error));
        if (!is_complete(f)) {
            return STRAKE_OK; /* the scan has said why */
        }
        *code = STRAKE_EXIT_DONE;
        for (int m = 0; m < f->population; m++) {
            const int64_t next = f->runs - f->population + m;
            const bool stays = f->generations > 0 && f->e1[next] < f->e1[f->member[m]];
            f->member[m] = stays ? f->member[m] : next;
        }
        f->generations++;
        const double now = f->e1[find_best(f)];
        STRAKE_CHECK(now >= 0.0, error, STRAKE_ERR_USAGE,
                     "all runs of the first generation failed; %s says why", f->table);
        since = now > best ? 0 : since + 1;
        best = now;
        tell_generation(f);
        if (best >= 1.0 || since >= PATIENCE || agree(f) || f->runs + f->population > f->most) {
            /* No scan has looked whether these are its runs. */
            STRAKE_CHECK(f->last <= f->runs, error, STRAKE_ERR_USAGE,
                         "%s has %lld runs, this search ends after %lld: it is the table of "
                         "another search, or of one with a larger --runs; name another file with "
                         "--table, or remove it",
                         f->table, (long long)f->last, (long long)f->runs);
            return STRAKE_OK;
        }
        draw_next(f);
    }
cleanup:
    return status;
}

static int command(const strake_arguments *arguments)
{
    strake_status status = STRAKE_OK;
    strake_error failure, *const error = &failure;
    int code = STRAKE_EXIT_DONE;
    fit f = {.arguments = arguments};
    STRAKE_TRY(prepare(&f, error));
    STRAKE_TRY(search(&f, &code, error));
    if (f.generations > 0 && is_complete(&f)) {
        tell_end(&f);
        code = arguments->output != NULL ? run_best(&f, error) : STRAKE_EXIT_DONE;
    }
cleanup:
    if (status != STRAKE_OK) {
        code = strake_say_error(error);
    }
    for (int k = 0; k < f.keys; k++) {
        free(f.key[k].path);
    }
    free(f.point);
    free(f.e1);
    free(f.member);
    return code;
}

static const strake_option options[] = {
    STRAKE_TEXT(
        "--to", mapped, "FLOW",
        "the mapped flow: a grid of thicknesses (.npy, .asc,\nGeoTIFF, NetCDF), a folder of "
        "outputs, or polygons\n(GeoJSON; what GDAL reads)"),
    {"--over", STRAKE_OPTION_OVER, "PATH=LOW:HIGH", 0, 0, 0,
     "a key to fit and its range, with :log behind it on a\nlogarithmic scale; repeatable"},
    STRAKE_NUMBER("--runs", INTEGER, draws, "N", 1, STRAKE_SCAN_MOST,
                  "runs at most (default: 120 for each key)"),
    STRAKE_NUMBER("--seed", INTEGER, seed, "S", 0, 0x1p53, "of the search (default: 1)"),
    STRAKE_NUMBER("--threshold", REAL, threshold, "M", 0, 1e308,
                  "thickness [m] above which a cell belongs to a flow\n(default: 0.1)"),
    STRAKE_TEXT("--output", output, "DIR",
                "run the best values into this folder in the end, and\ndraw it over the mapped "
                "flow in DIR/fit"),
    STRAKE_TEXT("--on", on, "WHERE", "processors, see below (default: `run.on`, else auto)"),
    STRAKE_OPTION_THREADS,
    STRAKE_SET("change a key of the case in every run; repeatable"),
    STRAKE_OPTION_CACHE,
    STRAKE_TEXT("--table", table, "FILE", "the table of all runs (default: fit.csv)"),
    STRAKE_NUMBER("--jobs", INTEGER, jobs, "N", 1, STRAKE_SCAN_JOBS,
                  "runs at a time on the cores (default: as many as\ncores)"),
    STRAKE_NUMBER("--members", INTEGER, members, "N", 1, STRAKE_SCAN_MEMBERS,
                  "runs at a time on each device (default: up to 256,\nas memory goes)"),
    STRAKE_FLAG("--quiet", quiet, "no progress, notes and generations"),
    STRAKE_OPTIONS_END};

const strake_command strake_command_fit = {
    .name = "fit",
    .operands = "CASE.yaml",
    .operands_least = 1,
    .operands_most = 1,
    .text = "Finds the values with which a run covers a mapped flow best",
    .option = options,
    .details =
        "The search is for the largest e1 = cells in both flows / cells in either. It goes\n"
        "from generation to generation by differential evolution (Storn and Price 1997): the\n"
        "first one covers the ranges evenly, each later run lies between one of the best so\n"
        "far and the best, and takes its place where it is better. A generation is a batch of\n"
        "6 runs for each key, 12 at least, that `strake scan` makes on WHERE.\n"
        "\n"
        "It ends where e1 is 1, all members of a generation agree on each key to 0.1 % of its\n"
        "range, the best has not changed for 12 generations, or there were enough runs. Then\n"
        "it prints the best values, between which ones runs are within 0.02 of the best e1,\n"
        "and the best runs. All runs are in the table. The same command goes on where a search\n"
        "was ended by Ctrl-C or a power cut, and comes to the same values; with another\n"
        "--seed or a larger --runs it makes what is new.\n"
        "\n" STRAKE_WHERE_HELP,
    .examples = "  strake fit lava.yaml --to mapped.asc --over 'vents[0].rate=5:50' \\\n"
                "      --over parameters.emissivity=0.3:0.95 --output best\n"
                "  strake fit lava.yaml --to mapped.asc --over "
                "'parameters.yield_strength=100:10000:log'\n",
    .run = command};
