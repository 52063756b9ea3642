/** @file resume.h How to go on with a run that ended before its last step. */
#ifndef STRAKE_RESUME_H
#define STRAKE_RESUME_H

#include "main/case_options.h"

/** Where a rank was lost. @param[in] step  of the last checkpoint, -1: there is none */
void strake_tell_checkpoint(const strake_arguments *arguments, int64_t step, const char *checkpoint,
                            int ranks);

/** Where a device failed and no other part of the run could go on: what is on the disk is good. */
void strake_tell_lost(int64_t step, const char *checkpoint);

/** After Ctrl-C at @p step. */
void strake_tell_interrupted(const strake_arguments *arguments, const strake_case *which,
                             int64_t step, double time, const char *checkpoint, int ranks);

#endif
