/** @file mpi_wait.h Inside of strake_ranks with MPI; only for host/mpi/mpi_*.c. */
#ifndef STRAKE_MPI_WAIT_H
#define STRAKE_MPI_WAIT_H

#include <mpi.h>
#include <sys/types.h>

#include "mpi/module.h"

/** What the module exports. */
extern const strake_module strake_mpi_module;

enum { STRAKE_MPI_PIECE = 1 << 30 /* bytes: MPI counts with an int */ };

/** A message that was posted. */
typedef struct strake_mpi_post {
    struct strake_mpi_post *next;
    MPI_Request request;
    char data[];
} strake_mpi_post;

struct strake_ranks {
    strake_module_object object;
    MPI_Comm world; /* of Strake alone */
    int self, count;
    int local_self, local_count;
    int sharing;
    pid_t *process;    /* of the ranks on this machine */
    int *number;       /* and their rank */
    char library[100]; /* MPI's name and version */
    double patience;
    size_t piece;                 /* most bytes of a message to another machine */
    bool is_crowded;              /* who waits leaves its processor to others at once, ... */
    strake_is_awaited is_awaited; /* ... unless these wait for it; or NULL */
    void *waiter;                 /* their user */
    bool lost;                    /* a rank does not answer any more */
    bool tells;                   /* this rank is to say so */
    bool started;                 /* MPI was initialised here */
    strake_error cause;
    strake_mpi_post *posts; /* that may not have left yet */
    double looked;          /* when a message was fetched and the others looked after */
};

/** A failed call of MPI, as a message. @return STRAKE_OK for MPI_SUCCESS, else STRAKE_ERR_RANK. */
strake_status strake_mpi_check(strake_ranks *ranks, const char *call, int code,
                               strake_error *error);

/** Now and then looks whether a rank on this machine has died. @return STRAKE_ERR_RANK, once it has */
strake_status strake_mpi_look(strake_ranks *ranks, strake_error *error);

/** Waits a moment after a loss. */
void strake_mpi_linger(void);

/**
 * Waits for all requests.
 * @param[out] seen  one for each request, or MPI_STATUSES_IGNORE
 * @param[in]  what  is waited for, for the message
 */
strake_status strake_mpi_wait(strake_ranks *ranks, int requests, MPI_Request *request,
                              MPI_Status *seen, const char *what, strake_error *error);

/** The same, or until a number is known (NULL: it is not asked for). @param[out] done  the requests are */
strake_status strake_mpi_wait_or(strake_ranks *ranks, int requests, MPI_Request *request,
                                 MPI_Status *seen, strake_least *least, bool *done,
                                 const char *what, strake_error *error);

#endif
