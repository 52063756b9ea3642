#include "engine/problem.h"

#include <string.h>

#include "problem/problem_list.h"

#define X(name) extern const strake_problem strake_problem_##name;
STRAKE_PROBLEMS(X)
#undef X

const strake_problem *const strake_problems[] = {
#define X(name) &strake_problem_##name,
    STRAKE_PROBLEMS(X)
#undef X
        NULL};

const strake_problem *strake_problem_find(const char *name)
{
    for (int p = 0; strake_problems[p] != NULL; p++) {
        if (strcmp(strake_problems[p]->name, name) == 0) {
            return strake_problems[p];
        }
    }
    return NULL;
}
