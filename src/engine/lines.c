#include "engine/lines.h"

#include "base/element.h"
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
