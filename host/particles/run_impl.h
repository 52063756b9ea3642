/** @file run_impl.h What a run of particles consists of. */
#ifndef STRAKE_PARTICLES_RUN_IMPL_H
#define STRAKE_PARTICLES_RUN_IMPL_H

#include "particles/run.h"
#include "particles/sph_rows.h"

struct strake_sph_run {
    const strake_sph *sph;
    int element; /**< bytes of one */
    strake_sph_way way;
    int threads;
    const strake_sph_rows *rows;
    const strake_sph_pair_rows *pair;
    strake_sph_numbers numbers;
    strake_cells cells;
    strake_sph_parts parts;
    strake_sph_list list;
    int64_t room; /**< of list.entry, in rows of lanes */
    int64_t *number, *order, *start, *spare_number;
    int32_t *cell, *member;
    uint8_t *kind, *spare_kind;
    void *spare;   /**< one array of the working precision */
    void *rest[3]; /**< positions when the order was made, as the lists have them */
    int64_t steps, lost, rebuilds, since; /**< steps since the last order */
    double time, dt, bound, pairs;
    bool is_ordered;
};

/** Puts all particles in their cells and these in order, with lists; those that left the box go. */
strake_status strake_sph_order(strake_sph_run *run, strake_error *error);

#endif
