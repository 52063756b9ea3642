/*
 * real.h: the only place where C11 and OpenCL C differ.
 *
 * Point functions include nothing and use only: real, REAL(), STRAKE_POINT_FUNCTION,
 * STRAKE_RATIO_FUNCTION, STRAKE_RATIO, STRAKE_ABS, STRAKE_SQRT, STRAKE_MIN, STRAKE_MAX, STRAKE_POSITIVE,
 * STRAKE_NEGATIVE, STRAKE_DOUBT and what goes with it, strake_word, strake_word_of(), strake_real_of() (elementary.h) and the operators + - * / and comparisons. Everything is correctly rounded or exact,
 * so the same bits come out everywhere as long as nothing is contracted to fma:
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
/* The list of a problem's formulas is for the host (src/strake_problem.h). */
#define STRAKE_POINTS(list)
#define STRAKE_POINTS_WITH_DOUBT(list)
#define STRAKE_ABS(x) fabs(x)
#define STRAKE_SQRT(x) sqrt(x)
#else
#define STRAKE_POINT_FUNCTION static inline __attribute__((always_inline, unused))
#ifdef STRAKE_REAL_SINGLE
#define STRAKE_ABS(x) __builtin_fabsf(x)
#define STRAKE_SQRT(x) __builtin_sqrtf(x)
#else
#define STRAKE_ABS(x) __builtin_fabs(x)
#define STRAKE_SQRT(x) __builtin_sqrt(x)
#endif
#endif

#ifdef STRAKE_REAL_SINGLE
typedef float real;
#define REAL(x) x##f
#else
typedef double real;
#define REAL(x) x
#endif
#if defined(__OPENCL_C_VERSION__) && defined(STRAKE_REAL_SINGLE)
typedef float2 real2;
typedef float4 real4;
#elif defined(__OPENCL_C_VERSION__)
typedef double2 real2;
typedef double4 real4;
#endif

/* The bits of a number as an unsigned word, and back. */
#if defined(__OPENCL_C_VERSION__) && defined(STRAKE_REAL_SINGLE)
typedef uint strake_word;
#define strake_word_of(x) as_uint(x)
#define strake_real_of(w) as_float(w)
#elif defined(__OPENCL_C_VERSION__)
typedef ulong strake_word;
#define strake_word_of(x) as_ulong(x)
#define strake_real_of(w) as_double(w)
#else
#ifdef STRAKE_REAL_SINGLE
typedef unsigned int strake_word;
#else
typedef unsigned long long strake_word;
#endif
typedef union strake_bits {
    real number;
    strake_word word;
} strake_bits;
#define strake_word_of(x) (((strake_bits){.number = (x)}).word)
#define strake_real_of(w) (((strake_bits){.word = (w)}).number)
#endif

/*
 * A function whose last operation is a division returns STRAKE_RATIO(n, d), with d > 0, and is declared
 * STRAKE_RATIO_FUNCTION instead of STRAKE_POINT_FUNCTION real. In C that is the quotient; on a device
 * it is the pair, since a kernel divides several pairs at once (quotient.h).
 */
#ifdef __OPENCL_C_VERSION__
typedef struct strake_ratio {
    real n, d;
} strake_ratio;
#define STRAKE_RATIO_FUNCTION static inline strake_ratio
#define STRAKE_RATIO(n, d) ((strake_ratio){(n), (d)})
#else
#define STRAKE_RATIO_FUNCTION STRAKE_POINT_FUNCTION real
#define STRAKE_RATIO(n, d) ((n) / (d))
#endif

/*
 * A function with divisions or roots elsewhere writes STRAKE_DOUBT before its first parameter, and those
 * by these macros: kernels whose divisions are refined hand it a doubt (quick.h). Where "used" is false
 * no bit of the function's value may depend on the quotient, be it finite or not: the divisor may be taken for 1.
 * The same holds of STRAKE_INVERT_UP where the divisor, which is not negative, is below 2^-1042. STRAKE_ROOT_UP is
 * for what is hardly ever 0.
 */
#if !defined(__OPENCL_C_VERSION__) || !defined(STRAKE_QUICK)
#define STRAKE_DOUBT
#define STRAKE_DIVIDE(n, d) ((n) / (d))
#define STRAKE_DIVIDE_WHERE(used, n, d) ((n) / (d))
#define STRAKE_INVERT_UP(d) (REAL(1.0) / (d))
#define STRAKE_ROOT(x) STRAKE_SQRT(x)
#define STRAKE_ROOT_UP(x) STRAKE_SQRT(x)
#endif

/* Selections, not fmax/fmin: those may differ between devices in the sign of zero. */
#define STRAKE_MAX(a, b) ((a) > (b) ? (a) : (b))
#define STRAKE_MIN(a, b) ((a) < (b) ? (a) : (b))

/*
 * Whether a difference is not below 0 (it is no -0 then), and the positive part max(x, 0) and the negative part min(x, 0) of x, to be subtracted from each other.
 * On devices by the sign bit, since GPUs compare and select doubles slowly; there the negative part of
 * -0 is -0, which no difference from a positive part shows. In C with a zero that the compiler does not
 * know: of a known one it makes a comparison and a masked move, where vector units have a minimum and a
 * maximum at twice the speed.
 */
#ifndef __OPENCL_C_VERSION__
#define STRAKE_IS_UP(x) ((x) >= REAL(0.0))
extern const double strake_zero_double;
extern const float strake_zero_single;
#ifdef STRAKE_REAL_SINGLE
#define STRAKE_ZERO strake_zero_single
#else
#define STRAKE_ZERO strake_zero_double
#endif
#define STRAKE_POSITIVE(x) STRAKE_MAX(x, STRAKE_ZERO)
#define STRAKE_NEGATIVE(x) STRAKE_MIN(x, STRAKE_ZERO)
#elif defined(STRAKE_REAL_SINGLE)
#define STRAKE_IS_UP(x) (as_int(x) >= 0)
#define STRAKE_POSITIVE(x) as_float(as_int(x) & ~(as_int(x) >> 31))
#define STRAKE_NEGATIVE(x) as_float(as_int(x) & (as_int(x) >> 31))
#else
#define STRAKE_IS_UP(x) (as_long(x) >= 0)
#define STRAKE_POSITIVE(x) as_double(as_long(x) & ~(as_long(x) >> 63))
#define STRAKE_NEGATIVE(x) as_double(as_long(x) & (as_long(x) >> 63))
#endif
