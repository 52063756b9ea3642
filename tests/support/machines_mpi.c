/*
 * Ranks of one machine that take themselves for ranks of several: preloaded, it tells every $STRAKE_TEST_MACHINE ranks (1)
 * that they alone share memory. What travels between machines then travels here.
 */
#include <mpi.h>
#include <stdlib.h>

int MPI_Comm_split_type(MPI_Comm all, int type, int key, MPI_Info info, MPI_Comm *out)
{
    const char *const ranks = getenv("STRAKE_TEST_MACHINE");
    int self = 0;
    (void)type;
    (void)info;
    (void)PMPI_Comm_rank(all, &self);
    return PMPI_Comm_split(all, self / (ranks != NULL ? atoi(ranks) : 1), key, out);
}
