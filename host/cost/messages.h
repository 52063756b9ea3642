/**
 * @file messages.h
 * What messages between the ranks of a launch cost, on the path that runs use: measured by all of them together,
 * kept for this set-up of ranks and machines, and found again by runs of the same one.
 */
#ifndef STRAKE_MODEL_MESSAGES_H
#define STRAKE_MODEL_MESSAGES_H

#include "cost/model.h"
#include "model/rounds.h"
#include "mpi/ranks.h"

/** What kept figures hold for: which rank is on which machine, with whom it shares processors, and MPI. */
typedef struct strake_rank_setup {
    int ranks, machines;
    /** of all of it, with the names of machines, MPI's version and its settings */
    uint64_t hash;
    char text[300]; /**< "4 ranks on 2 machines (alpha, beta), Open MPI v4.1.4" */
} strake_rank_setup;

/** Finds it, on all ranks. Collective. @return STRAKE_ERR_RANK, STRAKE_ERR_MEMORY */
strake_status strake_rank_setup_find(strake_ranks *ranks, strake_rank_setup *out,
                                     strake_error *error);

/** What was measured, on rank 0. */
typedef struct strake_message_model {
    strake_rank_setup setup;
    strake_rank_model model; /**< no regimes: not measured */
    strake_measured path, whole, round[STRAKE_ROUNDS][STRAKE_WAITS];
    strake_measured work; /**< of the last path: what threads compute */
} strake_message_model;

/**
 * Measures with persistent requests, as border slabs travel: messages of 8 bytes to 4 MiB there and back, rounds of
 * all ranks, 1, 2, ... pairs of a machine at once, one volume in 1 to 16 messages, an all-reduce. Collective; only
 * rank 0 gets the model.
 * @param[in] list    of devices, and @p device its index of this rank's; NULL or -1: none. Where rank 0 and its
 *                    partner have one, the whole way from device to device is measured, too
 * @param[in] budget  seconds, about, over fast links
 * @return STRAKE_ERR_RANK, STRAKE_ERR_MEMORY, STRAKE_ERR_DEVICE
 */
strake_status strake_messages_measure(strake_ranks *ranks, const strake_cl_list *list, int device,
                                      double budget, strake_message_model *out,
                                      strake_error *error);

/** The whole way between two ranks with a device each: down from one, a message, up to the other. */
typedef struct strake_passage strake_passage;

/** Appends the members of a model. @param[in] measured  what was measured is added; or NULL */
void strake_rank_model_print(const strake_rank_model *model, const strake_message_model *measured,
                             strake_json *json);

/** How kept figures were found. */
typedef enum strake_rank_found {
    STRAKE_RANKS_FOUND,
    STRAKE_RANKS_MISSING, /**< there are none at all */
    STRAKE_RANKS_OTHER,   /**< there are some, of other set-ups */
    STRAKE_RANKS_DAMAGED  /**< the file cannot be used */
} strake_rank_found;

/**
 * Loads the kept figures of a set-up. By one rank. @param[out] why  a line about what is missing, and what to do
 * @param[in] folder  NULL: the default cache
 */
strake_rank_found strake_rank_model_load(const char *folder, const strake_rank_setup *setup,
                                         strake_rank_model *out, char *why, size_t size);

/** Keeps them, replacing older ones of the same set-up atomically; failure is an error with the reason. */
strake_status strake_rank_model_store(const char *folder, const strake_rank_setup *setup,
                                      const strake_rank_model *model, strake_error *error);

#endif
