#include "program/scan_trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/element.h"
#include "base/elementary.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "files/cache.h"
#include "output/checkpoint.h"
#include "output/output.h"
#include "program/commit.h"
#include "program/compare_footprint.h"
#include "program/report_file.h"
#include "program/say.h"
#include "view/left.h"

/* A file: this, then thickness and arrival of the cells in the box that has all lava, row by row. */
typedef struct head {
    char magic[8];
    uint64_t id;
    int64_t rows, cols;
    int64_t box[4]; /* first row, end of rows, first column, end of columns */
    double time;
    uint64_t hash; /* of all before and behind it */
} head;

static const char magic[8] = "\x89STRTRC";

static const int64_t most_bytes = INT64_C(1) << 40;

bool strake_scan_trace_is_of(const strake_problem *problem, int fields[2])
{
    int found[2] = {-1, -1};
    bool has_extent = false;
    for (int f = 0; f < problem->fields; f++) {
        const strake_field *const field = &problem->field[f];
        has_extent = has_extent || field->is_extent;
        if (field->is_traced && found[field->has_never ? 1 : 0] < 0) {
            found[field->has_never ? 1 : 0] = f;
        }
    }
    if (fields != NULL) {
        memcpy(fields, found, sizeof found);
    }
    return has_extent && found[0] >= 0 && found[1] >= 0 && problem->dims == 2;
}

/* Adds a field to an array, or replaces what is there. */
static strake_status take_field(strake_slabs *slabs, const char *name, bool adds, double *out,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    while (strake_slabs_next(slabs)) {
        STRAKE_TRY(strake_slabs_get(slabs, error));
        const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / slabs->element_size);
        double *const to = out + slabs->first * slabs->shape[1];
        for (int64_t k = 0; k < count; k++) {
            const double value = strake_element_get(slabs->data, (int)slabs->element_size, k);
            to[k] = adds ? to[k] + value : value;
        }
    }
cleanup:
    return status;
}

static strake_status make_room(strake_scan_trace *trace, int64_t rows, int64_t cols,
                               strake_error *error)
{
    const size_t cells = (size_t)rows * (size_t)cols;
    *trace = (strake_scan_trace){.rows = rows, .cols = cols};
    trace->thickest = calloc(cells, sizeof(double));
    trace->arrival = calloc(cells, sizeof(double));
    if (trace->thickest == NULL || trace->arrival == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory for what a run leaves for maps");
    }
    return STRAKE_OK;
}

strake_status strake_scan_trace_collect(strake_solver *solver, bool has_past,
                                        strake_scan_trace *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = strake_solver_case(solver);
    const strake_field *const field = which->problem->field;
    const int64_t cells = which->n[0] * which->n[2];
    strake_slabs slabs = {0};
    int past[2] = {-1, -1};
    STRAKE_TRY(strake_slabs_open(&slabs, which, solver, error));
    STRAKE_TRY(make_room(out, which->n[0], which->n[2], error));
    out->deposit = calloc((size_t)cells, sizeof(double));
    STRAKE_CHECK(out->deposit != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for what a run leaves for maps");
    out->time = strake_time(solver);
    for (int f = 0; f < which->problem->fields; f++) {
        if (field[f].is_extent) {
            STRAKE_TRY(take_field(&slabs, field[f].name, true, out->deposit, error));
        }
    }
    if (has_past) {
        (void)strake_scan_trace_is_of(which->problem, past);
        STRAKE_TRY(take_field(&slabs, field[past[0]].name, false, out->thickest, error));
        STRAKE_TRY(take_field(&slabs, field[past[1]].name, false, out->arrival, error));
        for (int64_t k = 0; k < cells; k++) {
            out->thickest[k] = fmax(out->thickest[k], out->deposit[k]);
        }
    }
cleanup:
    strake_slabs_close(&slabs);
    return status;
}

static bool is_dry(const strake_scan_trace *trace, int64_t i, int64_t j)
{
    const int64_t at = i * trace->cols + j;
    return !(trace->thickest[at] > 0.0) && isnan(trace->arrival[at]);
}

/* The smallest box that has every cell with lava. */
static void find_box(const strake_scan_trace *trace, int64_t box[4])
{
    const int64_t none[] = {trace->rows, 0, trace->cols, 0};
    memcpy(box, none, sizeof none);
    for (int64_t i = 0; i < trace->rows; i++) {
        for (int64_t j = 0; j < trace->cols; j++) {
            if (!is_dry(trace, i, j)) {
                box[0] = i < box[0] ? i : box[0];
                box[1] = i + 1;
                box[2] = j < box[2] ? j : box[2];
                box[3] = j + 1 > box[3] ? j + 1 : box[3];
            }
        }
    }
    if (box[1] == 0) {
        memset(box, 0, sizeof none);
    }
}

/* The two arrays within the box, one row of each after the other, from or to a file's bytes. */
static void copy_box(const strake_scan_trace *trace, const int64_t box[4], char *data,
                     bool goes_out)
{
    const size_t bytes = (size_t)(box[3] - box[2]) * sizeof(double);
    for (int64_t i = box[0]; i < box[1]; i++) {
        double *const row[] = {trace->thickest + i * trace->cols + box[2],
                               trace->arrival + i * trace->cols + box[2]};
        for (int k = 0; k < 2; k++) {
            memcpy(goes_out ? data : (char *)row[k], goes_out ? (char *)row[k] : data, bytes);
            data += bytes;
        }
    }
}

static size_t box_bytes(const int64_t box[4])
{
    return 2 * sizeof(double) * (size_t)(box[1] - box[0]) * (size_t)(box[3] - box[2]);
}

static uint64_t hash_of(head h, const char *data)
{
    h.hash = 0;
    return strake_fnv1a(strake_fnv1a(STRAKE_FNV_SEED, &h, sizeof h), data, box_bytes(h.box));
}

strake_status strake_scan_trace_write(const strake_scan_trace *trace, const char *path, uint64_t id,
                                      strake_error *error)
{
    strake_status status = STRAKE_OK;
    head h = {.id = id, .rows = trace->rows, .cols = trace->cols, .time = trace->time};
    memcpy(h.magic, magic, sizeof magic);
    find_box(trace, h.box);
    const size_t bytes = sizeof h + box_bytes(h.box);
    char *const data = malloc(bytes);
    STRAKE_CHECK(data != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for what a run leaves for maps");
    copy_box(trace, h.box, data + sizeof h, true);
    h.hash = hash_of(h, data + sizeof h);
    memcpy(data, &h, sizeof h);
    STRAKE_TRY(strake_file_put(path, 0, data, bytes, error));
cleanup:
    free(data);
    return status;
}

/* Whether a head can be one of so many bytes. */
static bool is_sound(const head *h, size_t length)
{
    const int64_t *const box = h->box;
    const int64_t most = INT64_C(1) << 31;
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->rows > 0 && h->rows < most &&
           h->cols > 0 && h->cols < most && box[0] >= 0 && box[0] <= box[1] && box[1] <= h->rows &&
           box[2] >= 0 && box[2] <= box[3] && box[3] <= h->cols &&
           length == sizeof *h + box_bytes(box);
}

strake_status strake_scan_trace_read(const char *path, uint64_t id, strake_scan_trace *out,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *data = NULL;
    size_t length = 0;
    head h = {.rows = 0};
    STRAKE_TRY(strake_file_read(path, most_bytes, "file of a run", &data, &length, error));
    if (length >= sizeof h) {
        memcpy(&h, data, sizeof h);
    }
    STRAKE_CHECK(length >= sizeof h && is_sound(&h, length) && h.id == id &&
                     h.hash == hash_of(h, data + sizeof h),
                 error, STRAKE_ERR_USAGE,
                 "%s: is damaged, or not of this run; remove it, and the run is made again", path);
    STRAKE_TRY(make_room(out, h.rows, h.cols, error));
    out->time = h.time;
    for (int64_t k = 0; k < h.rows * h.cols; k++) {
        out->arrival[k] = NAN;
    }
    copy_box(out, h.box, data + sizeof h, false);
cleanup:
    free(data);
    return status;
}

void strake_scan_trace_free(strake_scan_trace *trace)
{
    free(trace->thickest);
    free(trace->arrival);
    free(trace->deposit);
    *trace = (strake_scan_trace){0};
}

char *strake_scan_trace_path(const char *folder, uint64_t id)
{
    char name[48];
    (void)snprintf(name, sizeof name, "runs/%016" PRIx64 ".trace", id);
    return strake_path_join(folder, name);
}

/* --- maps ------------------------------------------------------------------------------------------ */

/*
 * Maps of all runs of a scan: for every cell how probable it is that a flow reaches it, how thick it is there in the mean
 * and at most, and when it comes at the earliest. Sums go through the runs in their order, whoever made them and when.
 *
 * The probability p is that of an eruption which the scan is about. Where N of them are expected in some years, as a Poisson
 * process, N p flows are expected in a cell, and 1 - exp(-N p) is the probability that one or more come (Connor and Hill,
 * Three nonhomogeneous Poisson models for the probability of basaltic volcanism, J. Geophysical Research 100, 1995).
 */

/* The maps, in the order of the table below; then come the absolute probability, if any, and those of classes. */
enum { PROBABILITY, MEAN, MAXIMUM, ARRIVAL, MAPS, MOST_MAPS = MAPS + 1 + STRAKE_SCAN_CLASSES };

/* What maps are made of. */
typedef struct maps_job {
    const strake_scan_job *job;
    const strake_scan_table *table;
    const strake_case *which; /* one of the cases: all have one grid */
} maps_job;

static const strake_field maps_of[MAPS] = {
    [PROBABILITY] = {"probability", STRAKE_CELL, .unit = "[-]", .is_extent = true},
    [MEAN] = {"mean", STRAKE_CELL, .unit = "[m]", .text = "mean thickness over all runs"},
    [MAXIMUM] = {"maximum", STRAKE_CELL, .unit = "[m]", .text = "largest thickness of all runs"},
    [ARRIVAL] = {"arrival", STRAKE_CELL, .unit = "[s]",
                 .text = "earliest time at which a flow comes; NaN: none does"}};

typedef struct sums {
    double *map[MOST_MAPS];
    int maps, first; /* how many, and the first one of a class */
    double *
        before; /* the probability without the last tenth of the runs, times their weight; NULL: not yet */
    double weight_before;
    int64_t cells, runs;
    double weight, time; /* of all runs, and of the last one that ended [s] */
    double class_weight[STRAKE_SCAN_CLASSES];
} sums;

/* Adds a run of a class, or -1; the order of runs is the order of sums. */
static void add_run(sums *s, const strake_scan_trace *trace, double weight, double threshold,
                    int class)
{
    double *const of_class = class >= 0 ? s->map[s->first + class] : NULL;
    s->runs++;
    s->weight += weight;
    s->class_weight[class >= 0 ? class : 0] += weight;
    s->time = fmax(s->time, trace->time);
    for (int64_t k = 0; k < s->cells && weight > 0.0; k++) {
        const double thickest = trace->thickest[k];
        s->map[MEAN][k] += weight * thickest;
        s->map[MAXIMUM][k] = fmax(s->map[MAXIMUM][k], thickest);
        if (thickest > threshold) {
            s->map[PROBABILITY][k] += weight;
            if (of_class != NULL) {
                of_class[k] += weight;
            }
            s->map[ARRIVAL][k] = fmin(s->map[ARRIVAL][k], trace->arrival[k]); /* not of NaN */
        }
    }
}

strake_status strake_scan_maps_check_options(const strake_arguments *arguments, strake_error *error)
{
    strake_status status = STRAKE_OK;
    STRAKE_CHECK(arguments->weight_count == 0 || arguments->maps != NULL, error, STRAKE_ERR_USAGE,
                 "option --weights: weighs runs in maps; give --maps DIR, too");
    STRAKE_CHECK(isnan(arguments->eruptions) || arguments->maps != NULL, error, STRAKE_ERR_USAGE,
                 "option --eruptions: is for maps; give --maps DIR, too");
    STRAKE_CHECK(isnan(arguments->threshold) || arguments->maps != NULL ||
                     arguments->mapped != NULL,
                 error, STRAKE_ERR_USAGE, "option --threshold: goes with --maps and --footprint");
cleanup:
    return status;
}

strake_status strake_scan_maps_check_case(const strake_scan_job *job, const strake_case *first,
                                          const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_flow *flow = NULL;
    const int64_t shape[] = {which->n[0], which->n[2]};
    const char *const option = job->maps != NULL                     ? "--maps"
                               : job->arguments->fit_is_made != NULL ? "--to"
                                                                     : "--footprint";
    const double *line = NULL;
    if (job->maps == NULL && job->mapped == NULL) {
        return STRAKE_OK;
    }
    STRAKE_CHECK(strake_scan_trace_is_of(which->problem, NULL), error, STRAKE_ERR_USAGE,
                 "option %s: problem %s has no footprint, which it is about; leave it out", option,
                 which->problem->name);
    STRAKE_CHECK(shape[0] == first->n[0] && shape[1] == first->n[2], error, STRAKE_ERR_USAGE,
                 "option %s: is for runs on one grid, not on %lld x %lld and %lld x %lld cells",
                 option, (long long)first->n[0], (long long)first->n[2], (long long)shape[0],
                 (long long)shape[1]);
    if (job->mapped != NULL && which == first) {
        STRAKE_TRY(strake_flow_open(job->mapped, &flow, error));
        STRAKE_TRY(strake_flow_match(flow, which->file, shape, &which->georef, error));
        for (int64_t i = 0; i < shape[0]; i++) { /* what is wrong in it is no run's fault */
            STRAKE_TRY(strake_flow_row(flow, i, &line, error));
        }
    }
cleanup:
    strake_flow_close(&flow);
    return status;
}

strake_status strake_scan_maps_find(const strake_scan_job *job, strake_scan_table *table,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    if (job->maps == NULL) {
        return STRAKE_OK;
    }
    for (int64_t run = 0; run < table->rows; run++) {
        strake_scan_row *const row = &table->row[run];
        strake_scan_trace trace = {0};
        free(path);
        path = strake_scan_trace_path(job->maps, row->id);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        if (row->text != NULL && !row->failed &&
            strake_scan_trace_read(path, row->id, &trace, NULL) != STRAKE_OK) {
            free(row->text);
            row->text = NULL;
        }
        strake_scan_trace_free(&trace);
    }
cleanup:
    free(path);
    return status;
}

static strake_status add_all(sums *s, const maps_job *maps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_scan_trace trace = {0};
    char *path = NULL;
    const int64_t *const n = maps->which->n;
    const strake_scan_values *const values = maps->job->values;
    const double eruptions = maps->job->arguments->eruptions;
    s->cells = n[0] * n[2];
    s->first = MAPS + (isnan(eruptions) ? 0 : 1);
    s->maps = s->first + values->classes;
    for (int m = 0; m < s->maps; m++) {
        s->map[m] = calloc((size_t)s->cells, sizeof(double));
        STRAKE_CHECK(s->map[m] != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
    }
    for (int64_t k = 0; k < s->cells; k++) {
        s->map[ARRIVAL][k] = NAN;
    }
    for (int64_t run = 0; run < maps->table->rows; run++) {
        const strake_scan_row *const row = &maps->table->row[run];
        if (row->text == NULL || row->failed) {
            continue;
        }
        free(path);
        path = strake_scan_trace_path(maps->job->maps, row->id);
        STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
        STRAKE_TRY(strake_scan_trace_read(path, row->id, &trace, error));
        STRAKE_CHECK(trace.rows == n[0] && trace.cols == n[2], error, STRAKE_ERR_USAGE,
                     "%s: is of another grid; remove it, and the run is made again", path);
        if (s->before == NULL && 10 * run >= 9 * maps->table->rows && s->weight > 0.0) {
            s->before = malloc((size_t)s->cells * sizeof *s->before);
            STRAKE_CHECK(s->before != NULL, error, STRAKE_ERR_MEMORY, "out of memory for maps");
            memcpy(s->before, s->map[PROBABILITY], (size_t)s->cells * sizeof *s->before);
            s->weight_before = s->weight;
        }
        add_run(s, &trace, strake_scan_weight(values, run), maps->job->threshold,
                values->classes > 0 ? strake_scan_class_of(values, run) : -1);
        strake_scan_trace_free(&trace);
    }
    STRAKE_CHECK(s->weight > 0.0, error, STRAKE_ERR_USAGE,
                 "there is no run with a weight above 0 to make maps of");
    for (int64_t k = 0; k < s->cells; k++) {
        s->map[PROBABILITY][k] /= s->weight;
        s->map[MEAN][k] /= s->weight;
        if (s->first > MAPS) {
            s->map[MAPS][k] = 1.0 - strake_exp(-eruptions * s->map[PROBABILITY][k]);
        }
        for (int c = 0; c < values->classes; c++) { /* 0 / 0 is NaN: nothing is known */
            s->map[s->first + c][k] /= s->class_weight[c];
        }
    }
cleanup:
    strake_scan_trace_free(&trace);
    free(path);
    return status;
}

/* A case whose outputs are the maps; it shares all else with the one that was run. */
static strake_case case_of_maps(const strake_scan_maps *maps, const strake_problem *problem)
{
    strake_case out = *maps->which;
    strake_error none;
    out.problem = problem;
    out.precision = STRAKE_DOUBLE;
    memset(out.output_field, 0, sizeof out.output_field);
    for (int m = 0; m < problem->fields; m++) {
        out.output_field[m] = true;
    }
    out.picture.field = 0;
    out.picture.range = STRAKE_RANGE_GIVEN;
    out.picture.low = 0.0;
    out.picture.high = maps->high;
    out.picture.is_log = out.picture.parts = false;
    out.picture.contours = out.picture.levels = 0;
    out.output_format[STRAKE_FORMAT_PNG] =
        strake_formats[STRAKE_FORMAT_PNG]->look(&out, &none) == STRAKE_OK;
    if (!out.output_format[STRAKE_FORMAT_PNG]) {
        strake_say_note("there is no picture of the %s: %s", problem->field[0].name, none.text);
    }
    return out;
}

/* The ground under the picture of the probability: that of all runs, where none of them has another one; -1: none. */
static int find_ground(const strake_scan_maps *maps)
{
    const strake_case *const which = maps->which;
    const char *const *const over = maps->arguments->overs;
    int ground = which->picture.has_relief ? strake_output_ground(which) : -1;
    for (int k = 0; ground >= 0 && k < maps->arguments->over_count; k++) {
        if (strake_left_varies(over[k], which->problem->field[ground].name)) {
            return -1;
        }
    }
    return ground >= 0 && which->source[ground] != NULL ? ground : -1;
}

/* What the command changes of the case, in all runs and from run to run. NULL without memory. */
static const char **list_changes(const strake_arguments *arguments)
{
    const int sets = arguments->set_count, overs = arguments->over_count;
    const char **const out = calloc((size_t)(sets + overs) + 1, sizeof *out);
    for (int k = 0; out != NULL && k < sets + overs; k++) {
        out[k] = k < sets ? arguments->sets[k] : arguments->overs[k - sets];
    }
    return out;
}

/* The maps as fields: those of classes have names of their own. */
typedef struct map_fields {
    strake_field field[MOST_MAPS];
    char text[120], absolute[120], name[STRAKE_SCAN_CLASSES][STRAKE_SCAN_NUMBER + 16];
} map_fields;

static void describe_maps(const maps_job *maps, const sums *s, map_fields *out)
{
    const strake_scan_values *const values = maps->job->values;
    memcpy(out->field, maps_of, sizeof maps_of);
    (void)strake_number_print(out->text, sizeof out->text,
                              "of a flow thicker than %.6g m, of %.0f runs", maps->job->threshold,
                              (double)s->runs);
    (void)strake_number_print(out->absolute, sizeof out->absolute,
                              "of one or more flows where %.6g eruptions are expected",
                              maps->job->arguments->eruptions);
    out->field[PROBABILITY].text = out->text;
    out->field[MAPS] =
        (strake_field){"absolute", STRAKE_CELL, .unit = "[-]", .text = out->absolute};
    for (int c = 0; c < values->classes; c++) {
        (void)snprintf(out->name[c], sizeof out->name[c], "probability-%s",
                       values->one_class[c].name);
        out->field[s->first + c] = (strake_field){out->name[c], STRAKE_CELL, .unit = "[-]",
                                                  .text = "of a flow in an eruption of the class"};
    }
}

strake_status strake_scan_maps_put(const strake_scan_maps *maps, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char date[32], source[80], id[STRAKE_ABOUT_ID];
    strake_output output = {0};
    strake_text history = {0};
    const int64_t started = strake_clock_date();
    const char **const changes = list_changes(maps->arguments);
    const strake_about about = {.commit = strake_commit,
                                .sets = maps->arguments->sets,
                                .overs = maps->arguments->overs,
                                .ranks = 1,
                                .started = started,
                                .run = id};
    strake_about_id(started, id);
    const strake_problem problem = {.name = maps->which->problem->name,
                                    .text = maps->text,
                                    .dims = 2,
                                    .is_adaptive = maps->which->problem->is_adaptive,
                                    .fields = maps->fields,
                                    .field = maps->field};
    const strake_case which = case_of_maps(maps, &problem);
    const int ground = find_ground(maps);
    (void)snprintf(source, sizeof source, "Strake %s%s%.40s", STRAKE_VERSION,
                   strake_commit[0] != '\0' ? ", " : "", strake_commit);
    strake_text_print(&history, "%s: ", strake_clock_utc(started, date));
    strake_command_line(maps->arguments, maps->command, &history);
    const strake_format_run run = {.which = &which,
                                   .folder = maps->folder,
                                   .run = id,
                                   .history = history.data,
                                   .source = source,
                                   .sets = changes,
                                   .resumed = -1,
                                   .grounded = ground >= 0 ? maps->which : NULL,
                                   .ground = ground};
    STRAKE_CHECK(!history.failed && changes != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for maps");
    STRAKE_TRY(strake_output_begin(&output, &run, strake_formats, error));
    STRAKE_TRY(strake_begin_folder(&about, &which, NULL, maps->folder, false, error));
    STRAKE_TRY(strake_output_put(&output, (strake_format_output){.step = -1, .time = maps->time},
                                 maps->map, error));
cleanup:
    strake_output_end(&output);
    free((void *)changes);
    strake_text_free(&history);
    return status;
}

static strake_status write_maps(const maps_job *maps, sums *s, strake_error *error)
{
    map_fields of;
    describe_maps(maps, s, &of);
    const strake_scan_maps out = {.arguments = maps->job->arguments,
                                  .command = "scan",
                                  .text = "maps of the runs of a scan",
                                  .which = maps->which,
                                  .folder = maps->job->maps,
                                  .fields = s->maps,
                                  .field = of.field,
                                  .map = s->map,
                                  .high = 1.0,
                                  .time = s->time};
    return strake_scan_maps_put(&out, error);
}

/* How far the map of probability has come: what the last tenth of the runs changed in it. */
static void tell_change(const sums *s)
{
    double most = 0.0;
    for (int64_t k = 0; k < s->cells && s->before != NULL; k++) {
        most = fmax(most, fabs(s->map[PROBABILITY][k] - s->before[k] / s->weight_before));
    }
    if (s->before != NULL) {
        char text[24];
        (void)strake_number_print(text, sizeof text, "%.3g", most);
        (void)printf("the last tenth of the runs changed the probability of a cell by at most %s\n",
                     text);
    }
}

strake_status strake_scan_maps_write(const strake_scan_job *job, const strake_scan_table *table,
                                     const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    sums s = {.runs = 0};
    const maps_job maps = {job, table, which};
    if (job->maps == NULL) {
        return STRAKE_OK;
    }
    STRAKE_TRY(add_all(&s, &maps, error));
    STRAKE_TRY(write_maps(&maps, &s, error));
    if (!job->arguments->quiet) {
        (void)printf("%s: probability, mean, maximum and arrival of %lld runs", job->maps,
                     (long long)s.runs);
        (void)printf("%s%s\n", s.first > MAPS ? ", absolute probability" : "",
                     job->values->classes > 0 ? ", probability of each class" : "");
        tell_change(&s);
    }
    for (int c = 0; c < job->values->classes; c++) {
        if (!(s.class_weight[c] > 0.0)) {
            strake_say_note("no run is of class %s, whose map has no value",
                            job->values->one_class[c].name);
        }
    }
    if (s.runs < table->rows) {
        strake_say_warning("the maps lack %lld runs, which failed",
                           (long long)(table->rows - s.runs));
    }
cleanup:
    for (int m = 0; m < s.maps; m++) {
        free(s.map[m]);
    }
    free(s.before);
    return status;
}
