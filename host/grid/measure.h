/**
 * @file measure.h
 * What a grid's problem measures of its states, and what is kept of fields for that alone (strake_field.is_compared):
 * whole arrays beside those that steps read, on the rank where they were set.
 */
#ifndef STRAKE_GRID_MEASURE_H
#define STRAKE_GRID_MEASURE_H

#include "grid/grid.h"
#include "team/kind.h"

/** strake_domain_kind.measure and set_aside of grids. */
strake_status strake_grid_measure(strake_domain *domain, strake_slabs_reader *read, void *user,
                                  double *out, strake_error *error);
strake_status strake_grid_set_aside(strake_domain *domain, int field,
                                    const strake_given_slabs *slabs, strake_slabs_reader *read,
                                    void *user, strake_error *error);

/** Whether a field is an input that is kept for that alone. */
bool strake_grid_is_aside(const strake_grid *grid, int field);

/** Its slabs come in order from 0 to the last, until all are there. @return STRAKE_ERR_STATE */
strake_status strake_grid_check_aside(const strake_grid *grid, int field, int64_t first,
                                      int64_t end, strake_error *error);

/** What is kept of a field. */
strake_given strake_grid_given(const strake_grid *grid, int field);

/** Frees all of that. */
void strake_grid_drop_aside(strake_grid *grid);

#endif
