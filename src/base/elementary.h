/**
 * @file elementary.h
 * Sine, cosine and exponential from exactly rounded operations alone, so that their bits are the same with
 * every C library: fields from shapes take them from here. Errors are below 0.9 units in the last place.
 */
#ifndef STRAKE_ELEMENTARY_H
#define STRAKE_ELEMENTARY_H

/**
 * Sine and cosine of an angle [rad]; NaN where it is not finite. Beyond 2^20 a quarter turns the angle is
 * first taken modulo the double that is nearest to 2 pi: off by less than the rounding of the angle itself.
 */
double strake_sin(double x);
double strake_cos(double x);

/** e^x: 0 and infinite beyond the range; results below the smallest normal number are rounded twice. */
double strake_exp(double x);

#endif
