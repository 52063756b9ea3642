/** @file tuned_impl.h Inside of strake_tuned_set; only for host/tuned/. */
#ifndef STRAKE_TUNED_IMPL_H
#define STRAKE_TUNED_IMPL_H

#include "tuned/tuned.h"

struct strake_tuned_set {
    int records;
    strake_tuned_record **record; /**< the cache's by file name, then the shipped ones */
    void (*notice)(void *user, const char *line);
    void *user;
};

#endif
