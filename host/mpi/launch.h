/** @file launch.h What a launcher's environment says; only for host/mpi/. */
#ifndef STRAKE_LAUNCH_H
#define STRAKE_LAUNCH_H

/** Ranks of this launch; 1 without a launcher, 2 where it does not say how many. */
int strake_launch_ranks(void);

/** Number of this rank; 0 where no launcher says it. */
int strake_launch_self(void);

/**
 * The variable by which a launcher says that there are several ranks, or that it started this process
 * without saying how many; NULL if none does. Launchers start each other (srun a shell, and that mpirun):
 * only MPI knows which of them counts.
 */
const char *strake_launch_variable(void);

#endif
