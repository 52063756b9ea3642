/**
 * @file harness.h
 * Runs a case of random or made-up fields through the public interface (strake.h), as a model that
 * uses the library would. Every function fails the running cmocka test on an unexpected error.
 */
#ifndef STRAKE_TESTS_HARNESS_H
#define STRAKE_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/point.h"
#include "strake.h"
#include "tests/support/fields.h"
#include "tests/support/oracle.h"

/** The scheme of a case: the oracle's options, which name every option of the product. */
typedef strake_oracle strake_scheme;

/** The default scheme of a case file: 2 iterations, nonoscillatory, any sign. */
#define STRAKE_DEFAULT_SCHEME .iterations = 2, .nonoscillatory = true

/**
 * Opens the case of @p in with @p scheme (its grid and boundaries are ignored).
 * @param[in] single      single precision
 * @param[in] constant_h  h is left at its default 1, so that the product may fold it
 */
strake_case *strake_harness_case(const strake_inputs *in, const strake_scheme *scheme, bool single,
                                 bool constant_h);

/** Opens a solver on @p where, or fails the test with the library's message; split may be NULL. */
strake_solver *strake_harness_solver(const strake_case *which, const char *where, const char *split,
                                     int threads);

/** The same, and hands it the fields of @p in. */
strake_solver *strake_harness_open(const strake_case *which, const strake_inputs *in, bool single,
                                   bool constant_h, const char *where, const char *split,
                                   int threads);

/**
 * Skips the running test, saying why, where ocl:0 cannot be held to bit equality in this precision;
 * fails it instead if STRAKE_REQUIRE_OPENCL is 1.
 */
void strake_harness_need_device(strake_precision precision);

/**
 * Whether PoCL builds kernels without optimising from now on: its compiler takes most of the time of tests with many
 * kernels. Other devices do not mind.
 */
void strake_harness_build_quickly(bool quickly);

/** Steps, or fails the test with the library's message. */
void strake_harness_step(strake_solver *solver, int64_t steps);

/** Sets or reads a field in double, whatever the solver's precision. */
void strake_harness_set(strake_solver *solver, const char *name, const double *data, size_t count);
void strake_harness_get(strake_solver *solver, const char *name, double *data, size_t count);

/** Sets or reads psi in double, whatever the solver's precision. */
void strake_harness_set_psi(strake_solver *solver, const double *psi, size_t cells);
void strake_harness_get_psi(strake_solver *solver, double *psi, size_t cells);

/** All of the above: @p psi receives the field after @p steps steps on "cpu" with 2 threads. */
void strake_harness_run(const strake_inputs *in, const strake_scheme *scheme, bool single,
                        int64_t steps, double *psi);

/** FNV-1a-64 of the bytes of a field. */
uint64_t strake_harness_checksum(strake_solver *solver, const char *name, size_t count);

/** Largest |a - b|. */
double strake_harness_difference(const double *a, const double *b, size_t count);

#endif
