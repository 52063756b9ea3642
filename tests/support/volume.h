/**
 * @file volume.h
 * MPDATA in one to three dimensions for tests: inputs, cases, and a statement of the method for any number of
 * dimensions that shares no code with the product (whole arrays, formulas as published; oracle.h is the older
 * one for two, with the same options).
 */
#ifndef STRAKE_TESTS_VOLUME_H
#define STRAKE_TESTS_VOLUME_H

#include "tests/support/harness.h"

enum { STRAKE_VOLUME_AXES = 3 };

/** Inputs; axis 2 exists in one dimension, 0 and 2 in two. Unused axes have one cell and are closed. */
typedef struct strake_volume {
    int dims;
    int n[STRAKE_VOLUME_AXES];
    bool open[STRAKE_VOLUME_AXES];
    bool divergent, changes;
    bool initial_bounds; /**< scheme.bounds */
    bool walled;         /**< open edges are called no_flux in its case */
    const char *more;    /**< lines that its case has besides, or NULL */
    const char *name;    /**< of psi, or NULL */
    size_t cells, faces[STRAKE_VOLUME_AXES];
    double *psi, *h, *h_next;
    double *u[STRAKE_VOLUME_AXES]; /**< one more along its axis where that is open; NULL: unused */
} strake_volume;

/** psi 0, velocities 0, h and h_next 1. @param[in] open  bit per axis */
void strake_volume_open(strake_volume *v, int dims, const int n[STRAKE_VOLUME_AXES], int open);
void strake_volume_close(strake_volume *v);

/** Whether the axis is one of the dimensions. */
bool strake_volume_has(const strake_volume *v, int axis);

/** Elements of a field of cells (axis -1) or of faces along each axis. */
void strake_volume_shape(const strake_volume *v, int axis, int shape[STRAKE_VOLUME_AXES]);

void strake_volume_fill(double *values, size_t count, double lo, double hi, uint64_t *seed);

/** Independent random velocities, damped at open edges by @p edge; outgoing sums over h at most @p courant. */
void strake_volume_random_flow(strake_volume *v, double courant, double edge, uint64_t *seed);

/** A flow whose divergence is exactly 0 in every cell. */
void strake_volume_free_flow(strake_volume *v, double courant, uint64_t *seed);

/** What flows out of each cell in a step. @param[out] out  per cell */
void strake_volume_divergence(const strake_volume *v, double *out);

/** A case of the inputs; fields are given later. */
strake_case *strake_volume_case(const strake_volume *v, const strake_scheme *scheme, bool single);

/** A solver with the fields; split may be NULL. */
strake_solver *strake_volume_solver(const strake_volume *v, const strake_case *which,
                                    const char *where, const char *split, int threads);

/** psi after some steps on "cpu" with 2 threads. */
void strake_volume_run(const strake_volume *v, const strake_scheme *scheme, bool single,
                       int64_t steps, double *psi);

/** The same by the statement of the method. */
void strake_volume_oracle(const strake_volume *v, const strake_scheme *scheme, int steps,
                          double *psi);

#endif
