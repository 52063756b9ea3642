#include "mpi/launch.h"

#include <stdbool.h>
#include <stdlib.h>

/* Variables with the number of ranks: Open MPI; MPICH, Intel MPI and srun with PMI; srun itself. */
static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                     "MV2_COMM_WORLD_SIZE"};

static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                      "SLURM_PROCID", "MV2_COMM_WORLD_RANK"};

int strake_launch_ranks(void)
{
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const char *const text = getenv(counts[k]);
        const long ranks = text != NULL ? strtol(text, NULL, 10) : 0;
        if (ranks >= 1 && ranks <= 1000000) {
            return (int)ranks;
        }
    }
    return getenv("PMIX_RANK") != NULL ? 2 : 1;
}

const char *strake_launch_variable(void)
{
    static const char unknown[] = "PMIX_RANK";
    bool known = false;
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        const char *const text = getenv(counts[k]);
        if (text != NULL && strtol(text, NULL, 10) > 1) {
            return counts[k];
        }
        known = known || text != NULL;
    }
    return !known && getenv(unknown) != NULL ? unknown : NULL;
}

int strake_launch_self(void)
{
    if (strake_launch_variable() == NULL) {
        return 0; /* a shell that a launcher has started, as the only one */
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        const char *const text = getenv(numbers[k]);
        if (text != NULL) {
            return (int)strtol(text, NULL, 10);
        }
    }
    return 0;
}
