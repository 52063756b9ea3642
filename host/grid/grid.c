#include "grid/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu/stream.h"
#include "engine/graph.h"
#include "grid/active.h"
#include "grid/arrays.h"
#include "grid/inputs.h"

enum { LINE_BYTES = 64 /* two threads never write to one line of the cache */ };

strake_grid *strake_grid_of(strake_domain *domain)
{
    return (strake_grid *)domain;
}

static const strake_grid *of(const strake_domain *domain)
{
    return (const strake_grid *)domain;
}

/* --- for the team --------------------------------------------------------------------------------- */

/* Whether inputs (or states) are in one of the states from @p first to @p last. */
static bool any_in(const strake_grid *grid, bool states, strake_field_state first,
                   strake_field_state last)
{
    bool any = false;
    for (int f = 0; f < grid->which->problem->fields; f++) {
        const strake_field_state state = grid->field[f].state;
        any = any || (grid->which->problem->field[f].is_state == states && state >= first &&
                      state <= last);
    }
    return any;
}

void strake_grid_mark(strake_grid *grid, bool states, strake_field_state first,
                      strake_field_state last, strake_field_state then)
{
    for (int f = 0; f < grid->which->problem->fields; f++) {
        strake_validity *field = &grid->field[f];
        if (grid->which->problem->field[f].is_state == states && field->state >= first &&
            field->state <= last) {
            field->state = then;
        }
    }
}

static unsigned lacks(const strake_domain *domain)
{
    static const struct {
        unsigned bit;
        bool states;
        strake_field_state first, last;
    } lack[] = {{STRAKE_LACKS_INPUTS, false, STRAKE_FIELD_OUTDATED, STRAKE_FIELD_READY},
                {STRAKE_LACKS_STATES, true, STRAKE_FIELD_RAW, STRAKE_FIELD_READY},
                {STRAKE_LACKS_RESULTS, true, STRAKE_FIELD_AHEAD, STRAKE_FIELD_AHEAD},
                {STRAKE_LACKS_PREPARED, false, STRAKE_FIELD_OUTDATED, STRAKE_FIELD_RAW},
                {STRAKE_LACKS_SHARED, true, STRAKE_FIELD_RAW, STRAKE_FIELD_RAW}};
    unsigned bits = 0;
    for (size_t k = 0; k < sizeof lack / sizeof *lack; k++) {
        const bool any = any_in(of(domain), lack[k].states, lack[k].first, lack[k].last);
        bits |= any ? lack[k].bit : 0U;
    }
    return bits;
}

static void lose_states(strake_grid *grid)
{
    for (int f = 0; f < grid->which->problem->fields; f++) {
        if (grid->which->problem->field[f].is_state && strake_case_has(grid->which, f)) {
            grid->field[f] = (strake_validity){.state = STRAKE_FIELD_EMPTY};
        }
    }
}

static void note(strake_domain *domain, strake_domain_event event)
{
    strake_grid *grid = strake_grid_of(domain);
    const strake_field_state raw = STRAKE_FIELD_RAW, ready = STRAKE_FIELD_READY,
                             placed = STRAKE_FIELD_PLACED, ahead = STRAKE_FIELD_AHEAD;
    const unsigned lacked = lacks(domain);
    if (event == STRAKE_DOMAIN_LOADED && (lacked & STRAKE_LACKS_INPUTS) != 0) {
        strake_grid_wake_inputs(grid);
    }
    if (event == STRAKE_DOMAIN_PLACED || event == STRAKE_DOMAIN_SPOILT ||
        event == STRAKE_DOMAIN_REFRESHED ||
        (event == STRAKE_DOMAIN_LOADED && (lacked & STRAKE_LACKS_STATES) != 0)) {
        strake_grid_wake_all(grid);
    }
    switch (event) {
    case STRAKE_DOMAIN_PLACED:
        strake_grid_mark(grid, false, placed, placed, ready);
        strake_grid_mark(grid, true, placed, ahead, ready);
        break;
    case STRAKE_DOMAIN_LOADED:
        strake_grid_mark(grid, false, ready, ready, placed);
        strake_grid_mark(grid, true, raw, ready, placed);
        break;
    case STRAKE_DOMAIN_STEPPED:
        strake_grid_mark(grid, true, raw, placed, ahead);
        break;
    case STRAKE_DOMAIN_SPOILT:
        strake_grid_mark(grid, true, placed, placed, ready);
        break;
    case STRAKE_DOMAIN_STORED:
        strake_grid_mark(grid, true, ahead, ahead, placed);
        break;
    case STRAKE_DOMAIN_REFRESHED:
        strake_grid_mark(grid, true, raw, placed, ready);
        break;
    case STRAKE_DOMAIN_GIVEN:
        strake_grid_mark(grid, true, raw, ahead, raw);
        break;
    case STRAKE_DOMAIN_LOST:
        lose_states(grid);
        break;
    }
}

static void settle(strake_domain *domain)
{
    strake_arrays_settle(strake_grid_of(domain));
}

static void find_bad(const strake_domain *domain, int parity, int64_t shift, strake_range slabs,
                     strake_range columns, char *text, size_t size)
{
    const strake_grid *grid = of(domain);
    char line[32] = "";
    int64_t cell[STRAKE_AXES] = {slabs.first, 0, 0};
    const char *name = "a state";
    for (int v = 0; v < grid->graph.values; v++) {
        if (grid->graph.value[v].next >= 0 &&
            !strake_layout_part_is_finite(&grid->layout, grid->array[parity][v], slabs.first,
                                          slabs.end, columns.first, columns.end, cell)) {
            name = grid->graph.value[v].name;
            break;
        }
    }
    cell[0] = (cell[0] + shift) % grid->layout.n[0];
    if (grid->which->problem->dims == 3) {
        (void)snprintf(line, sizeof line, "%lld, ", (long long)cell[1]);
    }
    (void)snprintf(text, size, "%s is NaN or Inf at [%lld, %s%lld]", name, (long long)cell[0], line,
                   (long long)cell[2]);
}

static strake_exchange_case exchange(const strake_domain *domain, int64_t slabs, int sides,
                                     double bandwidth)
{
    return strake_exchange_case_of(&of(domain)->graph, &of(domain)->layout, slabs, sides,
                                   bandwidth);
}

static char *array_of(const strake_domain *domain, int item)
{
    const strake_grid *grid = of(domain);
    const int states = domain->states;
    const int value = grid->item[item < states ? item : item - states];
    return grid->array[item >= states && item < 2 * states][value];
}

static strake_stretch piece(const strake_domain *domain, int item, int64_t slab)
{
    const strake_layout *l = &of(domain)->layout;
    return (strake_stretch){array_of(domain, item) + strake_layout_offset(l, slab),
                            (size_t)(l->slab * l->element_size)};
}

static strake_stretch line_of(const strake_domain *domain, int item, int64_t slab, int64_t line)
{
    const strake_layout *l = &of(domain)->layout;
    return (strake_stretch){array_of(domain, item) +
                                strake_layout_at(l, slab, line, 0) * l->element_size,
                            (size_t)(l->n[2] * l->element_size)};
}

static void complete(const strake_domain *domain, int item, strake_range slabs)
{
    strake_layout_fill_lateral(&of(domain)->layout, array_of(domain, item), slabs.first, slabs.end);
}

/* One slab more on either side than sweeps read: velocities there lack a neighbour's h. */
static strake_window window(const strake_domain *domain, strake_range own, int steps)
{
    int64_t depth[2];
    strake_domain_depth(domain, steps, depth);
    return strake_window_make(&of(domain)->layout, own, depth[0] + 1, depth[1] + 1);
}

static void take(strake_domain *domain, strake_range own, int steps)
{
    domain->own = own;
    strake_grid_of(domain)->window = window(domain, own, steps);
}

static void trim(strake_domain *domain)
{
    strake_arrays_trim(of(domain));
}

static strake_status fill(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_grid *grid = strake_grid_of(domain);
    STRAKE_TRY(strake_ranks_agree(domain->ranks, strake_inputs_fill(grid, error), error));
    STRAKE_TRY(strake_inputs_prepare(grid, error));
cleanup:
    return status;
}

static strake_status keep(strake_domain *domain, strake_error *error)
{
    return strake_grid_keep(strake_grid_of(domain), error);
}

static strake_status renew(strake_domain *domain, bool from_copy, strake_error *error)
{
    return strake_grid_renew(strake_grid_of(domain), from_copy, error);
}

static const strake_domain_ops grid_ops = {.lacks = lacks,
                                           .note = note,
                                           .settle = settle,
                                           .find_bad = find_bad,
                                           .exchange = exchange,
                                           .piece = piece,
                                           .line = line_of,
                                           .complete = complete,
                                           .weigh = strake_grid_weigh,
                                           .window = window,
                                           .take = take,
                                           .trim = trim,
                                           .fill = fill,
                                           .keep = keep,
                                           .renew = renew};

/* --- making it ------------------------------------------------------------------------------------ */

strake_status strake_grid_begin(strake_grid *grid, const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *problem = which->problem;
    grid->domain.ops = &grid_ops;
    grid->which = which;
    grid->domain.is_adaptive = problem->is_adaptive;
    memcpy(grid->domain.n, which->n, sizeof grid->domain.n);
    grid->moment = strake_case_moment(which, 0);
    grid->domain.clock = (strake_clock){.dt_max = which->dt_max,
                                        .stop = which->end,
                                        .until = INFINITY,
                                        .is_single = which->precision == STRAKE_SINGLE};
    STRAKE_TRY(strake_case_graph(which, grid->number, &grid->graph, error));
    for (int v = 0; v < grid->graph.values && which->run.exchange == STRAKE_EXCHANGE_ONE_WAY; v++) {
        grid->graph.value[v].is_kept = false; /* slabs wander */
    }
    if (strake_ghosts_are_kept(&grid->graph)) {
        STRAKE_TRY(strake_ghosts_graph(&grid->graph, &grid->ghosts, error));
    }
    for (int f = 0; f < problem->fields; f++) {
        grid->value_of[f] = strake_graph_find(&grid->graph, problem->field[f].name);
        STRAKE_CHECK(grid->value_of[f] >= 0, error, STRAKE_ERR_STATE,
                     "problem %s: its graph has no input %s", problem->name,
                     problem->field[f].name);
        const strake_value *value = &grid->graph.value[grid->value_of[f]];
        const bool is_constant = value->is_constant || !value->is_live;
        grid->field[f].state = is_constant ? STRAKE_FIELD_CONSTANT : STRAKE_FIELD_EMPTY;
        grid->number[f] = value->is_constant ? value->constant : grid->number[f];
        STRAKE_CHECK(!is_constant || isfinite(grid->number[f]), error, STRAKE_ERR_USAGE,
                     "%s: field %s: %g is not finite in this precision", which->file,
                     problem->field[f].name, grid->number[f]);
    }
cleanup:
    return status;
}

/* States first, then what stays the same. */
static void list_items(strake_grid *grid)
{
    strake_domain *d = &grid->domain;
    int items = 0;
    d->states = 0;
    d->kept = 0;
    for (int inputs = 0; inputs < 2; inputs++) {
        for (int v = 0; v < grid->graph.values; v++) {
            const strake_value *value = &grid->graph.value[v];
            const bool is_state = value->next >= 0;
            if (is_state != (inputs == 1) && strake_arrays_has(value)) {
                d->kept |= is_state && value->is_kept ? 1U << items : 0U;
                grid->item[items++] = v;
            }
        }
        d->states = inputs == 0 ? items : d->states;
    }
    d->inputs = items - d->states;
}

void strake_grid_lay_out(strake_grid *grid, int steps)
{
    const strake_case *which = grid->which;
    grid->layout = strake_layout_make_deep(&grid->graph, steps, which->n, which->boundary);
    const strake_layout *l = &grid->layout;
    strake_domain *d = &grid->domain;
    d->slabs = l->n[0];
    d->ends = l->boundary[0];
    d->again = strake_layout_reach(l);
    d->lines = l->n[1];
    d->columns = l->n[2];
    for (int side = 0; side < 2; side++) {
        d->reach[side] = side == 0 ? l->lo[0] : l->hi[0];
        d->beside[side] = side == 0 ? l->lo[2] : l->hi[2];
    }
    d->is_round = l->boundary[2] == STRAKE_PERIODIC;
    d->grain = LINE_BYTES / l->element_size;
    /*
     * Other ranks read whole slabs; in three dimensions a slab has ghost lines; what is computed beyond
     * the last column, to the end of its vector, would meet there the ghosts of a periodic grid, which
     * the first columns' worker writes; at a pole columns read those half a turn away.
     */
    d->is_divisible = l->n[1] + l->lo[1] + l->hi[1] == 1 && d->ranks == NULL &&
                      (!d->is_round || l->n[2] % d->grain == 0) && d->ends != STRAKE_POLAR;
    list_items(grid);
    d->own = (strake_range){0, d->slabs};
    grid->window = (strake_window){1, {d->own}};
    d->slab_bytes = (double)(l->slab * l->element_size);
    d->state_bytes = d->states * d->slab_bytes;
    d->bytes = (double)l->elements * l->element_size * strake_arrays_count(&grid->graph, 2);
    grid->is_streamed = strake_stream_pays((int64_t)d->bytes);
    strake_grid_open_activity(grid);
}

/* Slabs wander through the ranks: whatever belongs to a place would have to wander too. */
strake_status strake_grid_check_one_way(const strake_grid *grid, strake_error *error)
{
    const strake_problem *problem = grid->which->problem;
    if (grid->layout.boundary[0] != STRAKE_PERIODIC) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: run.exchange: one_way needs a periodic boundary in the slowest "
                           "direction, because every row wanders round it; use both",
                           grid->which->file);
    }
    for (int f = 0; f < problem->fields; f++) {
        if (!problem->field[f].is_state && grid->field[f].state != STRAKE_FIELD_CONSTANT) {
            return strake_fail(
                error, STRAKE_ERR_USAGE,
                "%s: run.exchange: one_way is for problems without fields that stay "
                "the same, but field %s has different values from cell to cell; give "
                "it as {constant: X}, or use both",
                grid->which->file, problem->field[f].name);
        }
    }
    return STRAKE_OK;
}
