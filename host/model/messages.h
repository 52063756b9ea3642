/** @file messages.h What messages between two ranks cost, on the path that runs use. */
#ifndef STRAKE_MODEL_MESSAGES_H
#define STRAKE_MODEL_MESSAGES_H

#include "model/model.h"
#include "mpi/ranks.h"

/** Messages between rank 0 and another one, the last: on another machine where there are several. */
typedef struct strake_message_model {
    int to;           /**< the other rank; 0: not measured */
    strake_path path; /**< one way; MPI's protocols (short, eager, rendezvous) show as regimes */
    strake_measured measured;
} strake_message_model;

/**
 * Sends messages of 8 bytes to 4 MiB there and back with persistent requests, as border slabs travel, and
 * fits a model to half of what they took. Collective; only rank 0 gets the model.
 * @return STRAKE_ERR_RANK, STRAKE_ERR_MEMORY
 */
strake_status strake_messages_measure(strake_ranks *ranks, strake_message_model *out,
                                      strake_error *error);

#endif
