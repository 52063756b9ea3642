/** @file cl_watch.h Who is told of programs that are being compiled, which takes some drivers seconds. */
#ifndef STRAKE_CL_WATCH_H
#define STRAKE_CL_WATCH_H

#include <pthread.h>

#include "opencl/cl_device.h"

enum { STRAKE_CL_WATCHED = 64 };

/** To be had by one list of devices; strake_cl.watch leads to it. */
typedef struct strake_cl_watch {
    /**
     * Before a program is compiled: its number, from 1 on, of those that are known to be needed, each counted
     * once; afterwards with number 0. One call at a time, from any thread.
     */
    void (*tell)(void *user, const char *device, int number, int of);
    void *user;
    pthread_mutex_t lock;
    int asked, expected;              /**< different programs */
    uint64_t seen[STRAKE_CL_WATCHED]; /**< their names */
} strake_cl_watch;

/** @param[in] tell  may be NULL */
void strake_cl_watch_begin(strake_cl_watch *watch,
                           void (*tell)(void *user, const char *device, int number, int of),
                           void *user);

/** Programs built with the functions of @p list are told of from now on, if it has any. */
void strake_cl_watch_list(strake_cl_watch *watch, strake_cl_list *list);

/** So many more programs will be asked for; fewer where negative. */
void strake_cl_watch_expect(strake_cl_watch *watch, int programs);

/** A program of this name is asked for. @return its number; @p watch may be NULL here and below */
int strake_cl_watch_ask(strake_cl_watch *watch, uint64_t name);

/** It is compiled from now on (number > 0), or was (0). */
void strake_cl_watch_tell(strake_cl_watch *watch, const strake_cl_device *device, int number);

#endif
