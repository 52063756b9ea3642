/* From device to device of two ranks: what a border slab goes through, as one. */
#include <stdlib.h>

#include "model/bed.h"
#include "model/messages.h"

enum { TAG = 928 };

struct strake_passage {
    strake_ranks *ranks;
    strake_bed bed;
    strake_link *link; /* of slabs of ... */
    size_t bytes;      /* ... so many */
};

strake_status strake_passage_create(strake_ranks *ranks, const strake_cl_list *list, int device,
                                    size_t most, strake_passage **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_passage *w = calloc(1, sizeof *w);
    STRAKE_CHECK(w != NULL, error, STRAKE_ERR_MEMORY, "out of memory for messages");
    w->ranks = ranks;
    STRAKE_TRY(strake_bed_create(&w->bed, list->cl, &list->device[device], NULL, 1, error));
    STRAKE_CHECK(most <= w->bed.largest, error, STRAKE_ERR_DEVICE,
                 "%s has too little memory for messages of %zu bytes", list->device[device].name,
                 most);
    strake_cl_pins_add(&w->bed.pins, w->bed.slabs, 2 * most);
    *out = w;
    w = NULL;
cleanup:
    strake_passage_destroy(&w);
    return status;
}

void strake_passage_destroy(strake_passage **which)
{
    strake_passage *w = *which;
    if (w != NULL) {
        strake_link_destroy(&w->link);
        strake_bed_release(&w->bed);
        free(w);
        *which = NULL;
    }
}

/* Slabs from the device into the first half of the pinned memory, or from the second one to it. */
static strake_status move(strake_passage *w, bool up, strake_error *error)
{
    strake_status status = STRAKE_OK;
    cl_event event = NULL;
    strake_bed *const bed = &w->bed;
    const strake_lane *l = &bed->lane[0];
    STRAKE_TRY(up ? strake_cl_pins_write(&bed->pins, l->queue, l->array, 0, w->bytes,
                                         bed->slabs + w->bytes, &event, error)
                  : strake_cl_pins_read(&bed->pins, l->queue, l->array, 0, w->bytes, bed->slabs,
                                        &event, error));
    STRAKE_TRY(strake_bed_wait(bed, l->queue, &event, error));
cleanup:
    return status;
}

strake_status strake_passage_time(strake_passage *w, int peer, size_t bytes, int rounds,
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool begins = strake_ranks_self(w->ranks) < peer;
    if (w->bytes != bytes) {
        const strake_transfer send = {peer, TAG + (begins ? 0 : 1), w->bed.slabs, bytes};
        const strake_transfer receive = {peer, TAG + (begins ? 1 : 0), w->bed.slabs + bytes, bytes};
        strake_link_destroy(&w->link);
        STRAKE_TRY(strake_link_create(w->ranks, &send, 1, &receive, 1, &w->link, error));
        w->bytes = bytes;
    }
    for (int k = 0; k < rounds; k++) {
        STRAKE_TRY(strake_link_listen(w->link, error));
        for (int half = 0; half < 2; half++) {
            if (begins == (half == 0)) {
                STRAKE_TRY(move(w, false, error));
                STRAKE_TRY(strake_link_send(w->link, error));
            } else {
                STRAKE_TRY(strake_link_received(w->link, NULL, error));
                STRAKE_TRY(move(w, true, error));
            }
        }
        STRAKE_TRY(strake_link_sent(w->link, error));
    }
cleanup:
    return status;
}
