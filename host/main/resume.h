/** @file resume.h How to go on with a run that ended before its last step. */
#ifndef STRAKE_RESUME_H
#define STRAKE_RESUME_H

#include "main/case_options.h"
#include "output/checkpoint.h"

/** Where a checkpoint's last step was cut short to end where its run did, and this one goes on. */
void strake_tell_clipped(const strake_checkpoint *checkpoint, const strake_case *which);

/**
 * After a failure: what is on the disk to go on from, where a rank was lost or a device without which the others
 * could not go on. @param[in] step  of the last checkpoint, -1: there is none
 */
void strake_tell_failure(const strake_arguments *arguments, strake_status status, int64_t step,
                         const char *checkpoint, int ranks);

/** After Ctrl-C at @p step. */
void strake_tell_interrupted(const strake_arguments *arguments, const strake_case *which,
                             int64_t step, double time, const char *checkpoint, int ranks);

#endif
