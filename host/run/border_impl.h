/** @file border_impl.h Inside of the exchange of border slabs: what travels, in border_links.c. Only for host/run/border*.c. */
#ifndef STRAKE_BORDER_IMPL_H
#define STRAKE_BORDER_IMPL_H

#include <pthread.h>

#include "run/border.h"

struct strake_border {
    strake_link *link[2]; /* of the arrays of either parity: what travels after every sweep */
    strake_link *rest[2]; /* and the other states */
    bool common[2];       /* slabs between this rank and that one are in memory of both */
    bool narrow[2];       /* those that come from it are lines without ghosts, and ... */
    strake_range come[2]; /* ... these */
    char word[2][2];      /* for it and from it: that they are there, and that its own were read */
    bool broken;
    bool is_crowded;  /* its thread has no processor of its own */
    strake_bell done; /* steps whose ghosts are here */
    pthread_t thread;
    int64_t steps, sweep; /* of the present run */
    int64_t step;         /* of it, that the present sweep begins with, and ... */
    int64_t end;          /* ... after which workers wait for what it brings; 0: none computes */
    int64_t expected;     /* with a clock: sweeps in which all ranks still meet */
    _Atomic int64_t *stop;
    strake_status status;
    strake_error error;
};

#endif
