/* Fields from their sources, and what inputs need before the first step. */
#include "grid/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/element.h"
#include "base/number.h"
#include "cpu/spread.h"
#include "engine/extend.h"
#include "engine/lines.h"
#include "grid/ahead.h"

/* Where a field is furthest below 0, as the largest of its negative, and what is largest in it. */
enum { BELOW, ABOVE };

typedef struct signs_job {
    const strake_grid *grid;
    const void *array; /* of the grid, or NULL: ... */
    const void *data;  /* ... dense slabs, from slab first on */
    int64_t first;
} signs_job;

static strake_status survey_slabs(const strake_grid *grid, strake_range slabs, int threads,
                                  strake_survey_look *look, const void *user, strake_extremes out,
                                  strake_error *error);
static strake_status survey_all(const strake_grid *grid, strake_survey_look *look, const void *user,
                                strake_extremes out, strake_error *error);
static const char *survey_when(const strake_grid *grid, bool changes, char text[80]);

static const double *piece_of(const signs_job *work, int64_t i, int64_t m, int64_t j, int64_t count,
                              strake_piece room)
{
    const strake_layout *const l = &work->grid->layout;
    if (work->array != NULL) {
        return strake_piece_of(l, work->array, 0.0, i, m, j, count, room);
    }
    strake_element_widen(work->data, l->element_size,
                         ((i - work->first) * l->n[1] + m) * l->n[2] + j, count, room);
    return room;
}

static void signs_look(const void *user, strake_range slabs, strake_extremes found)
{
    const signs_job *const work = user;
    const int64_t *const n = work->grid->layout.n;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                const int64_t count = n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE;
                strake_piece room, negative;
                const double *const x = piece_of(work, i, m, j, count, room);
                for (int64_t k = 0; k < count; k++) {
                    negative[k] = -x[k];
                }
                strake_extreme_add_line(&found[BELOW], negative, count, i, m, j);
                strake_extreme_add_line(&found[ABOVE], x, count, i, m, j);
            }
        }
    }
}

static const char *reason(const strake_grid *grid, int f)
{
    const strake_problem *const problem = grid->which->problem;
    return problem->nonnegative != NULL ? problem->nonnegative(grid->which, f) : NULL;
}

static strake_status refuse(const strake_grid *grid, int f, const strake_extreme *below,
                            strake_error *error)
{
    char place[80], when[80];
    return strake_fail(error, STRAKE_ERR_USAGE, "%s: %s is %.17g at %s but %s%s", grid->which->file,
                       grid->which->problem->field[f].name, -below->value,
                       strake_case_cell_text(grid->which, below->cell, place), reason(grid, f),
                       survey_when(grid, grid->field[f].changes, when));
}

/* The same on all ranks. */
static bool is_looked_at(const strake_grid *grid, int f)
{
    const strake_field_state state = grid->field[f].state;
    const bool is_new = grid->which->problem->field[f].is_state
                            ? state != STRAKE_FIELD_EMPTY && grid->domain.step == 0
                            : state == STRAKE_FIELD_RAW;
    return is_new && reason(grid, f) != NULL;
}

/** Refuses them where they are negative: inputs that are new, and states before the first step. Collective. */
static strake_status signs_check(const strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        strake_extremes all;
        if (is_looked_at(grid, f)) {
            const signs_job work = {.grid = grid,
                                    .array = grid->array[grid->domain.parity][grid->value_of[f]]};
            STRAKE_TRY(survey_all(grid, signs_look, &work, all, error));
            STRAKE_TRY(all[BELOW].value > 0.0 ? refuse(grid, f, &all[BELOW], error) : STRAKE_OK);
        }
    }
cleanup:
    return status;
}

strake_status strake_signs_check_given(const strake_grid *grid, int f, int64_t first, int64_t end,
                                       const void *data, strake_error *error)
{
    /* A step lets all of a cell out but for roundings; less than what denominators have added is nothing in them. */
    static const double rounded = 1e-6, none = 1e-15;
    strake_status status = STRAKE_OK;
    const signs_job work = {.grid = grid, .data = data, .first = first};
    const bool is_state = grid->which->problem->field[f].is_state;
    double least = 0.0;
    strake_extremes all;
    if (reason(grid, f) == NULL || first >= end) {
        return STRAKE_OK;
    }
    STRAKE_TRY(survey_slabs(grid, (strake_range){first, end}, strake_workers_copying(grid->team),
                            signs_look, &work, all, error));
    least = is_state ? fmax(none, rounded * all[ABOVE].value) : 0.0;
    STRAKE_TRY(all[BELOW].value > least ? refuse(grid, f, &all[BELOW], error) : STRAKE_OK);
cleanup:
    return status;
}

/* Adds what later slabs have. */
static void join_extremes(strake_extremes all, strake_extremes later)
{
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        strake_extreme_add(&all[k], later[k].value, later[k].cell[0], later[k].cell[1],
                           later[k].cell[2]);
    }
}

static void begin_extremes(strake_extremes all)
{
    for (int k = 0; k < STRAKE_MAX_EXTREMES; k++) {
        all[k] = (strake_extreme){-INFINITY, {0, 0, 0}};
    }
}

/* Work on slabs by several threads. */
typedef struct look_job {
    strake_survey_look *look;
    const void *user;
    strake_extremes *found; /* by each part */
} look_job;

static void look_at_part(void *user, int part, strake_range slabs)
{
    const look_job *const work = user;
    begin_extremes(work->found[part]);
    work->look(work->user, slabs, work->found[part]);
}

/** Looks at slabs of this process, by so many threads. @return STRAKE_ERR_MEMORY */
static strake_status survey_slabs(const strake_grid *grid, strake_range slabs, int threads,
                                  strake_survey_look *look, const void *user, strake_extremes out,
                                  strake_error *error)
{
    const int parts = strake_spread_parts(threads, (slabs.end - slabs.first) * grid->layout.slab);
    look_job work = {look, user, calloc((size_t)parts, sizeof(strake_extremes))};
    begin_extremes(out);
    if (work.found == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    }
    strake_spread(slabs, parts, look_at_part, &work);
    for (int part = 0; part < parts; part++) {
        join_extremes(out, work.found[part]);
    }
    free(work.found);
    return STRAKE_OK;
}

/** The same of the whole domain, by all threads of all ranks. Collective. */
static strake_status survey_all(const strake_grid *grid, strake_survey_look *look, const void *user,
                                strake_extremes out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(grid->domain.ranks);
    strake_extremes own;
    strake_extremes *const all = calloc((size_t)count, sizeof *all);
    begin_extremes(out);
    status =
        all != NULL
            ? survey_slabs(grid, grid->domain.own, grid->team->most_threads, look, user, own, error)
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory looking at the fields");
    STRAKE_TRY(strake_ranks_agree(grid->domain.ranks, status, error));
    memcpy(all, own, sizeof own);
    if (grid->domain.ranks != NULL) {
        STRAKE_TRY(strake_ranks_collect(grid->domain.ranks, own, sizeof own, all, error));
    }
    for (int k = 0; k < count; k++) {
        join_extremes(out, all[k]);
    }
cleanup:
    free(all);
    return status;
}

typedef struct survey_job {
    const strake_grid *grid;
    void *const *array;
    strake_survey_work *before;
    const void *user;
} survey_job;

/* Slabs stay in a private cache between what is done to them. */
static void survey_survey(const void *user, strake_range slabs, strake_extremes found)
{
    enum { FEW = 1 << 14 };
    const survey_job *const work = user;
    const strake_case *const which = work->grid->which;
    const int64_t all = slabs.end - slabs.first;
    const int64_t count = work->before != NULL ? FEW / work->grid->layout.slab + 1 : all;
    for (int64_t i = slabs.first; i < slabs.end; i += count) {
        const strake_range few = {i, i + count < slabs.end ? i + count : slabs.end};
        if (work->before != NULL) {
            work->before(work->user, few);
        }
        which->problem->survey(which, &work->grid->layout, few, work->array, work->grid->number,
                               found);
    }
}

/**
 * The problem's survey of the whole domain, by all threads.
 * @param[in] array   by field, prepared but for @p before
 * @param[in] before  called for a few slabs after the other; NULL: nothing is left to do
 * Collective.
 */
static strake_status strake_survey(strake_grid *grid, void *const *array,
                                   strake_survey_work *before, const void *user,
                                   strake_extremes extreme, strake_error *error)
{
    const survey_job work = {grid, array, before, user};
    return survey_all(grid, survey_survey, &work, extreme, error);
}

/** "; so it is in step 7, from 1.5 s on" of what changes with time, else "". @return @p text */
static const char *survey_when(const strake_grid *grid, bool changes, char text[80])
{
    text[0] = '\0';
    if (changes) {
        (void)strake_number_print(text, 80, "; so it is in step %lld, from %.15g s on",
                                  (long long)grid->domain.step + 1, grid->moment.begin);
    }
    return text;
}

/** The problem's judgement; a flow that changes is told by its time, too. @return STRAKE_ERR_USAGE */
static strake_status survey_judge(const strake_grid *grid, strake_extremes extreme,
                                  strake_error *error)
{
    strake_error why;
    bool changes = false;
    char when[80];
    const strake_status status = grid->which->problem->judge(grid->which, extreme, &why);
    for (int f = 0; f < grid->which->problem->fields; f++) {
        changes = changes || grid->field[f].changes;
    }
    return status == STRAKE_OK
               ? STRAKE_OK
               : strake_fail(error, status, "%s%s", why.text, survey_when(grid, changes, when));
}

/* Work on a field of a solver by several threads. */
typedef struct job {
    const strake_grid *grid;
    int field;
    int64_t shape[STRAKE_AXES]; /* of the field */
    void *array;
    strake_status *status; /* of each part */
    strake_error *error;
} job;

static job job_of(const strake_grid *grid, int f)
{
    job work = {
        .grid = grid, .field = f, .array = grid->array[grid->domain.parity][grid->value_of[f]]};
    strake_case_field_shape(grid->which, f, work.shape);
    return work;
}

/* Parts into which the work on some slabs of the grid is divided. */
static int parts_of(const strake_grid *grid, strake_range slabs)
{
    return strake_spread_parts(grid->team->most_threads,
                               (slabs.end - slabs.first) * grid->layout.slab);
}

/* A line of velocities that a model has given, as a source would give it. */
static void read_given(const job *work, int64_t i, int64_t m, double *line)
{
    const strake_grid *const grid = work->grid;
    const strake_layout *const l = &grid->layout;
    const int axis = (int)grid->which->problem->field[work->field].position - (int)STRAKE_FACE_0;
    const int64_t n = work->shape[2];
    strake_element_widen(grid->velocity[work->field], l->element_size, strake_layout_at(l, i, m, 0),
                         n, line);
    strake_case_pass_velocity(grid->which, axis, grid->moment.dt, i, m, n, line);
}

/* Lines of a source are read to their places where these hold doubles, else on the way there. */
static strake_status fill_slabs(const job *work, strake_range slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_layout *const l = &work->grid->layout;
    const int64_t n = work->shape[2];
    const bool is_given = work->grid->field[work->field].is_given;
    strake_source_reader *reader = NULL;
    double *const line = malloc((size_t)n * sizeof *line);
    STRAKE_CHECK(line != NULL, error, STRAKE_ERR_MEMORY, "out of memory reading fields");
    if (!is_given) {
        STRAKE_TRY(strake_source_open_at(work->grid->which, work->field, &work->grid->moment,
                                         &reader, error));
        strake_ahead_offer(work->grid, work->field, slabs, reader);
    }
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < work->shape[1]; m++) {
            const int64_t at = strake_layout_at(l, i, m, 0);
            if (is_given) {
                read_given(work, i, m, line);
                strake_element_narrow(work->array, l->element_size, at, n, line);
                continue;
            }
            if (l->element_size == sizeof(double)) {
                double *const place = (double *)work->array + at;
                STRAKE_TRY(strake_source_line(reader, i, m, place, error));
                continue;
            }
            STRAKE_TRY(strake_source_line(reader, i, m, line, error));
            strake_element_narrow(work->array, l->element_size, at, n, line);
        }
    }
cleanup:
    strake_source_close(&reader);
    free(line);
    return status;
}

static void fill_part(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    work->status[part] = fill_slabs(work, slabs, &work->error[part]);
}

/*
 * The slabs of a field that this rank has: of a state its own, of an input all that it reads. A field on
 * faces has one more at the end of the domain.
 */
static strake_window slabs_of(const strake_grid *grid, int f)
{
    int64_t shape[STRAKE_AXES];
    strake_window slabs = {1, {grid->domain.own}};
    if (!grid->which->problem->field[f].is_state) {
        slabs = grid->window;
    }
    strake_case_field_shape(grid->which, f, shape);
    for (int k = 0; k < slabs.ranges; k++) {
        if (slabs.range[k].end == grid->layout.n[0]) {
            slabs.range[k].end = shape[0];
        }
    }
    return slabs;
}

/*
 * Fills slabs of a field from its source, each thread its share of them: sources give lines in any order.
 * Of several failures the one of the first slabs is reported.
 */
static strake_status fill_range(const strake_grid *grid, int f, strake_range range,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    job work = job_of(grid, f);
    const int parts =
        strake_source_is_alone(grid->which, grid->which->source[f]) ? 1 : parts_of(grid, range);
    work.status = calloc((size_t)parts, sizeof *work.status);
    work.error = calloc((size_t)parts, sizeof *work.error);
    STRAKE_CHECK(work.status != NULL && work.error != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory reading fields");
    strake_spread(range, parts, fill_part, &work);
    for (int part = 0; part < parts; part++) {
        STRAKE_CHECK(work.status[part] == STRAKE_OK, error, work.status[part], "%s",
                     work.error[part].text);
    }
cleanup:
    free(work.status);
    free(work.error);
    return status;
}

/* An input that is poured, and the slabs of it that this rank has. */
typedef struct pouring {
    job work;
    strake_window slabs;
} pouring;

static void add_amount(void *user, int64_t i, int64_t j, double amount)
{
    const pouring *const p = user;
    const strake_layout *const l = &p->work.grid->layout;
    if (strake_window_has(&p->slabs, i)) {
        const int64_t at = strake_layout_at(l, i, 0, j);
        strake_element_set(p->work.array, l->element_size, at,
                           strake_element_get(p->work.array, l->element_size, at) + amount);
    }
}

/* Adds what the problem pours from the clock's time on, in its order. */
static void pour(strake_grid *grid, int f)
{
    const strake_problem *const problem = grid->which->problem;
    pouring all = {job_of(grid, f), slabs_of(grid, f)};
    if (problem->field[f].is_poured) {
        grid->poured_at = grid->domain.clock.time;
        (void)problem->pour(grid->which, f, grid->poured_at, add_amount, &all);
    }
}

strake_status strake_inputs_refill(strake_grid *grid, int f, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_window slabs = slabs_of(grid, f);
    const bool is_given = grid->field[f].is_given;
    for (int k = 0; k < slabs.ranges; k++) {
        STRAKE_TRY(fill_range(grid, f, slabs.range[k], error));
    }
    pour(grid, f);
    grid->field[f].state = STRAKE_FIELD_RAW;
    grid->field[f].from_shape = is_given || strake_source_is_velocity(grid->which->source[f]);
    grid->field[f].changes =
        !is_given && strake_source_interval(grid->which->source[f]) < (double)INFINITY;
cleanup:
    return status;
}

static void fill_constant(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    const strake_layout *const l = &work->grid->layout;
    const strake_field *const field = &work->grid->which->problem->field[work->field];
    (void)part;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < work->shape[1]; m++) {
            const int64_t at = strake_layout_at(l, i, m, 0);
            const double number =
                field->in_line != NULL ? field->in_line(work->grid->which, i, m) : field->fallback;
            strake_element_fill(work->array, l->element_size, at, work->shape[2], number);
        }
    }
}

/* An optional field that may be set later starts as its default. */
static void fill_default(strake_grid *grid, int f)
{
    const strake_window slabs = slabs_of(grid, f);
    job work = job_of(grid, f);
    for (int k = 0; k < slabs.ranges; k++) {
        strake_spread(slabs.range[k], parts_of(grid, slabs.range[k]), fill_constant, &work);
    }
    grid->field[f].state = STRAKE_FIELD_RAW;
}

/* Whether a field that is not given has values all the same: not where its steps need those of a model. */
static bool has_default(const strake_grid *grid, int f)
{
    const strake_field *const field = &grid->which->problem->field[f];
    return !field->required && !isnan(field->fallback);
}

bool strake_inputs_are_poured(const strake_case *which, int f)
{
    return which->problem->field[f].is_poured &&
           which->problem->pour(which, f, 0.0, NULL, NULL) > 0;
}

void strake_inputs_pour(strake_grid *grid)
{
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (strake_inputs_are_poured(grid->which, f)) {
            grid->field[f].is_poured_again = grid->field[f].state >= STRAKE_FIELD_READY;
            fill_default(grid, f);
            pour(grid, f);
        }
    }
}

strake_status strake_inputs_fill(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *which = grid->which;
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->source[f] != NULL && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        } else if (grid->field[f].state != STRAKE_FIELD_CONSTANT && has_default(grid, f)) {
            fill_default(grid, f);
            pour(grid, f);
        }
    }
cleanup:
    return status;
}

/* Whether an input is new, so that what follows from it is not there. */
static bool inputs_is_new(const strake_grid *grid, int f)
{
    return !grid->which->problem->field[f].is_state &&
           (grid->field[f].state == STRAKE_FIELD_OUTDATED ||
            grid->field[f].state == STRAKE_FIELD_RAW);
}

/* Of one that is new: whether it decides on stability. */
static bool is_surveyed(const strake_grid *grid, int f)
{
    const strake_field *const field = &grid->which->problem->field[f];
    return inputs_is_new(grid, f) && !grid->field[f].is_poured_again &&
           !(field->may_change && field->position == STRAKE_CELL);
}

bool strake_inputs_move(const strake_grid *grid, int f)
{
    return grid->field[f].changes ||
           (grid->domain.is_timed && grid->field[f].from_shape && !grid->field[f].is_given);
}

bool strake_inputs_are_new(const strake_grid *grid)
{
    bool any = false;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        any = any || is_surveyed(grid, f);
    }
    return any;
}

/* Velocities given by a shape are weighted with h: they are taken anew after that has changed. */
static strake_status refill_shaped(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *const problem = grid->which->problem;
    for (int f = 0; f < problem->fields; f++) {
        const char *const named = problem->field[f].weight;
        const int weight =
            grid->field[f].from_shape && named != NULL ? strake_field_named(problem, named) : f;
        if (grid->field[f].from_shape && grid->field[f].state != STRAKE_FIELD_RAW &&
            (grid->field[f].state == STRAKE_FIELD_OUTDATED || inputs_is_new(grid, weight))) {
            STRAKE_TRY(strake_inputs_refill(grid, f, error));
        }
    }
cleanup:
    return status;
}

static void extend_part(void *user, int part, strake_range slabs)
{
    const job *const work = user;
    (void)part;
    strake_layout_fill_lateral(&work->grid->layout, work->array, slabs.first, slabs.end);
}

/* Ghosts of a field of cells beside some slabs. */
static void extend_lateral(const strake_grid *grid, int f, strake_range slabs)
{
    job work = job_of(grid, f);
    strake_spread(slabs, parts_of(grid, slabs), extend_part, &work);
}

/* Work on all static inputs. */
typedef struct statics_job {
    strake_statics statics;
    const strake_window *window;
    strake_statics_group group;
    int axis;
    int field;        /* whose own values are to be completed, ... */
    bool is_weighted; /* ... with its weight, too */
    int64_t end;
} statics_job;

static void extend_group(void *user, int part, strake_range slabs)
{
    const statics_job *const work = user;
    (void)part;
    strake_extend(&work->statics, work->group, work->axis, slabs, work->end);
}

static void complete_field(void *user, int part, strake_range slabs)
{
    const statics_job *const work = user;
    (void)part;
    if (work->is_weighted) {
        strake_weight(&work->statics, work->field, slabs);
    }
    strake_close_faces(&work->statics, work->field, slabs);
}

/* Slabs before (0) and after (1) the domain, where its ends are in the window: a ghost may follow the one before it. */
static void extend_sides(void *user, int part, strake_range sides)
{
    const statics_job *const work = user;
    const strake_layout *const l = work->statics.layout;
    for (int64_t side = sides.first; side < sides.end; side++) {
        const strake_range slabs =
            side == 0 ? (strake_range){-l->lo[0], 0} : (strake_range){l->n[0], l->n[0] + l->hi[0]};
        if (strake_window_has(work->window, side == 0 ? 0 : l->n[0] - 1)) {
            extend_group(user, part, slabs);
        }
    }
}

/*
 * Ghosts of a group across an axis, beyond the ends of the domain where these are in the window. @param[in] later  slabs
 * that are left out
 */
static void extend(const strake_grid *grid, const strake_statics *statics,
                   strake_statics_group group, int axis, strake_range later)
{
    const strake_layout *const l = &grid->layout;
    const strake_window *const window = &grid->window;
    statics_job work = {.statics = *statics,
                        .window = window,
                        .group = group,
                        .axis = axis,
                        .end = l->n[0] + l->hi[0]};
    if (axis == 0) {
        const int parts = parts_of(grid, (strake_range){-l->lo[0], l->hi[0]});
        strake_spread((strake_range){0, 2}, parts < 2 ? parts : 2, extend_sides, &work);
    }
    for (int k = 0; k < window->ranges && axis > 0; k++) {
        strake_range slabs = window->range[k];
        slabs.first -= slabs.first == 0 ? l->lo[0] : 0;
        slabs.end += slabs.end == l->n[0] ? l->hi[0] : 0;
        work.end = slabs.end;
        const strake_range part[] = {
            {slabs.first, later.first < slabs.end ? later.first : slabs.end},
            {later.end > slabs.first ? later.end : slabs.first, slabs.end}};
        for (int p = 0; p < 2; p++) {
            if (part[p].first < part[p].end) {
                strake_spread(part[p], parts_of(grid, part[p]), extend_group, &work);
            }
        }
    }
}

/* The inputs, and what of them is new or follows from that. */
typedef struct fresh {
    void *array[STRAKE_MAX_FIELDS]; /* of each field */
    bool is_extended[STRAKE_MAX_FIELDS];
    void *extended[STRAKE_MAX_FIELDS]; /* of those that are */
    strake_statics statics;            /* these */
    strake_survey_work *before;        /* what is left for the survey to do, or NULL */
} fresh;

/*
 * Of components of a flow that are continued beyond edges together all are, if one is new: the ghosts of each follow
 * the others. So do those of an input that follows another one. Marks as new what is extended. @return whether a flow is
 */
static bool list_extended(const strake_grid *grid, const strake_statics *statics,
                          bool extended[STRAKE_MAX_FIELDS])
{
    bool flow = false;
    const strake_problem *const problem = statics->problem;
    for (int f = 0; f < problem->fields; f++) {
        extended[f] = inputs_is_new(grid, f);
        flow = flow || (extended[f] && strake_extends_together(statics, f));
    }
    for (int f = 0; f < problem->fields && flow; f++) {
        extended[f] = extended[f] || strake_extends_together(statics, f);
    }
    for (int f = 0; f < problem->fields; f++) {
        const char *const followed = problem->field[f].follows;
        const int other = followed != NULL ? strake_field_named(problem, followed) : f;
        extended[f] = extended[other] = extended[f] || extended[other];
    }
    return flow;
}

/* Ghosts of faces beside some slabs; those across axis 0 are there. */
static void extend_faces(const void *user, strake_range slabs)
{
    const fresh *const new = user;
    for (int axis = 1; axis < STRAKE_AXES; axis++) {
        strake_extend(&new->statics, STRAKE_ON_FACES, axis, slabs, slabs.end);
    }
}

/* Weights of what is new, and zeros at walls. */
static void complete(const strake_grid *grid, const fresh *new)
{
    const strake_problem *const problem = grid->which->problem;
    statics_job work = {.statics = new->statics};
    work.statics.array = new->array;
    for (int f = 0; f < problem->fields; f++) {
        const strake_window slabs = slabs_of(grid, f);
        work.field = f;
        work.is_weighted = grid->field[f].from_shape;
        for (int k = 0; k < slabs.ranges && problem->field[f].weight != NULL &&
                        inputs_is_new(grid, f) && new->array[f] != NULL;
             k++) {
            strake_spread(slabs.range[k], parts_of(grid, slabs.range[k]), complete_field, &work);
        }
    }
}

/*
 * As the problem's table says (engine/extend.h), of what is new and what follows from it. Where a survey is next, the
 * ghosts of faces are left to it that follow nothing of other slabs, and lie in lines that are many and short: it reads
 * the same memory.
 */
static void prepare_new(const strake_grid *grid, bool is_surveyed_next, fresh *new)
{
    const strake_range none = {INT64_MAX, INT64_MAX};
    for (int f = 0; f < grid->which->problem->fields; f++) {
        new->array[f] = grid->array[grid->domain.parity][grid->value_of[f]];
    }
    new->statics = (strake_statics){grid->which->problem, &grid->layout, new->extended,
                                    grid->number, grid->which->is_closed};
    const bool flow = list_extended(grid, &new->statics, new->is_extended);
    new->before = is_surveyed_next && !flow && grid->layout.n[1] > 1 ? extend_faces : NULL;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        new->extended[f] = new->is_extended[f] ? new->array[f] : NULL;
    }
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        extend(grid, &new->statics, STRAKE_ON_CELLS, axis, none);
    }
    complete(grid, new);
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        extend(grid, &new->statics, STRAKE_ON_FACES, axis,
               new->before != NULL ? grid->domain.own : none);
        extend(grid, &new->statics, STRAKE_FREE_OF_DIVERGENCE, axis, none);
    }
}

strake_status strake_inputs_rate(strake_grid *grid, double *rate, strake_error *error)
{
    fresh new;
    strake_extremes extreme;
    prepare_new(grid, true, &new);
    const strake_status status = strake_survey(grid, new.array, new.before, &new, extreme, error);
    *rate = status == STRAKE_OK ? grid->which->problem->pace(extreme) : 0.0;
    return status;
}

strake_status strake_inputs_prepare(strake_grid *grid, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *problem = grid->which->problem;
    fresh new;
    strake_extremes extreme;
    STRAKE_TRY(strake_ranks_agree(grid->domain.ranks, refill_shaped(grid, error), error));
    STRAKE_TRY(signs_check(grid, error));
    for (int f = 0; f < problem->fields; f++) {
        grid->is_stable = grid->is_stable && !is_surveyed(grid, f);
        grid->domain.hash =
            inputs_is_new(grid, f) && !strake_inputs_move(grid, f) ? 0 : grid->domain.hash;
    }
    prepare_new(grid, problem->survey != NULL && !grid->is_stable, &new);
    /* Velocities are weighted now: where they are refused, the next try starts from the shapes again. */
    for (int f = 0; f < problem->fields; f++) {
        if (grid->field[f].from_shape && inputs_is_new(grid, f)) {
            grid->field[f].state = STRAKE_FIELD_OUTDATED;
        }
    }
    if (problem->survey != NULL && !grid->is_stable) {
        STRAKE_TRY(strake_survey(grid, new.array, new.before, &new, extreme, error));
        STRAKE_TRY(problem->judge != NULL ? survey_judge(grid, extreme, error) : STRAKE_OK);
    }
    grid->is_stable = true;
    for (int f = 0; f < problem->fields; f++) {
        if (problem->field[f].is_state && grid->field[f].state == STRAKE_FIELD_RAW) {
            extend_lateral(grid, f, grid->domain.own);
        } else if (new.is_extended[f] && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            grid->field[f].state = STRAKE_FIELD_READY;
        }
        grid->field[f].is_poured_again = false;
    }
    strake_grid_mark(grid, true, STRAKE_FIELD_RAW, STRAKE_FIELD_RAW, STRAKE_FIELD_READY);
cleanup:
    return status;
}
