#include "grid/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid/arrays.h"
#include "grid/keep.h"
#include "grid/memory.h"

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

bool strake_grid_any(const strake_grid *grid, bool states, strake_field_state first,
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

static bool lacks_inputs(const strake_domain *domain)
{
    return strake_grid_any(of(domain), false, STRAKE_FIELD_OUTDATED, STRAKE_FIELD_READY);
}

static bool lacks_states(const strake_domain *domain)
{
    return strake_grid_any(of(domain), true, STRAKE_FIELD_RAW, STRAKE_FIELD_READY);
}

static bool lacks_results(const strake_domain *domain)
{
    return strake_grid_any(of(domain), true, STRAKE_FIELD_AHEAD, STRAKE_FIELD_AHEAD);
}

static void note(strake_domain *domain, strake_domain_event event)
{
    strake_grid *grid = strake_grid_of(domain);
    const strake_field_state raw = STRAKE_FIELD_RAW, ready = STRAKE_FIELD_READY,
                             placed = STRAKE_FIELD_PLACED, ahead = STRAKE_FIELD_AHEAD;
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

static bool has_room(const strake_domain *domain)
{
    return strake_memory_has_room(of(domain));
}

static strake_status keep(strake_domain *domain, strake_error *error)
{
    return strake_grid_keep(strake_grid_of(domain), error);
}

static strake_status renew(strake_domain *domain, bool from_copy, strake_error *error)
{
    return strake_grid_renew(strake_grid_of(domain), from_copy, error);
}

static const strake_domain_ops grid_ops = {.lacks_inputs = lacks_inputs,
                                           .lacks_states = lacks_states,
                                           .lacks_results = lacks_results,
                                           .note = note,
                                           .settle = settle,
                                           .find_bad = find_bad,
                                           .exchange = exchange,
                                           .has_room = has_room,
                                           .keep = keep,
                                           .renew = renew};

/* --- making it ------------------------------------------------------------------------------------ */

strake_status strake_grid_begin(strake_grid *grid, const strake_case *which, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_problem *problem = which->problem;
    grid->domain.ops = &grid_ops;
    grid->which = which;
    STRAKE_TRY(strake_case_graph(which, grid->number, &grid->graph, error));
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
     * the first columns' worker writes.
     */
    d->is_divisible = l->n[1] + l->lo[1] + l->hi[1] == 1 && d->ranks == NULL &&
                      (!d->is_round || l->n[2] % d->grain == 0);
    d->slab_bytes = (double)(l->slab * l->element_size);
    d->state_bytes = 0.0;
    for (int v = 0; v < grid->graph.values; v++) {
        d->state_bytes += grid->graph.value[v].next >= 0 ? d->slab_bytes : 0.0;
    }
    d->bytes = (double)l->elements * l->element_size * strake_arrays_count(&grid->graph, 2);
}
