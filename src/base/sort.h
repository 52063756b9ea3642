/** @file sort.h Numbers in order, and the middle one of them. */
#ifndef STRAKE_SORT_H
#define STRAKE_SORT_H

/** In ascending order, in place. */
void strake_sort(double *value, int count);

/** Sorts; the mean of the middle two of an even number. NaN where there is none. */
double strake_median(double *value, int count);

#endif
