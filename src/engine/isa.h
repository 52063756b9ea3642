/** @file isa.h Which instruction sets of row loops the processor has. */
#ifndef STRAKE_ISA_H
#define STRAKE_ISA_H

#include "engine/point.h"

/** The best instruction set of this processor that was compiled in. */
strake_isa strake_isa_best(void);
/** Whether this processor has it and it was compiled in. */
bool strake_isa_is_there(strake_isa isa);
const char *strake_isa_name(strake_isa isa);

#endif
