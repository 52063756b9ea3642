/** @file model.h What stored models of data movement say about the placed team; only for host/solver/. */
#ifndef STRAKE_SOLVER_MODEL_H
#define STRAKE_SOLVER_MODEL_H

#include "solver/solver_impl.h"

/** Loads the stored models of the parts' devices, unless run.tuned is false. */
strake_status strake_solver_load_models(strake_solver *solver, strake_error *error);
void strake_solver_free_models(strake_solver *solver);

/** The model of a part's device, or NULL. */
const strake_device_model *strake_solver_model(const strake_solver *solver,
                                               const strake_part *part);

/**
 * Steps per sweep, 1 to solver->sweep, with which the exchanges of the devices and what is computed
 * twice for them take least, by the models; 0 where a device has none. Needs the parts' ranges.
 */
int strake_solver_model_steps(const strake_solver *solver);

/** What an exchange of a part's stripe costs before sweeps of solver->at_once steps. */
strake_cl_costs strake_solver_costs(const strake_solver *solver, const strake_part *part);

/** Fills in what was exchanged, what the model says about it, and what was measured. */
void strake_solver_describe_model(const strake_solver *solver, const strake_part *part,
                                  strake_placement *out);

#endif
