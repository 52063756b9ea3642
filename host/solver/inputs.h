/** @file inputs.h The formats that fields of a case are read from, besides .npy. */
#ifndef STRAKE_SOLVER_INPUTS_H
#define STRAKE_SOLVER_INPUTS_H

#include "case/input.h"

/** NULL-terminated. */
extern const strake_input_kind *const strake_input_kinds[];

#endif
