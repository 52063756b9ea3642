#include "engine/extend.h"

#include <string.h>

#include "base/element.h"
#include "engine/lines.h"

static double get(const strake_statics *s, int f, const int64_t at[STRAKE_AXES])
{
    if (s->array[f] == NULL) {
        return s->number[f];
    }
    const int64_t k = strake_layout_at(s->layout, at[0], at[1], at[2]);
    return strake_element_get(s->array[f], s->layout->element_size, k);
}

static void put(const strake_statics *s, int f, const int64_t at[STRAKE_AXES], double x)
{
    const int64_t k = strake_layout_at(s->layout, at[0], at[1], at[2]);
    strake_element_set(s->array[f], s->layout->element_size, k, x);
}

static bool is_across(const strake_field *field, int axis)
{
    return (int)field->position == (int)STRAKE_FACE_0 + axis;
}

/* Values along an axis: one more than cells on faces, unless the last is the first again. */
static int64_t stored(const strake_statics *s, int f, int axis)
{
    const bool is_closed = s->layout->boundary[axis] == STRAKE_PERIODIC;
    return s->layout->n[axis] + (is_across(&s->problem->field[f], axis) && !is_closed ? 1 : 0);
}

static strake_edge edge_of(const strake_statics *s, int f, int axis)
{
    const strake_field *field = &s->problem->field[f];
    switch (s->layout->boundary[axis]) {
    case STRAKE_OPEN: /* a flow goes on behind a wall, so that nothing piles up there in the formulas */
        return s->is_closed[axis] && field->position == STRAKE_CELL ? field->wall[axis]
                                                                    : field->open[axis];
    case STRAKE_NO_FLUX:
        return field->wall[axis];
    case STRAKE_POLAR: /* a velocity across the rows has the other direction beyond */
        return is_across(field, axis)           ? STRAKE_EDGE_NEGATED
               : field->position == STRAKE_CELL ? field->wall[axis]
                                                : STRAKE_EDGE_AS_STATES;
    case STRAKE_PERIODIC:
        break;
    }
    return STRAKE_EDGE_AS_STATES;
}

int strake_field_named(const strake_problem *problem, const char *name)
{
    int f = 0;
    while (strcmp(problem->field[f].name, name) != 0) {
        f++;
    }
    return f;
}

/*
 * The field whose values the ghosts of one hold. Flows are continued free of divergence beyond open edges and walls, so
 * that what a step makes of a cell of another field is there what that is: else a constant would not stay one.
 */
static int held_beyond(const strake_statics *s, int f, int axis)
{
    const char *const followed = s->problem->field[f].follows;
    return followed != NULL && s->layout->boundary[axis] == STRAKE_OPEN
               ? strake_field_named(s->problem, followed)
               : f;
}

/* What a ghost is: a value inside times 1 or -1, or a number. */
typedef struct origin {
    int64_t index;
    double factor; /* 0: the number */
    double number;
    bool is_turned; /* half a turn further along axis 2 */
} origin;

static origin origin_of(const strake_statics *s, int f, int axis, int64_t i)
{
    const int64_t n = s->layout->n[axis];
    const int64_t count = stored(s, f, axis);
    const strake_edge edge = edge_of(s, f, axis);
    const strake_boundary boundary = s->layout->boundary[axis];
    if (boundary == STRAKE_PERIODIC) {
        return (origin){strake_ghost_source(boundary, n, i), 1.0, 0.0, false};
    }
    if (edge == STRAKE_EDGE_ZERO || edge == STRAKE_EDGE_NUMBER) {
        const strake_field *const field = &s->problem->field[f];
        const double number = edge == STRAKE_EDGE_ZERO  ? 0.0
                              : boundary == STRAKE_OPEN ? field->beyond_open
                                                        : field->beyond;
        return (origin){0, 0.0, number, false};
    }
    if (edge == STRAKE_EDGE_NEGATED || boundary == STRAKE_NO_FLUX || boundary == STRAKE_POLAR) {
        /* Mirrored in the edge, which is a face: again and again where ghosts are deeper than the grid. */
        const int64_t k = (i % (2 * n) + 2 * n) % (2 * n);
        const int64_t image = 2 * n - k - (count > n ? 0 : 1);
        const double factor = edge == STRAKE_EDGE_NEGATED ? -1.0 : 1.0;
        return k < count ? (origin){k, 1.0, 0.0, false}
                         : (origin){image, factor, 0.0, boundary == STRAKE_POLAR};
    }
    return (origin){i < 0 ? 0 : count - 1, 1.0, 0.0, false};
}

/* The places of a field where ghosts across an axis are filled: ranges of the other two axes. */
typedef struct box {
    strake_range side[STRAKE_AXES];
} box;

static box box_of(const strake_statics *s, int f, int axis, strake_range slabs)
{
    const strake_layout *l = s->layout;
    box b;
    for (int a = 0; a < STRAKE_AXES; a++) {
        b.side[a] = a < axis ? (strake_range){-l->lo[a], l->n[a] + l->hi[a]}
                             : (strake_range){0, stored(s, f, a)};
    }
    b.side[0] = axis > 0 ? slabs : b.side[0];
    return b;
}

/* Sum over the other components: what they take out of a cell beside the domain. */
static double divergence(const strake_statics *s, int axis, const int64_t cell[STRAKE_AXES],
                         int64_t end)
{
    const strake_layout *l = s->layout;
    double sum = 0.0;
    bool is_first = true;
    for (int f = 0; f < s->problem->fields; f++) {
        const strake_field *field = &s->problem->field[f];
        const int b = (int)field->position - (int)STRAKE_FACE_0;
        if (field->position == STRAKE_CELL || b == axis || field->is_state ||
            field->open[b] != STRAKE_EDGE_FREE_OF_DIVERGENCE) {
            continue;
        }
        int64_t next[STRAKE_AXES] = {cell[0], cell[1], cell[2]};
        const int64_t last =
            b > axis ? stored(s, f, b) - 1 : (b == 0 ? end : l->n[b] + l->hi[b]) - 1;
        next[b] = next[b] < last ? next[b] + 1 : b > axis ? 0 : next[b];
        const double part = get(s, f, next) - get(s, f, cell);
        sum = is_first ? part : sum + part;
        is_first = false;
    }
    return sum;
}

/* One ghost of a field across an axis. */
static void fill_ghost(const strake_statics *s, int f, int axis, const int64_t at[STRAKE_AXES],
                       int64_t end)
{
    const bool is_before = at[axis] < 0;
    int64_t from[STRAKE_AXES] = {at[0], at[1], at[2]};
    if (s->layout->boundary[axis] == STRAKE_OPEN &&
        edge_of(s, f, axis) == STRAKE_EDGE_FREE_OF_DIVERGENCE) {
        /* The cell between this face and the one before it, seen from the domain. */
        int64_t cell[STRAKE_AXES] = {at[0], at[1], at[2]};
        cell[axis] -= is_before ? 0 : 1;
        from[axis] += is_before ? 1 : -1;
        const double out = divergence(s, axis, cell, end);
        put(s, f, at, is_before ? get(s, f, from) + out : get(s, f, from) - out);
        return;
    }
    const origin o = origin_of(s, f, axis, at[axis]);
    const int held = held_beyond(s, f, axis);
    from[axis] = o.index;
    from[2] = o.is_turned ? (at[2] + s->layout->n[2] / 2) % s->layout->n[2] : from[2];
    put(s, f, at,
        o.factor > 0.0   ? get(s, held, from)
        : o.factor < 0.0 ? -get(s, held, from)
                         : o.number);
}

/* The part of a line that ghosts take from another one, bit for bit, where they do. @return whether they did */
static bool copy_line(const strake_statics *s, int f, int axis, const int64_t at[STRAKE_AXES],
                      strake_range columns)
{
    const strake_layout *l = s->layout;
    const bool follows_others =
        l->boundary[axis] == STRAKE_OPEN && edge_of(s, f, axis) == STRAKE_EDGE_FREE_OF_DIVERGENCE;
    const origin o = origin_of(s, f, axis, at[axis]);
    const char *const held = s->array[held_beyond(s, f, axis)];
    if (axis == 2 || follows_others || !(o.factor > 0.0) || o.is_turned || held == NULL) {
        return false;
    }
    const int64_t first = columns.first;
    const int64_t to = strake_layout_at(l, at[0], at[1], first);
    const int64_t from =
        strake_layout_at(l, axis == 0 ? o.index : at[0], axis == 1 ? o.index : at[1], first);
    char *const array = s->array[f];
    memcpy(array + to * l->element_size, held + from * l->element_size,
           (size_t)((columns.end - first) * l->element_size));
    return true;
}

/* A ghost index of an axis, at all places of the others. */
static void fill_index(const strake_statics *s, int f, int axis, int64_t index, box places,
                       int64_t end)
{
    int64_t at[STRAKE_AXES];
    const strake_range columns = places.side[2];
    places.side[axis] = (strake_range){index, index + 1};
    for (at[0] = places.side[0].first; at[0] < places.side[0].end; at[0]++) {
        for (at[1] = places.side[1].first; at[1] < places.side[1].end; at[1]++) {
            at[2] = places.side[2].end;
            at[2] = copy_line(s, f, axis, at, columns) ? at[2] : places.side[2].first;
            for (; at[2] < places.side[2].end; at[2]++) {
                fill_ghost(s, f, axis, at, end);
            }
        }
    }
}

/* The ends of a line that is filled soon: each lies in a page of its own, for which a burst of lines would wait. */
static void ask_ahead(const strake_layout *l, char *array, int64_t i, int64_t m)
{
    enum { AHEAD = 16, LINE = 64 };
    const int64_t n = l->n[2];
    const int64_t line = strake_layout_at(l, i, m, 0) + AHEAD * l->pitch;
    if (line + l->pitch < l->elements) {
        __builtin_prefetch(array + (line - l->lo[2]) * l->element_size, 1);
        __builtin_prefetch(array + line * l->element_size, 1);
        __builtin_prefetch(array + (line + n - 1) * l->element_size, 1);
        __builtin_prefetch(array + (line + n + l->hi[2] - 1) * l->element_size, 1);
    }
    __asm__ volatile(""); /* else gcc takes the function for pure and drops its calls */
}

/* The columns of a slab beyond the ends of a periodic grid, of which there are many. */
static void wrap_columns(const strake_statics *s, int f, const box *places)
{
    const strake_layout *l = s->layout;
    const int64_t i = places->side[0].first;
    for (int64_t m = places->side[1].first; m < places->side[1].end; m++) {
        ask_ahead(l, s->array[f], i, m);
        strake_layout_fill_line(l, s->array[f], strake_layout_at(l, i, m, 0));
    }
}

/* From the domain outwards: a ghost may follow the one before it. */
static void extend_field(const strake_statics *s, int f, int axis, strake_range slabs, int64_t end)
{
    const strake_layout *l = s->layout;
    const int64_t first_after = stored(s, f, axis);
    for (int64_t i = slabs.end - 1; i >= slabs.first && axis == 0 && i < 0; i--) {
        fill_index(s, f, 0, i, box_of(s, f, 0, slabs), end);
    }
    for (int64_t i = slabs.first; i < slabs.end && axis == 0; i++) {
        if (i >= first_after) {
            fill_index(s, f, 0, i, box_of(s, f, 0, slabs), end);
        }
    }
    for (int64_t i = slabs.first; i < slabs.end && axis > 0; i++) {
        const box places = box_of(s, f, axis, (strake_range){i, i + 1});
        if (axis == 2 && l->boundary[2] == STRAKE_PERIODIC) {
            wrap_columns(s, f, &places);
            continue;
        }
        for (int64_t k = -1; k >= -l->lo[axis]; k--) {
            fill_index(s, f, axis, k, places, end);
        }
        for (int64_t k = first_after; k < l->n[axis] + l->hi[axis]; k++) {
            fill_index(s, f, axis, k, places, end);
        }
    }
}

bool strake_extends_together(const strake_statics *s, int f)
{
    bool together = false;
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        const int across = (int)s->problem->field[f].position - (int)STRAKE_FACE_0;
        together =
            together ||
            (across >= 0 && across < STRAKE_AXES && s->layout->boundary[axis] == STRAKE_OPEN &&
             s->problem->field[f].open[across] == STRAKE_EDGE_FREE_OF_DIVERGENCE);
    }
    return together;
}

void strake_extend(const strake_statics *s, strake_statics_group group, int axis,
                   strake_range slabs, int64_t end)
{
    for (int f = 0; f < s->problem->fields; f++) {
        const strake_field *field = &s->problem->field[f];
        const strake_statics_group own = field->position == STRAKE_CELL ? STRAKE_ON_CELLS
                                         : edge_of(s, f, axis) == STRAKE_EDGE_FREE_OF_DIVERGENCE
                                             ? STRAKE_FREE_OF_DIVERGENCE
                                             : STRAKE_ON_FACES;
        if (!field->is_state && s->array[f] != NULL && own == group) {
            extend_field(s, f, axis, slabs, end);
        }
    }
}

/* The values of a piece of a line become those of the buffer. */
static void put_piece(const strake_statics *s, int f, int64_t i, int64_t m, int64_t j,
                      int64_t count, const double *value)
{
    const int64_t at = strake_layout_at(s->layout, i, m, j);
    strake_element_narrow(s->array[f], s->layout->element_size, at, count, value);
}

void strake_close_faces(const strake_statics *s, int f, strake_range slabs)
{
    const strake_layout *const l = s->layout;
    const int across = (int)s->problem->field[f].position - (int)STRAKE_FACE_0;
    if (across < 0 || !(s->is_closed[across] || l->boundary[across] == STRAKE_POLAR)) {
        return;
    }
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < stored(s, f, 1); m++) {
            const int64_t line = strake_layout_at(l, i, m, 0);
            if (across == 2) {
                strake_element_fill(s->array[f], l->element_size, line, 1, 0.0);
                strake_element_fill(s->array[f], l->element_size, line + l->n[2], 1, 0.0);
            } else if ((across == 0 ? i : m) % l->n[across] == 0) {
                strake_element_fill(s->array[f], l->element_size, line, stored(s, f, 2), 0.0);
            }
        }
    }
}

void strake_weight(const strake_statics *s, int f, strake_range slabs)
{
    if (s->problem->field[f].weight == NULL) {
        return;
    }
    const int h = strake_field_named(s->problem, s->problem->field[f].weight);
    const int across = (int)s->problem->field[f].position - (int)STRAKE_FACE_0;
    const int64_t back[STRAKE_AXES] = {across == 0, across == 1, across == 2};
    const int64_t n = stored(s, f, 2);
    const int64_t lines = stored(s, f, 1);
    strake_piece room[3];
    strake_piece value;
    for (int64_t k = 0; k < (slabs.end - slabs.first) * lines; k++) {
        const int64_t i = slabs.first + k / lines;
        const int64_t m = k % lines;
        for (int64_t j = 0; j < n; j += STRAKE_PIECE) {
            const int64_t count = n - j < STRAKE_PIECE ? n - j : STRAKE_PIECE;
            const double *const u =
                strake_piece_of(s->layout, s->array[f], s->number[f], i, m, j, count, room[0]);
            const double *const before =
                strake_piece_of(s->layout, s->array[h], s->number[h], i - back[0], m - back[1],
                                j - back[2], count, room[1]);
            const double *const after =
                strake_piece_of(s->layout, s->array[h], s->number[h], i, m, j, count, room[2]);
            for (int64_t c = 0; c < count; c++) {
                value[c] = u[c] * (0.5 * (before[c] + after[c]));
            }
            put_piece(s, f, i, m, j, count, value);
        }
    }
}
