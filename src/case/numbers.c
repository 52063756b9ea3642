/* What problems ask of a case: the numbers behind their own keys. Apart from reading cases, which knows all problems. */
#include <assert.h>
#include <string.h>

#include "case/case.h"

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
    if (f->is_drain && strake_case_value(which, which->problem->open_key) != 0.0) {
        return true;
    }
    return f->derive == NULL && !(f->is_drain && f->is_derived) &&
           (!f->is_traced || which->output_field[field]);
}

bool strake_case_keeps(const strake_case *which, int field)
{
    const strake_field *const f = &which->problem->field[field];
    return f->is_state && !f->is_derived && strake_case_has(which, field);
}
