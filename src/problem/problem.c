#include "engine/problem.h"

#include <stdatomic.h>
#include <stdlib.h>
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

/* Problems that were loaded, the last one first. */
typedef struct loaded_problem loaded_problem;
struct loaded_problem {
    const strake_problem *problem;
    loaded_problem *next;
};

static _Atomic(loaded_problem *) loaded;

bool strake_problem_add(const strake_problem *problem)
{
    loaded_problem *const one = malloc(sizeof *one);
    if (one != NULL) {
        *one = (loaded_problem){problem, atomic_load(&loaded)};
        atomic_store(&loaded, one);
    }
    return one != NULL;
}

const strake_problem *strake_problem_at(int k)
{
    for (int p = 0; strake_problems[p] != NULL; p++) {
        if (k-- == 0) {
            return strake_problems[p];
        }
    }
    const loaded_problem *one = atomic_load(&loaded);
    while (one != NULL && k-- > 0) {
        one = one->next;
    }
    return one != NULL ? one->problem : NULL;
}

const strake_problem *strake_problem_loaded(const char *content)
{
    const loaded_problem *one = atomic_load(&loaded);
    while (one != NULL && strcmp(one->problem->content, content) != 0) {
        one = one->next;
    }
    return one != NULL ? one->problem : NULL;
}

const strake_problem *strake_problem_find(const char *name)
{
    const strake_problem *found = NULL;
    for (int p = 0; (found = strake_problem_at(p)) != NULL && strcmp(found->name, name) != 0; p++) {
    }
    return found;
}
