/** @file table.h Files of lines that begin with the step they belong to. */
#ifndef STRAKE_TABLE_H
#define STRAKE_TABLE_H

#include "base/error.h"
#include "io/text.h"

/** More than any such file has. */
#define STRAKE_TABLE_BYTES (INT64_C(1) << 32)

/**
 * Adds the lines of an earlier run's file whose step lies before the one that is resumed; a file that
 * is not there has none. @return STRAKE_ERR_IO
 */
strake_status strake_table_keep(const char *path, int64_t resumed, strake_text *text,
                                strake_error *error);

#endif
