/** @file cl_answers.h What trials of drivers said, kept in the file `drivers` of the cache and in this process. */
#ifndef STRAKE_CL_ANSWERS_H
#define STRAKE_CL_ANSWERS_H

#include <stdint.h>

#include "opencl/cl_trial.h"

/**
 * What an answer depends on besides the driver's file: its name, @p besides, and the surroundings that are known to
 * decide whether drivers work (cl_drivers.h).
 */
uint64_t strake_cl_answers_key(const char *library, const char *besides);

/** Looks for an answer that holds. @return whether @p trial got verdict, file and sentence */
bool strake_cl_answers_find(uint64_t key, strake_cl_trial *trial);

/** Keeps the answers of trials; where the cache cannot be written only for this process. */
void strake_cl_answers_keep(const uint64_t *key, const strake_cl_trial *trial, int count);

#endif
