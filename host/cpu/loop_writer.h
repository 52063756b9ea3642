/**
 * @file loop_writer.h
 * Writes the fused loops (engine/loops.h) of every usual variant of problems as C: at build time those of the program's
 * problems (tool/write_loops.c), later those of a problem in a file (solver/problem_build.c). A loop that several
 * problems have is written for the first of them.
 */
#ifndef STRAKE_CPU_LOOP_WRITER_H
#define STRAKE_CPU_LOOP_WRITER_H

#include <stdio.h>

#include "case/case.h"

typedef struct strake_loop_writer strake_loop_writer;

/** @return NULL: no memory */
strake_loop_writer *strake_loop_writer_open(void);

/** Frees it and sets the pointer to NULL; NULL is accepted. */
void strake_loop_writer_close(strake_loop_writer **writer);

/**
 * Lists the loops of a problem: of all values of its keys, inputs that are constant and that are not, and walls.
 * @param[in] number  of the problem, for strake_loop_writer_rows()
 * @return STRAKE_ERR_USAGE where a stage table is wrong or there are too many loops, STRAKE_ERR_MEMORY
 */
strake_status strake_loop_writer_add(strake_loop_writer *writer, const strake_problem *problem,
                                     int number, strake_error *error);

/** Writes the functions that were listed first for a problem; formulas and problem/rows.h are to stand before them. */
void strake_loop_writer_rows(const strake_loop_writer *writer, int problem, FILE *out);

/** Writes the table strake_loop_codes of all loops; engine/loops.h and problem/rows.h are to stand before it. */
void strake_loop_writer_table(const strake_loop_writer *writer, FILE *out);

#endif
