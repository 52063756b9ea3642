/** @file say.h What measured models say, in sentences, and as a page of plots. */
#ifndef STRAKE_MODEL_SAY_H
#define STRAKE_MODEL_SAY_H

#include "cost/measure.h"

/** Sentences about a machine, each on a line of its own; every number in them is a measured one. */
void strake_model_say(const strake_model_machine *machine, strake_text *out);

/**
 * The three lines that matter: what transfers reach, what an exchange takes, how far models are to be
 * trusted. Nothing without a device.
 */
void strake_model_verdict(const strake_model_machine *machine, strake_text *out);

/** A size with a binary prefix, a time, a rate: "192 KiB", "6.7 us", "55.0 GB/s". @return @p text. */
const char *strake_say_bytes(double bytes, char text[32]);
const char *strake_say_seconds(double seconds, char text[32]);
const char *strake_say_rate(double bytes_per_second, char text[32]);

/** Appends an SVG page: seconds over bytes for each path, measured and predicted, on logarithmic axes. */
void strake_model_print_svg(const strake_model_machine *machine, strake_text *svg);

#endif
