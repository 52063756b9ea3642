/**
 * @file point.h
 * A point function as the engine sees it: a name, its arithmetic, and compiled row loops.
 *
 * The formula itself stands once, in a header under cl/ that is both C11 and OpenCL C. Row loops
 * are expanded from it per precision and instruction set (src/problem/rows.inc); OpenCL kernels
 * call it by name.
 */
#ifndef STRAKE_POINT_H
#define STRAKE_POINT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum strake_precision { STRAKE_DOUBLE, STRAKE_SINGLE, STRAKE_PRECISIONS } strake_precision;

/** Instruction sets that row loops are compiled for; SCALAR is the unvectorised reference. */
typedef enum strake_isa {
    STRAKE_ISA_SCALAR,
    STRAKE_ISA_BASE,
    STRAKE_ISA_AVX2,
    STRAKE_ISA_AVX512,
    STRAKE_ISAS
} strake_isa;

/**
 * A row loop: out[0][j] = f(in[0][j], in[1][j], ...) for 0 <= j < n, elements of the working precision
 * (loops fused from several stages have several outputs). The pointers already include their
 * offsets; no operand overlaps an output.
 */
typedef void (*strake_row_function)(void *const *out, const void *const *in, int64_t n);

/** Operations of one evaluation. */
typedef struct strake_ops {
    int adds, muls, divs;
    int selects; /**< comparisons with selection: minimum, maximum, upwind choice */
} strake_ops;

typedef struct strake_point {
    const char *name; /**< also the function's name in OpenCL C */
    int inputs;
    strake_ops ops;
    /** Row loops; NULL where the instruction set was not compiled in. */
    strake_row_function row[STRAKE_PRECISIONS][STRAKE_ISAS];
    bool is_ratio; /**< it ends with its only division: it is a STRAKE_RATIO_FUNCTION (cl/real.h) */
    bool has_doubt; /**< it has divisions or roots elsewhere and takes a STRAKE_DOUBT (cl/real.h) */
} strake_point;

/** Bytes of one element. */
static inline int strake_precision_size(strake_precision precision)
{
    return precision == STRAKE_DOUBLE ? 8 : 4;
}

/** As in a case file. */
static inline const char *strake_precision_name(strake_precision precision)
{
    return precision == STRAKE_DOUBLE ? "double" : "single";
}

#endif
