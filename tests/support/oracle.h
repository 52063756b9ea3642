/**
 * @file oracle.h
 * A second, independently written statement of 2D MPDATA: whole arrays, one loop per formula, the
 * formulas literally as published (Smolarkiewicz; stages S1-S16 of Wyrzykowski, Szustak & Rojek
 * 2014), twelve divisions per cell. It shares no code with the product: tests compare the two.
 */
#ifndef STRAKE_TESTS_ORACLE_H
#define STRAKE_TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct strake_oracle {
    int rows, cols;
    bool open_rows, open_cols; /**< otherwise periodic */
    int iterations;            /**< 1: donor cell; n: n - 1 corrections */
    bool nonoscillatory;
    bool gauge; /**< infinite gauge */
    bool third_order;
    bool nonnegative;    /**< no absolute values in A and B, no sign rule in the limiter */
    bool unlimited_next; /**< later corrections start from the unlimited velocities */
    double epsilon;      /**< 1e-15 in Strake's definition */
} strake_oracle;

/**
 * Advances @p psi by @p steps time steps.
 * @param[in] u1  [rows + open_rows, cols] h-weighted Courant number between (i-1, j) and (i, j)
 * @param[in] u2  [rows, cols + open_cols] between (i, j-1) and (i, j)
 * @param[in] h   [rows, cols] density times Jacobian, > 0; NULL: 1
 * @param psi     [rows, cols]
 * @return false if memory is short, with psi unchanged.
 */
bool strake_oracle_run(const strake_oracle *setup, const double *u1, const double *u2,
                       const double *h, double *psi, int steps);

#endif
