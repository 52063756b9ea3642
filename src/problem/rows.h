/**
 * @file rows.h
 * Row loops expanded from point functions. A file NAME_rows.c includes real.h, its point header and
 * this one, and is compiled once per instruction set (STRAKE_ROWS_ISA) and precision
 * (STRAKE_ROWS_PRECISION: f64, f32); NAME_points.c collects the addresses in strake_point objects.
 */
#ifndef STRAKE_ROWS_H
#define STRAKE_ROWS_H

#include <stdint.h>

#define STRAKE_ROW_PASTE(name, precision, isa) strake_row_##name##_##precision##_##isa
#define STRAKE_ROW_NAME(name, precision, isa) STRAKE_ROW_PASTE(name, precision, isa)

#define STRAKE_LOAD_1 const real *restrict const a0 = in[0];
#define STRAKE_LOAD_2 STRAKE_LOAD_1 const real *restrict const a1 = in[1];
#define STRAKE_LOAD_3 STRAKE_LOAD_2 const real *restrict const a2 = in[2];
#define STRAKE_LOAD_4 STRAKE_LOAD_3 const real *restrict const a3 = in[3];
#define STRAKE_LOAD_5 STRAKE_LOAD_4 const real *restrict const a4 = in[4];
#define STRAKE_LOAD_6 STRAKE_LOAD_5 const real *restrict const a5 = in[5];
#define STRAKE_LOAD_7 STRAKE_LOAD_6 const real *restrict const a6 = in[6];
#define STRAKE_LOAD_8 STRAKE_LOAD_7 const real *restrict const a7 = in[7];
#define STRAKE_LOAD_9 STRAKE_LOAD_8 const real *restrict const a8 = in[8];
#define STRAKE_LOAD_10 STRAKE_LOAD_9 const real *restrict const a9 = in[9];
#define STRAKE_LOAD_11 STRAKE_LOAD_10 const real *restrict const a10 = in[10];
#define STRAKE_LOAD_12 STRAKE_LOAD_11 const real *restrict const a11 = in[11];
#define STRAKE_LOAD_13 STRAKE_LOAD_12 const real *restrict const a12 = in[12];
#define STRAKE_LOAD_14 STRAKE_LOAD_13 const real *restrict const a13 = in[13];
#define STRAKE_LOAD_15 STRAKE_LOAD_14 const real *restrict const a14 = in[14];
#define STRAKE_LOAD_16 STRAKE_LOAD_15 const real *restrict const a15 = in[15];
#define STRAKE_LOAD_17 STRAKE_LOAD_16 const real *restrict const a16 = in[16];
#define STRAKE_LOAD_18 STRAKE_LOAD_17 const real *restrict const a17 = in[17];
#define STRAKE_LOAD_19 STRAKE_LOAD_18 const real *restrict const a18 = in[18];
#define STRAKE_LOAD_20 STRAKE_LOAD_19 const real *restrict const a19 = in[19];

#define STRAKE_TAKE_1 a0[j]
#define STRAKE_TAKE_2 STRAKE_TAKE_1, a1[j]
#define STRAKE_TAKE_3 STRAKE_TAKE_2, a2[j]
#define STRAKE_TAKE_4 STRAKE_TAKE_3, a3[j]
#define STRAKE_TAKE_5 STRAKE_TAKE_4, a4[j]
#define STRAKE_TAKE_6 STRAKE_TAKE_5, a5[j]
#define STRAKE_TAKE_7 STRAKE_TAKE_6, a6[j]
#define STRAKE_TAKE_8 STRAKE_TAKE_7, a7[j]
#define STRAKE_TAKE_9 STRAKE_TAKE_8, a8[j]
#define STRAKE_TAKE_10 STRAKE_TAKE_9, a9[j]
#define STRAKE_TAKE_11 STRAKE_TAKE_10, a10[j]
#define STRAKE_TAKE_12 STRAKE_TAKE_11, a11[j]
#define STRAKE_TAKE_13 STRAKE_TAKE_12, a12[j]
#define STRAKE_TAKE_14 STRAKE_TAKE_13, a13[j]
#define STRAKE_TAKE_15 STRAKE_TAKE_14, a14[j]
#define STRAKE_TAKE_16 STRAKE_TAKE_15, a15[j]
#define STRAKE_TAKE_17 STRAKE_TAKE_16, a16[j]
#define STRAKE_TAKE_18 STRAKE_TAKE_17, a17[j]
#define STRAKE_TAKE_19 STRAKE_TAKE_18, a18[j]
#define STRAKE_TAKE_20 STRAKE_TAKE_19, a19[j]

/* The compilers see no dependence that is not there; the scalar reference stays as written. */
#define STRAKE_ROW_SIMD_scalar
#define STRAKE_ROW_SIMD_base _Pragma("omp simd")
#define STRAKE_ROW_SIMD_avx2 _Pragma("omp simd")
#define STRAKE_ROW_SIMD_avx512 _Pragma("omp simd")
#define STRAKE_ROW_SIMD_PASTE(isa) STRAKE_ROW_SIMD_##isa
#define STRAKE_ROW_SIMD(isa) STRAKE_ROW_SIMD_PASTE(isa)

/* One row loop. The operands may overlap each other (they are only read) but not the output. */
#define STRAKE_ROW(name, inputs, adds, muls, divs, selects)                                        \
    void STRAKE_ROW_NAME(name, STRAKE_ROWS_PRECISION,                                              \
                         STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n);     \
    void STRAKE_ROW_NAME(name, STRAKE_ROWS_PRECISION,                                              \
                         STRAKE_ROWS_ISA)(void *const *out, const void *const *in, int64_t n)      \
    {                                                                                              \
        real *restrict const y = out[0];                                                           \
        STRAKE_LOAD_##inputs STRAKE_ROW_SIMD(STRAKE_ROWS_ISA) for (int64_t j = 0; j < n; j++)      \
        {                                                                                          \
            y[j] = name(STRAKE_TAKE_##inputs);                                                     \
        }                                                                                          \
    }

#ifdef STRAKE_ROWS_X86
#define STRAKE_ROW_DECLARE_X86(name, precision)                                                    \
    STRAKE_ROW_DECLARE_ONE(name, precision, avx2) STRAKE_ROW_DECLARE_ONE(name, precision, avx512)
#define STRAKE_ROW_LIST_X86(name, precision)                                                       \
    STRAKE_ROW_PASTE(name, precision, avx2), STRAKE_ROW_PASTE(name, precision, avx512)
#else
#define STRAKE_ROW_DECLARE_X86(name, precision)
#define STRAKE_ROW_LIST_X86(name, precision) 0, 0
#endif
#define STRAKE_ROW_DECLARE_ONE(name, precision, isa)                                               \
    void STRAKE_ROW_PASTE(name, precision, isa)(void *const *out, const void *const *in, int64_t n);
#define STRAKE_ROW_DECLARE(name, precision)                                                        \
    STRAKE_ROW_DECLARE_ONE(name, precision, scalar)                                                \
    STRAKE_ROW_DECLARE_ONE(name, precision, base)                                                  \
    STRAKE_ROW_DECLARE_X86(name, precision)
#define STRAKE_ROW_LIST(name, precision)                                                           \
    {                                                                                              \
        STRAKE_ROW_PASTE(name, precision, scalar), STRAKE_ROW_PASTE(name, precision, base),        \
            STRAKE_ROW_LIST_X86(name, precision)                                                   \
    }

/* The same for loops fused from several stages, which have no scalar form. */
#define STRAKE_LOOP_DECLARE(name, precision)                                                       \
    STRAKE_ROW_DECLARE_ONE(name, precision, base)                                                  \
    STRAKE_ROW_DECLARE_X86(name, precision)
#define STRAKE_LOOP_LIST(name, precision)                                                          \
    {                                                                                              \
        0, STRAKE_ROW_PASTE(name, precision, base), STRAKE_ROW_LIST_X86(name, precision)           \
    }

/*
 * Declares the row loops of a point function and defines its strake_point. A function with one division
 * ends with it (cl/real.h), unless it is defined as one whose divisions stand anywhere: it takes a doubt.
 */
#define STRAKE_POINT_DEFINE(name, inputs, adds, muls, divs, selects)                               \
    STRAKE_POINT_DEFINE_AS(name, inputs, adds, muls, divs, selects, (divs) == 1, false)
#define STRAKE_POINT_DEFINE_PLAIN(name, inputs, adds, muls, divs, selects)                         \
    STRAKE_POINT_DEFINE_AS(name, inputs, adds, muls, divs, selects, false, (divs) > 0)
#define STRAKE_POINT_DEFINE_AS(name, inputs, adds, muls, divs, selects, ratio, doubt)              \
    STRAKE_ROW_DECLARE(name, f64)                                                                  \
    STRAKE_ROW_DECLARE(name, f32)                                                                  \
    const strake_point strake_point_##name = {                                                     \
        #name,                                                                                     \
        inputs,                                                                                    \
        {adds, muls, divs, selects},                                                               \
        {STRAKE_ROW_LIST(name, f64), STRAKE_ROW_LIST(name, f32)},                                  \
        ratio,                                                                                     \
        doubt};

#define STRAKE_POINT_DECLARE(name, inputs, adds, muls, divs, selects)                              \
    extern const strake_point strake_point_##name;

#endif
