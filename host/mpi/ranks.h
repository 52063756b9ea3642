/**
 * @file ranks.h
 * The ranks of a run: processes that a launcher (mpirun) started together, each with its own processors
 * and its own slabs. Everything that MPI does for Strake is behind these functions, in a module that is
 * loaded where a launcher has started several ranks (module.h). Built without MPI there is none: one rank
 * only, and strake_ranks_open() says what is missing.
 *
 * No call waits for ever: one that waits sees when a rank on the same machine has died, and gives up
 * after the run's patience. From then on every call fails at once with the same message.
 * Calls may come from one thread at a time. Those marked collective are made by every rank, in the same
 * order.
 */
#ifndef STRAKE_RANKS_H
#define STRAKE_RANKS_H

#include "base/error.h"

typedef struct strake_ranks strake_ranks;

/** Bytes to or from another rank. The data stays the caller's; it must not change until they are there. */
typedef struct strake_transfer {
    int peer; /**< rank */
    int tag;  /**< 0 to 1000, the same on both sides */
    void *data;
    size_t bytes;
} strake_transfer;

/** Whether a launcher says that this process is one of several ranks, or may be. */
bool strake_ranks_launched(void);

/**
 * Joins the ranks of this launch. Collective.
 * @param[out] out  NULL where there is one rank only
 * @return STRAKE_ERR_USAGE where there are several and Strake was built without MPI, or its module cannot
 *         be loaded, STRAKE_ERR_RANK where MPI refuses.
 */
strake_status strake_ranks_open(strake_ranks **out, strake_error *error);

/** Leaves; collective unless a rank was lost, and then only after a moment. NULL is accepted. */
void strake_ranks_close(strake_ranks **ranks);

/** This rank's number, and how many there are. NULL stands for a lone rank. */
int strake_ranks_self(const strake_ranks *ranks);
int strake_ranks_count(const strake_ranks *ranks);

/** The same among the ranks on this machine. */
int strake_ranks_local_self(const strake_ranks *ranks);
int strake_ranks_local_count(const strake_ranks *ranks);

/** The lowest rank on this machine: ranks with the same one are on the same. */
int strake_ranks_machine(const strake_ranks *ranks);

/** Ranks on this machine that may use the very same processors, this one included. */
int strake_ranks_sharing(const strake_ranks *ranks);

/**
 * Takes the part of a list for several ranks, "cpu/ocl:0", that is this rank's: the only one, or one for
 * each rank. @param[in] option  its name, for messages @return STRAKE_ERR_USAGE
 */
strake_status strake_ranks_pick(const strake_ranks *ranks, const char *option, const char *text,
                                char *out, size_t size, strake_error *error);

/** Whether a rank is on this rank's machine. */
bool strake_ranks_is_here(const strake_ranks *ranks, int rank);

/** The MPI that they use, with its version: "Open MPI v4.1.4"; "" of a lone rank. Lives as long as @p ranks. */
const char *strake_ranks_library(const strake_ranks *ranks);

/** Seconds to wait for another rank before it is given up, INFINITY: none is; 300 at first. */
void strake_ranks_set_patience(strake_ranks *ranks, double seconds);

/**
 * Messages to other machines are cut into pieces of so many bytes at most, in links that are created from now on; 0: they
 * are not. The same on all ranks.
 */
void strake_ranks_set_piece(strake_ranks *ranks, size_t bytes);

/** Whether more threads compute and wait here than there are processors; at first every rank has one. */
void strake_ranks_set_crowded(strake_ranks *ranks, bool is_crowded);

/** Tells whether a thread that computes waits for the one that asks, which has its processor meanwhile. */
typedef bool (*strake_is_awaited)(void *user);

/** Where ranks are crowded: who waits looks for messages all the time while it is awaited. @param[in] is_awaited  or NULL */
void strake_ranks_set_awaited(strake_ranks *ranks, strake_is_awaited is_awaited, void *user);

/**
 * Whether a rank was lost, and whether this rank is the one that tells the user what happened: rank 0,
 * or once a rank was lost the first of a machine that is alive. NULL stands for a lone rank, or for one
 * that could not join.
 */
bool strake_ranks_is_lost(const strake_ranks *ranks);
bool strake_ranks_may_tell(const strake_ranks *ranks);

/**
 * Brings the outcome of every rank together: all get the first failure, or success. A failure that only
 * follows from another's (STRAKE_ERR_RANK) yields to its cause. Collective.
 */
strake_status strake_ranks_agree(strake_ranks *ranks, strake_status own, strake_error *error);

/** The data of all ranks, in their order, on every rank. Collective. */
strake_status strake_ranks_collect(strake_ranks *ranks, const void *own, size_t bytes, void *all,
                                   strake_error *error);

/** The largest of every rank's values, in their place; a lone rank's own. Collective. */
strake_status strake_ranks_most(strake_ranks *ranks, double *value, int values,
                                strake_error *error);

/** Rank 0's data on every rank. Collective. */
strake_status strake_ranks_broadcast(strake_ranks *ranks, void *data, size_t bytes,
                                     strake_error *error);

/** Sends and receives, all at once; returns when all are done. */
strake_status strake_ranks_trade(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_error *error);

/**
 * Sends a copy of some bytes and returns at once. Messages from one rank to another arrive in their order.
 * strake_ranks_close() waits until all were fetched.
 */
strake_status strake_ranks_post(strake_ranks *ranks, int peer, const void *data, size_t bytes,
                                strake_error *error);

/**
 * Takes a message that was posted to this rank, if there is one; never waits. @param[in] bytes  room for it
 * @param[out] peer  whose it is, -1: there is none @return STRAKE_ERR_RANK, also once a rank on this machine has died
 */
strake_status strake_ranks_fetch(strake_ranks *ranks, void *data, size_t bytes, int *peer,
                                 strake_error *error);

/**
 * An exchange that is repeated with the same memory. A round is: listen, send, received, sent. A rank
 * that cannot go on calls stop instead of send; its peers then find that it has stopped instead of data.
 * Transfers one after the other with one peer and tag are one message, without a copy.
 */
typedef struct strake_link strake_link;

strake_status strake_link_create(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_link **out,
                                 strake_error *error);
void strake_link_destroy(strake_link **link);

/** Messages that a round sends. */
int strake_link_messages(const strake_link *link);

/** From now on the receiving memory may change. */
strake_status strake_link_listen(strake_link *link, strake_error *error);
strake_status strake_link_send(strake_link *link, strake_error *error);
void strake_link_stop(strake_link *link);

/** A number that every rank brings to a round, for all to have the least of them. */
typedef struct strake_least {
    /** This rank's own, once it is known. @param[in] waits  until it is @return whether it is */
    bool (*own)(void *user, bool waits, double *value);
    void *user;
    double value; /**< out: the least */
} strake_least;

/**
 * Waits for what the peers send, and with @p least (NULL: none) for the numbers of all ranks, which meet as soon
 * as this one's is known, beside the messages. Collective with it, whoever stops included.
 * @return STRAKE_ERR_RANK naming a peer that has stopped.
 */
strake_status strake_link_received(strake_link *link, strake_least *least, strake_error *error);

/** Waits until the sending memory may change again. */
strake_status strake_link_sent(strake_link *link, strake_error *error);

#endif
