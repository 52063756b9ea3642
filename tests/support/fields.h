/**
 * @file fields.h
 * Inputs for the tests: reproducible random fields and flows within MPDATA's stability bound.
 */
#ifndef STRAKE_TESTS_FIELDS_H
#define STRAKE_TESTS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Inputs of an mpdata2d case in double; shapes as in a case file. */
typedef struct strake_inputs {
    int rows, cols;
    bool open_rows, open_cols;    /**< otherwise periodic */
    double *psi;                  /**< [rows, cols] */
    double *u1;                   /**< [rows + open_rows, cols] h-weighted Courant numbers [-] */
    double *u2;                   /**< [rows, cols + open_cols] */
    double *h;                    /**< [rows, cols], between 0.5 and 1.5 */
    size_t cells, faces1, faces2; /**< elements of psi and h, of u1, of u2 */
} strake_inputs;

/** Next number of a reproducible sequence (splitmix64), uniform in [0, 1). */
double strake_random(uint64_t *state);

/** Allocates inputs: psi 0, velocities 0, h 1. @return false if memory is short. */
bool strake_inputs_open(strake_inputs *in, int rows, int cols, bool open_rows, bool open_cols);
void strake_inputs_close(strake_inputs *in);

/** psi uniform in [lo, hi). */
void strake_inputs_random_psi(strake_inputs *in, double lo, double hi, uint64_t *state);

/** h uniform in [0.5, 1.5). */
void strake_inputs_random_h(strake_inputs *in, uint64_t *state);

/**
 * Independent random velocities (a divergent flow), scaled so that the largest sum of outgoing
 * Courant numbers over h is @p courant. At open edges they are damped by @p edge (1: not at all),
 * because the continuation beyond the edge, which no check covers, may exceed the bound.
 */
void strake_inputs_random_flow(strake_inputs *in, double courant, double edge, uint64_t *state);

/**
 * A random flow from a stream function, scaled the same way. The stream function is a multiple of
 * 2^-30 and the scaling a power of two, so the divergence of every cell is exactly 0.
 */
void strake_inputs_divergence_free(strake_inputs *in, double courant, uint64_t *state);

/** Largest sum of outgoing Courant numbers over h of any cell. */
double strake_inputs_courant(const strake_inputs *in);

/** Sum of h * psi with compensation (Neumaier), so that its own rounding does not show. */
double strake_inputs_mass(const double *h, const double *psi, size_t cells);

#endif
