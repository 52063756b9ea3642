/** @file read.h Reading stored models: anything unexpected makes the whole file unusable. Only for host/model/. */
#ifndef STRAKE_MODEL_READ_H
#define STRAKE_MODEL_READ_H

#include "case/tree.h"
#include "model/postal.h"

enum { STRAKE_MODEL_MOST_BYTES = 1 << 20 /* of a file */ };

typedef struct strake_model_reader {
    bool good;
} strake_model_reader;

/** A number; NaN where it is null. */
double strake_model_read_number(strake_model_reader *r, const strake_node *node);
double strake_model_read_member(strake_model_reader *r, const strake_node *map, const char *name);

/** One from 0 on that an int holds. */
int strake_model_read_whole(strake_model_reader *r, const strake_node *map, const char *name);

void strake_model_read_text(strake_model_reader *r, const strake_node *map, const char *name,
                            char *out, size_t size);

/** A list of exactly so many numbers. */
void strake_model_read_numbers(strake_model_reader *r, const strake_node *list, int count,
                               double *out);

void strake_model_read_path(strake_model_reader *r, const strake_node *map, strake_path *path);
strake_max_rate strake_model_read_rate(strake_model_reader *r, const strake_node *map);

#endif
