#include "opencl/cl_watch.h"

#include <stdio.h>
#include <string.h>

void strake_cl_watch_begin(strake_cl_watch *watch,
                           void (*tell)(void *user, const char *device, int number, int of),
                           void *user)
{
    memset(watch, 0, sizeof *watch);
    (void)pthread_mutex_init(&watch->lock, NULL);
    watch->tell = tell;
    watch->user = user;
}

void strake_cl_watch_list(strake_cl_watch *watch, strake_cl_list *list)
{
    if (list->cl != NULL) {
        list->cl->watch = watch;
    }
}

void strake_cl_watch_expect(strake_cl_watch *watch, int programs)
{
    watch->expected += programs;
}

int strake_cl_watch_ask(strake_cl_watch *watch, uint64_t name)
{
    int number = 0;
    if (watch == NULL) {
        return 0;
    }
    (void)pthread_mutex_lock(&watch->lock);
    while (number < watch->asked && number < STRAKE_CL_WATCHED && watch->seen[number] != name) {
        number++;
    }
    if (number == watch->asked && number < STRAKE_CL_WATCHED) {
        watch->seen[watch->asked++] = name;
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return number + 1;
}

void strake_cl_watch_tell(strake_cl_watch *watch, const strake_cl_device *device, int number)
{
    char text[64];
    if (watch == NULL || watch->tell == NULL) {
        return;
    }
    (void)snprintf(text, sizeof text, "ocl:%d (%.16s)", device->number, device->name);
    (void)pthread_mutex_lock(&watch->lock);
    watch->tell(watch->user, text, number,
                watch->expected > watch->asked ? watch->expected : watch->asked);
    (void)pthread_mutex_unlock(&watch->lock);
}
