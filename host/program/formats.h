/** @file formats.h All formats of outputs. */
#ifndef STRAKE_FORMATS_H
#define STRAKE_FORMATS_H

#include "output/format.h"

/** By strake_output_format. */
extern const strake_format *const strake_formats[STRAKE_FORMATS];

#endif
