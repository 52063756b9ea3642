#include "engine/lines.h"

#include "base/element.h"
#include "base/sum.h"
#include "engine/problem.h"

const double *strake_piece_of(const strake_layout *layout, const void *array, double number,
                              int64_t i, int64_t m, int64_t j, int64_t count, strake_piece room)
{
    const int64_t at = strake_layout_at(layout, i, m, j);
    if (array != NULL && layout->element_size == sizeof(double)) {
        return (const double *)array + at;
    }
    if (array != NULL) {
        strake_element_widen(array, layout->element_size, at, count, room);
    } else {
        strake_element_fill(room, sizeof *room, 0, count, number);
    }
    return room;
}

double strake_snapshot_at(const strake_snapshot *snapshot, int field, int64_t i, int64_t m,
                          int64_t j)
{
    const strake_layout *const l = snapshot->layout;
    const void *const array = snapshot->array[field];
    if (array == NULL) {
        return snapshot->number[field];
    }
    return strake_element_get(array, l->element_size,
                              strake_layout_at(l, strake_ghost_source(l->boundary[0], l->n[0], i),
                                               strake_ghost_source(l->boundary[1], l->n[1], m),
                                               strake_ghost_source(l->boundary[2], l->n[2], j)));
}

double strake_snapshot_sum(const strake_snapshot *snapshot, int field)
{
    const int64_t *const n = snapshot->layout->n;
    strake_piece room;
    strake_sum sum = {0};
    for (int64_t i = 0; i < n[0]; i++) {
        for (int64_t m = 0; m < n[1]; m++) {
            for (int64_t j = 0; j < n[2]; j += STRAKE_PIECE) {
                const int64_t count = n[2] - j < STRAKE_PIECE ? n[2] - j : STRAKE_PIECE;
                const double *const value =
                    strake_piece_of(snapshot->layout, snapshot->array[field],
                                    snapshot->number[field], i, m, j, count, room);
                for (int64_t k = 0; k < count; k++) {
                    strake_sum_add(&sum, value[k]);
                }
            }
        }
    }
    return strake_sum_total(&sum);
}

/* Mostly there is no larger one: look for the place only then. */
void strake_extreme_add_line(strake_extreme *extreme, const double *value, int64_t count, int64_t i,
                             int64_t m, int64_t j)
{
    int64_t larger = 0;
    for (int64_t k = 0; k < count; k++) {
        larger += value[k] > extreme->value ? 1 : 0;
    }
    for (int64_t k = 0; k < count && larger > 0; k++) {
        strake_extreme_add(extreme, value[k], i, m, j + k);
    }
}
