/**
 * @file module.h
 * What libstrake-mpi.so offers to the program and the library, which are not linked with MPI and load it
 * where a launcher has started several ranks; only for host/mpi/. The module defines the functions of
 * ranks.h once more (mpi_*.c), hidden, and exports nothing but a table of them.
 */
#ifndef STRAKE_MODULE_H
#define STRAKE_MODULE_H

#include "files/module.h"
#include "mpi/ranks.h"

#define STRAKE_MODULE_FILE "libstrake-mpi.so"
#define STRAKE_MODULE_SYMBOL "strake_mpi_module"

/** The functions of ranks.h that need MPI, without strake_. */
#define STRAKE_MODULE_CALLS(X)                                                                     \
    X(ranks_open)                                                                                  \
    X(ranks_close)                                                                                 \
    X(ranks_self)                                                                                  \
    X(ranks_count)                                                                                 \
    X(ranks_local_self)                                                                            \
    X(ranks_local_count)                                                                           \
    X(ranks_machine)                                                                               \
    X(ranks_sharing)                                                                               \
    X(ranks_is_here)                                                                               \
    X(ranks_library)                                                                               \
    X(ranks_set_patience)                                                                          \
    X(ranks_set_piece)                                                                             \
    X(ranks_set_crowded)                                                                           \
    X(ranks_set_awaited)                                                                           \
    X(ranks_is_lost)                                                                               \
    X(ranks_may_tell)                                                                              \
    X(ranks_agree)                                                                                 \
    X(ranks_collect)                                                                               \
    X(ranks_most)                                                                                  \
    X(ranks_broadcast)                                                                             \
    X(ranks_trade)                                                                                 \
    X(ranks_post)                                                                                  \
    X(ranks_fetch)                                                                                 \
    X(link_create)                                                                                 \
    X(link_destroy)                                                                                \
    X(link_messages)                                                                               \
    X(link_listen)                                                                                 \
    X(link_send)                                                                                   \
    X(link_stop)                                                                                   \
    X(link_received)                                                                               \
    X(link_sent)

/** The table; none of the functions gets NULL for ranks or a link. */
typedef struct strake_module {
    strake_module_head head;
#define X(name) __typeof__(&strake_##name) name;
    STRAKE_MODULE_CALLS(X)
#undef X
} strake_module;

/** Every strake_ranks and strake_link of the module begins with the table that it belongs to. */
typedef struct strake_module_object {
    const strake_module *module;
} strake_module_object;

#endif
