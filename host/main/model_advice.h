/** @file model_advice.h What measured models mean for a case, as `strake model CASE.yaml` prints it. */
#ifndef STRAKE_MODEL_ADVICE_H
#define STRAKE_MODEL_ADVICE_H

#include <stdio.h>

#include "case/case.h"
#include "model/measure.h"

/** Prints a paragraph for each device to @p stream and writes an array of JSON. */
strake_status strake_model_advise_case(const strake_case *which,
                                       const strake_model_machine *machine, FILE *stream,
                                       strake_json *json, strake_error *error);

/**
 * Of a case of particles: bytes and operations of pairs and particles, the rate that the memory of the host and of each
 * measured device allows, and the one that some steps have there.
 */
strake_status strake_model_advise_particles(const strake_case *which,
                                            const strake_model_machine *machine, FILE *stream,
                                            strake_json *json, strake_error *error);

#endif
