/** @file format_png.h The format of outputs that are pictures. */
#ifndef STRAKE_FORMAT_PNG_H
#define STRAKE_FORMAT_PNG_H

#include "output/format.h"

extern const strake_format strake_format_png;

#endif
