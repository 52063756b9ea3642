/**
 * @file spinodal.h
 * A second, independently written statement of the Cahn-Hilliard equation: whole arrays, differences
 * as fluxes through faces that are zero at walls, every evaluation on its own array. It shares no code
 * with the product: tests compare the two.
 */
#ifndef STRAKE_TESTS_SPINODAL_H
#define STRAKE_TESTS_SPINODAL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum strake_spinodal_time {
    STRAKE_SPINODAL_MIDPOINT,
    STRAKE_SPINODAL_HEUN,
    STRAKE_SPINODAL_EULER
} strake_spinodal_time;

typedef struct strake_spinodal {
    int n[3];        /**< planes (1 in 2D), rows, cols */
    double h[3];     /**< spacings */
    bool no_flux[3]; /**< otherwise periodic */
    double m, b, u, k;
    const double *polynomial; /**< coefficients of f, or NULL: the double well of b and u */
    int terms;
    double dt;
    strake_spinodal_time time;
} strake_spinodal;

/** Advances a field of [planes, rows, cols]. @return false if memory is short, with it unchanged. */
bool strake_spinodal_run(const strake_spinodal *setup, double *field, int steps);

/** The discrete free energy that the semi-discrete equation decreases: forward differences. */
double strake_spinodal_energy(const strake_spinodal *setup, const double *field);

/** Cells of the field. */
size_t strake_spinodal_cells(const strake_spinodal *setup);

#endif
