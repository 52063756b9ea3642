/*
 * real.h: the only place where C11 and OpenCL C differ.
 *
 * Point functions include nothing and use only: real, REAL(), STRAKE_POINT_FUNCTION, STRAKE_ABS,
 * STRAKE_MIN, STRAKE_MAX, STRAKE_ZERO, STRAKE_QUOTIENT and the operators + - * / and comparisons. Everything is correctly rounded
 * or exact, so the same bits come out everywhere as long as nothing is contracted to fma:
 * `#pragma OPENCL FP_CONTRACT OFF` here, -ffp-contract=off for C.
 *
 * The includer of the C side defines STRAKE_REAL_SINGLE or not; on the OpenCL side it is a build define.
 */
#ifdef __OPENCL_C_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#ifndef STRAKE_REAL_SINGLE
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#endif
#define STRAKE_POINT_FUNCTION static inline
#define STRAKE_ABS(x) fabs(x)
#else
#define STRAKE_POINT_FUNCTION static inline __attribute__((always_inline, unused))
#ifdef STRAKE_REAL_SINGLE
#define STRAKE_ABS(x) __builtin_fabsf(x)
#else
#define STRAKE_ABS(x) __builtin_fabs(x)
#endif
#endif

#ifdef STRAKE_REAL_SINGLE
typedef float real;
#define REAL(x) x##f
#else
typedef double real;
#define REAL(x) x
#endif

/*
 * n / d for d > 0. GPUs divide by a fast sequence and leave numerators near zero to a slow one; exact
 * zeros, which whole regions of a field may have, are kept away from it. The bits are those of n / d.
 */
#ifdef __OPENCL_C_VERSION__
static inline real strake_quotient(real n, real d)
{
    const real q = (n == REAL(0.0) ? REAL(1.0) : n) / d;
    return n == REAL(0.0) ? n : q;
}
#define STRAKE_QUOTIENT(n, d) strake_quotient((n), (d))
#else
#define STRAKE_QUOTIENT(n, d) ((n) / (d))
#endif

/* Selections, not fmax/fmin: those may differ between devices in the sign of zero. */
#define STRAKE_MAX(a, b) ((a) > (b) ? (a) : (b))
#define STRAKE_MIN(a, b) ((a) < (b) ? (a) : (b))

/*
 * Zero as one side of STRAKE_MIN and STRAKE_MAX. A C compiler that knows the number makes a comparison
 * and a masked move of them, where its vector units have a minimum and a maximum at twice the speed.
 */
#ifdef __OPENCL_C_VERSION__
#define STRAKE_ZERO REAL(0.0)
#else
extern const double strake_zero_double;
extern const float strake_zero_single;
#ifdef STRAKE_REAL_SINGLE
#define STRAKE_ZERO strake_zero_single
#else
#define STRAKE_ZERO strake_zero_double
#endif
#endif
