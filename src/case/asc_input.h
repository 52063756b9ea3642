/** @file asc_input.h Fields of a case from ESRI ASCII grids. */
#ifndef STRAKE_CASE_ASC_INPUT_H
#define STRAKE_CASE_ASC_INPUT_H

#include "case/input.h"

extern const strake_input_kind strake_asc_input;

#endif
