/** @file threads.h Roles that meet within their legs: each has a thread of its own, or none plays. */
#ifndef STRAKE_TEAM_THREADS_H
#define STRAKE_TEAM_THREADS_H

#include "strake.h"

/**
 * Calls @p play for all roles at once; returns when all have. A part with threads of its own finds those of the calling
 * thread made already: it is to be @p own.
 * @return STRAKE_ERR_MEMORY if there are no threads for all: nobody has played then
 */
strake_status strake_threads_play(int roles, int own, void (*play)(void *user, int role),
                                  void *user, strake_error *error);

#endif
