/* A lone rank by itself; several through the module, which is loaded here. */
#include "mpi/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/launch.h"
#include "mpi/module.h"

/* Given by the Makefile: whether a module is built. */
#ifndef STRAKE_MPI_MODULE
#define STRAKE_MPI_MODULE 0
#endif

/* A launcher promised others and MPI finds none: nobody else tells that. */
static bool is_abandoned;

bool strake_ranks_launched(void)
{
    return strake_launch_variable() != NULL;
}

/* --- loading the module ----------------------------------------------------------------------- */

/*
 * Fails: a launcher has started several ranks, and something is missing for them. Also where a shell was
 * started that way and the user wants one process: the message names the variable.
 */
static strake_status refuse(strake_error *error, const char *why, const char *what_to_do)
{
    const char *const variable = strake_launch_variable();
    return strake_fail(error, STRAKE_ERR_USAGE,
                       "started as one of several ranks (%s=%s), but %s; %s, or unset %s for one "
                       "process by itself",
                       variable, getenv(variable), why, what_to_do, variable);
}

static strake_status load(const strake_module **out, strake_error *error)
{
    static const strake_module_kind kind = {.what = "MPI",
                                            .file = STRAKE_MODULE_FILE,
                                            .symbol = STRAKE_MODULE_SYMBOL,
                                            .size = sizeof(strake_module),
                                            .remedy = "install the MPI that it was built with, or "
                                                      "build Strake anew with another"};
    strake_module_failure failure;
    *out = strake_module_load(&kind, &failure);
    return *out != NULL ? STRAKE_OK : refuse(error, failure.why, failure.what_to_do);
}

strake_status strake_ranks_open(strake_ranks **out, strake_error *error)
{
    const int ranks = strake_launch_ranks();
    const strake_module *module = NULL;
    *out = NULL;
    if (strake_launch_variable() == NULL) {
        return STRAKE_OK;
    }
    if (!STRAKE_MPI_MODULE) {
        return ranks == 1 ? STRAKE_OK
                          : refuse(error,
                                   "this Strake was built without MPI: each would run the whole "
                                   "case",
                                   "install an MPI (Debian: libopenmpi-dev), build Strake anew "
                                   "and use its mpirun");
    }
    strake_status status = load(&module, error);
    if (status != STRAKE_OK) {
        return ranks == 1 ? STRAKE_OK : status;
    }
    status = module->ranks_open(out, error);
    is_abandoned = status == STRAKE_ERR_USAGE;
    return status;
}

/* --- what a lone rank answers, and what the module ---------------------------------------------- */

/* The table of ranks or of a link of the module. */
static const strake_module *of(const void *object)
{
    return ((const strake_module_object *)object)->module;
}

static strake_status no_ranks(strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_STATE, "a lone rank has nobody to exchange data with");
}

void strake_ranks_close(strake_ranks **ranks)
{
    if (ranks != NULL && *ranks != NULL) {
        of(*ranks)->ranks_close(ranks);
    }
}

int strake_ranks_self(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_self(ranks) : 0;
}

int strake_ranks_count(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_count(ranks) : 1;
}

int strake_ranks_local_self(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_local_self(ranks) : 0;
}

int strake_ranks_local_count(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_local_count(ranks) : 1;
}

int strake_ranks_machine(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_machine(ranks) : 0;
}

int strake_ranks_sharing(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_sharing(ranks) : 1;
}

strake_status strake_ranks_pick(const strake_ranks *ranks, const char *option, const char *text,
                                char *out, size_t size, strake_error *error)
{
    const int count = strake_ranks_count(ranks);
    const int self = strake_ranks_self(ranks);
    const char *part = text;
    int parts = 1;
    for (const char *at = strchr(text, '/'); at != NULL; at = strchr(at + 1, '/')) {
        part = parts == self ? at + 1 : part;
        parts++;
    }
    if (parts != 1 && parts != count) {
        return strake_fail(error, STRAKE_ERR_USAGE,
                           "%s: `%s` has parts for %d ranks, and there %s %d; give one for each "
                           "rank, or one for all",
                           option, text, parts, count == 1 ? "is" : "are", count);
    }
    const size_t length = strcspn(part, "/");
    if (length >= size) {
        return strake_fail(error, STRAKE_ERR_USAGE, "%s: `%s` is too long", option, text);
    }
    memcpy(out, part, length);
    out[length] = '\0';
    return STRAKE_OK;
}

const char *strake_ranks_library(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_library(ranks) : "";
}

bool strake_ranks_is_here(const strake_ranks *ranks, int rank)
{
    return ranks == NULL || of(ranks)->ranks_is_here(ranks, rank);
}

void strake_ranks_set_patience(strake_ranks *ranks, double seconds)
{
    if (ranks != NULL) {
        of(ranks)->ranks_set_patience(ranks, seconds);
    }
}

void strake_ranks_set_piece(strake_ranks *ranks, size_t bytes)
{
    if (ranks != NULL) {
        of(ranks)->ranks_set_piece(ranks, bytes);
    }
}

void strake_ranks_set_crowded(strake_ranks *ranks, bool is_crowded)
{
    if (ranks != NULL) {
        of(ranks)->ranks_set_crowded(ranks, is_crowded);
    }
}

void strake_ranks_set_awaited(strake_ranks *ranks, strake_is_awaited is_awaited, void *user)
{
    if (ranks != NULL) {
        of(ranks)->ranks_set_awaited(ranks, is_awaited, user);
    }
}

bool strake_ranks_is_lost(const strake_ranks *ranks)
{
    return ranks != NULL && of(ranks)->ranks_is_lost(ranks);
}

bool strake_ranks_may_tell(const strake_ranks *ranks)
{
    return ranks != NULL ? of(ranks)->ranks_may_tell(ranks)
                         : is_abandoned || strake_launch_self() == 0;
}

strake_status strake_ranks_agree(strake_ranks *ranks, strake_status own, strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_agree(ranks, own, error) : own;
}

strake_status strake_ranks_collect(strake_ranks *ranks, const void *own, size_t bytes, void *all,
                                   strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_collect(ranks, own, bytes, all, error)
                         : no_ranks(error);
}

strake_status strake_ranks_most(strake_ranks *ranks, double *value, int values, strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_most(ranks, value, values, error) : STRAKE_OK;
}

strake_status strake_ranks_broadcast(strake_ranks *ranks, void *data, size_t bytes,
                                     strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_broadcast(ranks, data, bytes, error) : no_ranks(error);
}

strake_status strake_ranks_trade(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_trade(ranks, send, sends, receive, receives, error)
                         : no_ranks(error);
}

strake_status strake_ranks_post(strake_ranks *ranks, int peer, const void *data, size_t bytes,
                                strake_error *error)
{
    return ranks != NULL ? of(ranks)->ranks_post(ranks, peer, data, bytes, error) : no_ranks(error);
}

strake_status strake_ranks_fetch(strake_ranks *ranks, void *data, size_t bytes, int *peer,
                                 strake_error *error)
{
    *peer = -1;
    return ranks != NULL ? of(ranks)->ranks_fetch(ranks, data, bytes, peer, error) : STRAKE_OK;
}

strake_status strake_link_create(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_link **out,
                                 strake_error *error)
{
    *out = NULL;
    return ranks != NULL ? of(ranks)->link_create(ranks, send, sends, receive, receives, out, error)
                         : no_ranks(error);
}

void strake_link_destroy(strake_link **link)
{
    if (*link != NULL) {
        of(*link)->link_destroy(link);
    }
}

int strake_link_messages(const strake_link *link)
{
    return link != NULL ? of(link)->link_messages(link) : 0;
}

strake_status strake_link_listen(strake_link *link, strake_error *error)
{
    return link != NULL ? of(link)->link_listen(link, error) : no_ranks(error);
}

strake_status strake_link_send(strake_link *link, strake_error *error)
{
    return link != NULL ? of(link)->link_send(link, error) : no_ranks(error);
}

void strake_link_stop(strake_link *link)
{
    if (link != NULL) {
        of(link)->link_stop(link);
    }
}

strake_status strake_link_received(strake_link *link, strake_least *least, strake_error *error)
{
    return link != NULL ? of(link)->link_received(link, least, error) : no_ranks(error);
}

strake_status strake_link_sent(strake_link *link, strake_error *error)
{
    return link != NULL ? of(link)->link_sent(link, error) : no_ranks(error);
}
