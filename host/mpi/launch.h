/** @file launch.h What a launcher's environment says; only for host/mpi/. */
#ifndef STRAKE_LAUNCH_H
#define STRAKE_LAUNCH_H

#include <stdbool.h>

/** Ranks of this launch; 1 without a launcher, 2 where it does not say how many. */
int strake_launch_ranks(void);

/** Number of this rank; 0 where no launcher says it. */
int strake_launch_self(void);

/** Whether a launcher started this process, be it alone. */
bool strake_launch_is_there(void);

#endif
