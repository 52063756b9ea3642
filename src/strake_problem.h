/**
 * @file strake_problem.h
 * What a file includes that is a problem: its formulas, their list, and the tables that say what Strake does with them
 * (src/problem/README.md). The file is compiled in three ways:
 *
 * - as OpenCL C, in front of generated kernels: formulas alone,
 * - as C with STRAKE_ROWS_ISA and STRAKE_ROWS_PRECISION, once per instruction set and precision: the row loops of its
 *   formulas (problem/rows.h),
 * - as C without them: then STRAKE_HOST is defined, and what stands inside of `#ifdef STRAKE_HOST` is compiled, too.
 *
 * STRAKE_POINTS(LIST) stands behind the formulas; LIST(X) has a row X(name, operands, adds, muls, divs, selects) for
 * each. A formula with one division ends with it (STRAKE_RATIO_FUNCTION in cl/real.h); where formulas have divisions
 * elsewhere, all of the list take a STRAKE_DOUBT, and it is STRAKE_POINTS_WITH_DOUBT(LIST).
 */
#ifndef STRAKE_PROBLEM_FILE_H
#define STRAKE_PROBLEM_FILE_H

#include "problem/rows.h"

#if defined(STRAKE_LOOPS_ALONE) /* in front of fused loops, for which formulas are enough */
#define STRAKE_POINTS(list)
#define STRAKE_POINTS_WITH_DOUBT(list)
#elif defined(STRAKE_ROWS_ISA)
#define STRAKE_POINTS(list) list(STRAKE_ROW)
#define STRAKE_POINTS_WITH_DOUBT(list) list(STRAKE_ROW)
#else
#define STRAKE_HOST 1
#define STRAKE_POINTS(list) list(STRAKE_POINT_DEFINE)
#define STRAKE_POINTS_WITH_DOUBT(list) list(STRAKE_POINT_DEFINE_PLAIN)

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sum.h"
#include "case/case.h"
#include "engine/lines.h"
#include "engine/rkc.h"
#include "problem/file.h"
#include "problem/wall.h"
#endif

#include "cl/real.h"

#include "cl/elementary.h"

/*
 * What OpenCL C has other names for, or other bits: formulas cannot use it. Functions of the C library differ from device
 * to device; STRAKE_SQRT, STRAKE_EXP, STRAKE_LOG, STRAKE_SIN, STRAKE_COS, STRAKE_ABS, STRAKE_MIN and STRAKE_MAX do not.
 */
#if defined(STRAKE_ROWS_ISA) && defined(__GNUC__)
#pragma GCC poison half kernel global local constant private generic uchar ushort
#pragma GCC poison float2 float3 float4 float8 float16 double2 double3 double4 double8 double16
#pragma GCC poison int2 int3 int4 int8 int16 image1d_t image2d_t image3d_t sampler_t event_t pipe
#pragma GCC poison pow powf exp expf exp2 exp10 expm1 log logf log2 log10 log1p sin sinf cos cosf  \
    tan
#pragma GCC poison asin acos atan atan2 sinh cosh tanh sqrt sqrtf cbrt hypot fma fmaf fmin fmax fabs
#pragma GCC poison fabsf fmod floor ceil round trunc rint erf erfc tgamma lgamma mad rsqrt
#endif

#ifdef STRAKE_HOST
#ifdef STRAKE_IN_FILE
/* The file is a shared object of its own: it calls Strake through a table, and names its problem in a second one. */
#include STRAKE_IN_FILE
#define STRAKE_PROBLEM(name)                                                                       \
    extern const strake_problem strake_problem_##name;                                             \
    const strake_problem *const strake_file_problem = &strake_problem_##name;                      \
    const strake_problem strake_problem_##name
#else
/** The table of a problem: `STRAKE_PROBLEM(name) = {.name = "name", ...};` */
#define STRAKE_PROBLEM(name) const strake_problem strake_problem_##name
#endif
#endif

#endif
