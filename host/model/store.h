/** @file store.h Reading stored models: anything unexpected makes the whole file unusable. Only for host/model/. */
#ifndef STRAKE_MODEL_STORE_H
#define STRAKE_MODEL_STORE_H

#include "case/tree.h"
#include "model/fit.h"

enum { STRAKE_MODEL_MOST_BYTES = 1 << 20 /* of a file */ };

typedef struct strake_model_reader {
    bool good;
} strake_model_reader;

/** One from 0 on that an int holds. */
int strake_model_read_whole(strake_model_reader *r, const strake_node *map, const char *name);

void strake_model_read_text(strake_model_reader *r, const strake_node *map, const char *name,
                            char *out, size_t size);

#endif
