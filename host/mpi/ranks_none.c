/* The ranks of a program built without MPI: there is one. */
#include "mpi/launch.h"
#include "mpi/ranks.h"

bool strake_ranks_built(void)
{
    return false;
}

int strake_ranks_launched(void)
{
    return strake_launch_ranks();
}

strake_status strake_ranks_open(strake_ranks **out, strake_error *error)
{
    const int ranks = strake_launch_ranks();
    *out = NULL;
    if (ranks == 1) {
        return STRAKE_OK;
    }
    return strake_fail(
        error, STRAKE_ERR_USAGE,
        "built without MPI, but started as one of %d ranks: each would run the whole "
        "case; install an MPI (Debian: libopenmpi-dev), build Strake anew and use its "
        "mpirun, or start one process",
        ranks);
}

void strake_ranks_close(strake_ranks **ranks)
{
    *ranks = NULL;
}

int strake_ranks_self(const strake_ranks *ranks)
{
    (void)ranks;
    return 0;
}

int strake_ranks_count(const strake_ranks *ranks)
{
    (void)ranks;
    return 1;
}

int strake_ranks_local_self(const strake_ranks *ranks)
{
    (void)ranks;
    return 0;
}

int strake_ranks_local_count(const strake_ranks *ranks)
{
    (void)ranks;
    return 1;
}

int strake_ranks_machine(const strake_ranks *ranks)
{
    (void)ranks;
    return 0;
}

int strake_ranks_sharing(const strake_ranks *ranks)
{
    (void)ranks;
    return 1;
}

void strake_ranks_set_patience(strake_ranks *ranks, double seconds)
{
    (void)ranks;
    (void)seconds;
}

void strake_ranks_set_crowded(strake_ranks *ranks, bool is_crowded)
{
    (void)ranks;
    (void)is_crowded;
}

bool strake_ranks_is_lost(const strake_ranks *ranks)
{
    (void)ranks;
    return false;
}

bool strake_ranks_may_tell(const strake_ranks *ranks)
{
    (void)ranks;
    return strake_launch_self() == 0;
}

/* Nobody has ranks to call the following with. */
static strake_status no_ranks(strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE, "built without MPI: there are no other ranks");
}

strake_status strake_ranks_agree(strake_ranks *ranks, strake_status own, strake_error *error)
{
    (void)ranks;
    (void)error;
    return own;
}

strake_status strake_ranks_collect(strake_ranks *ranks, const void *own, size_t bytes, void *all,
                                   strake_error *error)
{
    (void)ranks;
    (void)own;
    (void)bytes;
    (void)all;
    return no_ranks(error);
}

strake_status strake_ranks_most(strake_ranks *ranks, double *value, int values, strake_error *error)
{
    (void)ranks;
    (void)value;
    (void)values;
    (void)error;
    return STRAKE_OK;
}

strake_status strake_ranks_broadcast(strake_ranks *ranks, void *data, size_t bytes,
                                     strake_error *error)
{
    (void)ranks;
    (void)data;
    (void)bytes;
    return no_ranks(error);
}

strake_status strake_ranks_trade(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_error *error)
{
    (void)ranks;
    (void)send;
    (void)sends;
    (void)receive;
    (void)receives;
    return no_ranks(error);
}

strake_status strake_link_create(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_link **out,
                                 strake_error *error)
{
    (void)ranks;
    (void)send;
    (void)sends;
    (void)receive;
    (void)receives;
    *out = NULL;
    return no_ranks(error);
}

void strake_link_destroy(strake_link **link)
{
    *link = NULL;
}

bool strake_link_is_empty(const strake_link *link)
{
    (void)link;
    return true;
}

strake_status strake_link_listen(strake_link *link, strake_error *error)
{
    (void)link;
    return no_ranks(error);
}

strake_status strake_link_send(strake_link *link, strake_error *error)
{
    (void)link;
    return no_ranks(error);
}

void strake_link_stop(strake_link *link)
{
    (void)link;
}

strake_status strake_link_received(strake_link *link, strake_error *error)
{
    (void)link;
    return no_ranks(error);
}

strake_status strake_link_sent(strake_link *link, strake_error *error)
{
    (void)link;
    return no_ranks(error);
}
