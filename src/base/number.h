/**
 * @file number.h
 * The one home of numbers as text. A program that uses the library may have called setlocale(): strtod()
 * and printf() then read and write a decimal comma. These have a point, always.
 */
#ifndef STRAKE_NUMBER_H
#define STRAKE_NUMBER_H

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

/** strtod(); @param[out] end  may be NULL. */
double strake_number_read(const char *text, char **end);

/** @p count numbers with a separator between them. @return what follows the last one, NULL: fewer or others */
const char *strake_number_list(const char *text, char separator, int count, double *out);

/** snprintf(). */
int strake_number_print(char *text, size_t size, const char *format, ...) STRAKE_PRINTF(3, 4);

/** vsnprintf(). */
int strake_number_vprint(char *text, size_t size, const char *format, va_list list)
    STRAKE_PRINTF(3, 0);

/** fprintf(). */
int strake_number_write(FILE *stream, const char *format, ...) STRAKE_PRINTF(2, 3);

#endif
