/**
 * @file file.h
 * A problem in a shared object of its own, compiled from one C file (host/solver/problem_build.c): what the object says
 * of itself, and the functions of Strake that it calls. It is not linked with Strake, so that it serves the program, the
 * shared and the static library alike.
 */
#ifndef STRAKE_PROBLEM_FILE_TABLE_H
#define STRAKE_PROBLEM_FILE_TABLE_H

#include "engine/rkc.h"
#include "case/case.h"
#include "engine/lines.h"
#include "engine/loops.h"
#include "problem/wall.h"

/** The functions that a problem may call, by name. */
typedef struct strake_file_calls {
#define X(name) __typeof__(name) *name;
#include "problem/file_calls.inc"
#undef X
} strake_file_calls;

/** What the object exports, as the symbol STRAKE_FILE_SYMBOL. */
typedef struct strake_file_entry {
    uint64_t
        headers; /**< hash of the headers with which it was compiled; looked at before anything else */
    const char *compiler; /**< the compiler and its version */
    const char *text;     /**< the file, of @c length bytes and a NUL */
    size_t length;
    const strake_problem *const *problem;
    const strake_loop_code *code; /**< fused loops */
    int codes;
    const strake_file_calls **calls; /**< set when the object is loaded */
} strake_file_entry;

#define STRAKE_FILE_SYMBOL "strake_file_entry_of"

#endif
