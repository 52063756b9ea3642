/** @file model_table.h Tables of `strake model`: start-up and rate of every path, of devices and between ranks. */
#ifndef STRAKE_MODEL_TABLE_H
#define STRAKE_MODEL_TABLE_H

#include <stdio.h>

#include "model/messages.h"

/** The head of a table. @param[in] name  of the device, or "" */
void strake_model_table_head(FILE *stream, const char *id, const char *name);

/** A line for each range of sizes of a path. */
void strake_model_table_path(FILE *stream, const char *name, const strake_path *path);

/** What was measured between ranks: tables and sentences. */
void strake_model_table_ranks(FILE *stream, const strake_message_model *m);

/** Appends the member "messages". */
void strake_model_json_ranks(const strake_message_model *m, strake_json *json);

#endif
