/* What problems and outputs ask of a case: the numbers behind their own keys, its map. Apart from reading cases, which
 * knows all problems. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "case/case.h"
#include "case/source.h"

int strake_case_key(const strake_case *which, const char *path)
{
    int k = 0;
    while (k < which->problem->keys && strcmp(which->problem->key[k].path, path) != 0) {
        ++k;
    }
    assert(k < which->problem->keys && "a key that the problem does not have");
    return k;
}

double strake_case_value(const strake_case *which, const char *path)
{
    return which->value[strake_case_key(which, path)];
}

bool strake_case_has(const strake_case *which, int field)
{
    const strake_field *const f = &which->problem->field[field];
    if (f->is_state && f->is_derived && !f->is_optional && which->problem->uses != NULL &&
        !which->problem->uses(which, field)) {
        return false;
    }
    if (f->is_optional && which->problem->has(which, field)) {
        return true;
    }
    return f->derive == NULL && !(f->is_optional && f->is_derived) &&
           (!f->is_traced || which->output_field[field]);
}

bool strake_case_measures(const strake_case *which, int quantity)
{
    const int field = which->problem->quantity[quantity].field;
    return field == 0 || strake_case_has(which, field);
}

bool strake_case_keeps(const strake_case *which, int field)
{
    const strake_field *const f = &which->problem->field[field];
    return f->is_state && !f->is_derived && strake_case_has(which, field);
}

bool strake_case_is_map(const strake_case *which)
{
    bool has_footprint = false;
    for (int f = 0; f < which->problem->fields; f++) {
        has_footprint = has_footprint || which->problem->field[f].is_extent;
    }
    return which->georef.is_known || has_footprint;
}

strake_georef strake_case_place(const strake_case *which)
{
    return which->georef.is_known ? which->georef
                                  : (strake_georef){.y = (double)which->n[0] * which->spacing[0],
                                                    .cell = which->spacing[0]};
}

const char *strake_side_name(const strake_problem *problem, int axis, char text[STRAKE_NAME_LENGTH])
{
    (void)snprintf(text, STRAKE_NAME_LENGTH, "side_%s", strake_axis_name(problem->dims, axis));
    return text;
}
