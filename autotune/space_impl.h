/** @file space_impl.h Names in the expressions of a space; only for autotune/space*.c. */
#ifndef STRAKE_AUTOTUNE_SPACE_IMPL_H
#define STRAKE_AUTOTUNE_SPACE_IMPL_H

#include "autotune/space.h"

/** Words are numbers that no value has. */
#define STRAKE_WORD_NUMBER(index) (-1e6 - (double)(index))

/** What names in an expression mean. */
typedef struct strake_space_scope {
    const strake_space *space;
    const strake_space_facts *facts;
    const strake_candidate *candidate;
} strake_space_scope;

/** One file of autotune/spaces/, embedded: of a kind of processor or of a problem. */
extern const strake_embedded strake_space_texts[];

/** Value of a parameter (0 if it does not matter), a fact or a word; a strake_name_value. */
bool strake_space_name(void *scope, const char *name, size_t length, double *value);

#endif
