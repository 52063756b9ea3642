/** @file run_common.h What runs of particles have in common, whoever computes. */
#ifndef STRAKE_PARTICLES_RUN_COMMON_H
#define STRAKE_PARTICLES_RUN_COMMON_H

#include "particles/run.h"
#include "particles/sph_rows.h"
#include "run/recorder.h"

/** Fail: the particle of a number has NaN or Inf; or one, which is found here, is too fast for lists. */
strake_status strake_sph_fail_bad(strake_sph_run *run, int64_t number, strake_error *error);
strake_status strake_sph_fail_fast(strake_sph_run *run, strake_error *error);

/** A particle left the box: its position counts from a cell. @return STRAKE_ERR_MEMORY */
strake_status strake_sph_note_lost(strake_sph_run *run, int64_t number, strake_particle_kind kind,
                                   int64_t cell, const double in_cell[STRAKE_PARTICLE_AXES],
                                   strake_error *error);

/** A run goes on with something else, as strake_recorder_turn() has it. */
strake_work strake_sph_turn(strake_sph_run *run, strake_span_kind kind, const char *what);
/** What is recorded from now on belongs to a new order, or no longer. */
void strake_sph_turn_rare(strake_sph_run *run, bool is_rare);

/** Fills what all runs begin with, and makes the cells. */
strake_status strake_sph_begin(strake_sph_run *run, const strake_sph_ops *ops,
                               const strake_sph *sph, const double size[STRAKE_PARTICLE_AXES],
                               const bool is_round[STRAKE_PARTICLE_AXES],
                               strake_precision precision, int64_t count, strake_error *error);

/** Numbers of a pass. */
void strake_sph_set_numbers(const strake_sph *sph, const strake_cells *cells,
                            strake_sph_numbers *numbers);

#endif
