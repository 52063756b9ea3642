#include "grid/active.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/spread.h"

enum { ROW_COLUMNS = 20 /* the calls for a slab take as long as so many columns of it */ };

/* Current arrays of states that tell which cells a sweep makes active. @return their number */
static int find_foretelling(const strake_grid *grid, int parity, const void **array)
{
    const strake_problem *const problem = grid->which->problem;
    int arrays = 0;
    for (int f = 0; f < problem->fields; f++) {
        if (problem->field[f].foretells) {
            array[arrays++] = grid->array[parity][grid->value_of[f]];
        }
    }
    return arrays;
}

/* Current arrays of a parity that make cells active. @return their number */
static int find_arrays(const strake_grid *grid, bool states, int parity, const void **array)
{
    const strake_problem *const problem = grid->which->problem;
    int arrays = 0;
    for (int f = 0; f < problem->fields; f++) {
        const bool is_state = problem->field[f].is_state;
        void *const found = grid->array[is_state ? parity : 0][grid->value_of[f]];
        if (problem->field[f].wakes && is_state == states &&
            grid->field[f].state != STRAKE_FIELD_CONSTANT && found != NULL) {
            array[arrays++] = found;
        }
    }
    return arrays;
}

/* Whether some field makes cells active, but none all of them, and all have an edge to lie at. */
static bool is_wanted(const strake_grid *grid)
{
    const strake_case *const which = grid->which;
    const strake_layout *const l = &grid->layout;
    bool wakes = false;
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        if (field->wakes && grid->field[f].state == STRAKE_FIELD_CONSTANT &&
            grid->number[f] > 0.0) {
            return false;
        }
        wakes = wakes || field->wakes;
    }
    return wakes && which->run.activity == 0 && l->n[1] + l->lo[1] + l->hi[1] == 1 &&
           l->boundary[0] != STRAKE_PERIODIC && l->boundary[2] != STRAKE_PERIODIC && l->steps == 1;
}

void strake_grid_open_activity(strake_grid *grid)
{
    strake_grid_close_activity(grid);
    if (!is_wanted(grid)) {
        return;
    }
    grid->domain.work = calloc((size_t)grid->layout.n[0], sizeof *grid->domain.work);
    if (grid->domain.work == NULL ||
        !strake_activity_open(&grid->activity, &grid->graph, &grid->layout,
                              grid->which->problem->spread)) {
        strake_grid_close_activity(grid);
        return;
    }
    const void *array[STRAKE_MAX_FIELDS];
    strake_activity_foretell(&grid->activity, grid->which->problem->spread,
                             find_foretelling(grid, 0, array));
    /* A slab's columns are looked at by one thread. */
    grid->domain.is_divisible = false;
}

void strake_grid_close_activity(strake_grid *grid)
{
    free(grid->domain.work);
    grid->domain.work = NULL;
    strake_activity_close(&grid->activity);
}

void strake_grid_wake_inputs(strake_grid *grid)
{
    const void *array[STRAKE_MAX_FIELDS];
    if (grid->activity.memory != NULL) {
        const int arrays = find_arrays(grid, false, 0, array);
        strake_activity_take_inputs(&grid->activity, &grid->layout, arrays, array);
    }
}

void strake_grid_wake_all(strake_grid *grid)
{
    if (grid->activity.memory != NULL) {
        strake_activity_reset(&grid->activity);
    }
}

void strake_grid_wake_moved(strake_grid *grid, strake_range before, strake_range then)
{
    const strake_range low = {before.first < then.first ? before.first : then.first,
                              before.first < then.first ? then.first : before.first};
    const strake_range high = {before.end < then.end ? before.end : then.end,
                               before.end < then.end ? then.end : before.end};
    if (grid->activity.memory != NULL) {
        strake_activity_wake(&grid->activity, low);
        strake_activity_wake(&grid->activity, high);
    }
}

bool strake_grid_list_spans(const strake_grid *grid, const strake_leg *leg, strake_spans *spans)
{
    return grid->activity.memory != NULL && leg->sweep >= 0 &&
           strake_spans_list(spans, &grid->activity, leg->sweep, leg->all);
}

void strake_grid_look(strake_grid *grid, const strake_leg *leg, const strake_spans *spans)
{
    const void *array[STRAKE_MAX_FIELDS];
    if (strake_activity_is_look(leg->sweep)) {
        int arrays = find_arrays(grid, true, 1 - leg->parity, array);
        arrays += find_foretelling(grid, 1 - leg->parity, array + arrays);
        strake_activity_look(&grid->activity, spans, leg->sweep, leg->slabs, &grid->layout, arrays,
                             array);
    }
}

int strake_grid_find_wakes(const strake_grid *grid, int most, int *value)
{
    const strake_problem *const problem = grid->which->problem;
    int count = 0;
    for (int f = 0; f < problem->fields && grid->activity.memory != NULL; f++) {
        if (problem->field[f].wakes && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            if (count == most) {
                return 0;
            }
            value[count++] = grid->value_of[f];
        }
    }
    return count;
}

void strake_grid_describe_activity(const strake_grid *grid, strake_range slabs,
                                   strake_part_report *out)
{
    const strake_activity *const a = &grid->activity;
    double *const work = calloc((size_t)grid->layout.n[0], sizeof *work);
    if (a->memory != NULL && work != NULL) {
        strake_activity_work(a, grid->domain.sweeps, (strake_range){0, a->slabs}, work);
        out->active = 0.0;
        for (int64_t slab = 0; slab < a->slabs; slab++) {
            const bool is_own = slab >= slabs.first && slab < slabs.end;
            out->active += is_own ? (double)a->active[slab] : 0.0;
            out->patches += is_own ? work[slab] / (double)a->grain : 0.0;
            out->active_updates += a->updates[slab];
            out->computed += a->computed[slab];
        }
    }
    free(work);
}

static void weigh(void *user, int part, strake_range slabs)
{
    const strake_grid *const grid = user;
    double *const work = grid->domain.work;
    (void)part;
    strake_activity_work(&grid->activity, grid->domain.sweeps, slabs, work);
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        work[slab] += work[slab] > 0.0 ? (double)ROW_COLUMNS : 0.0;
    }
}

void strake_grid_weigh(strake_domain *domain)
{
    strake_grid *const grid = strake_grid_of(domain);
    const int64_t slabs = domain->slabs;
    if (grid->activity.memory != NULL) {
        const int parts =
            strake_spread_parts(strake_workers_copying(grid->team), slabs * grid->activity.columns);
        strake_spread((strake_range){0, slabs}, parts, weigh, grid);
    }
}
