/** @file summary.h The table at the end of a run, at most 80 columns wide. */
#ifndef STRAKE_SUMMARY_H
#define STRAKE_SUMMARY_H

#include <stdio.h>

#include "output/report.h"

void strake_summary_print(const strake_result *result, FILE *stream);

/** "61 x 97" in @p text. @return @p text. */
const char *strake_shape_text(int dims, const int64_t shape[3], char text[72]);

/** Memory of the arrays that a run on a grid holds [bytes]: fields that are no constants, states twice (old and new). */
double strake_case_bytes(const strake_case *which);

/** What the problem's slabs across the stripes are called. */
const char *strake_slab_name(const strake_case *which);

/** How the CPU stripe, if there is one, computes: threads, steps per sweep, block width, instructions. */
void strake_summary_print_cpu(const strake_part_report *part, int parts, FILE *stream);

#endif
