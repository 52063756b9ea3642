/** @file page.h A recording as one HTML page that needs nothing else: a slider, play, values under the pointer. */
#ifndef STRAKE_PAGE_H
#define STRAKE_PAGE_H

#include "base/embedded.h"
#include "files/text.h"
#include "view/left.h"
#include "view/picture.h"
#include "view/recording.h"
#include "view/swarm.h"

/** page.html. */
extern const strake_embedded strake_page_texts[];

/** Largest page [bytes], and largest side of a frame [points]. */
enum { STRAKE_PAGE_BYTES = 50000000, STRAKE_PAGE_POINTS = 512 };

typedef struct strake_page_options {
    const strake_map *map;
    strake_reduction reduction;
    int axis; /**< of three dimensions: as strake_view */
    int64_t slab;
    bool has_range;
    double low, high; /**< of the colours, where has_range; else each field's own over all frames */
    const strake_swarm *swarm; /**< without a case: it is none of particles */
    strake_left *left;         /**< the ground of all fields; of none where its ground is -1 */
    const strake_recording
        *all;          /**< all fields and steps of the run, for what lies on the ground */
    const char *about; /**< JSON of the run, "null" where there is none */
} strake_page_options;

/**
 * Writes the page to @p page. @param[out] shown  number of frames on it
 * @return STRAKE_ERR_MEMORY, STRAKE_ERR_USAGE, STRAKE_ERR_IO; STRAKE_ERR_USAGE where even frames of 16 x
 *         16 points are too many for a page.
 */
strake_status strake_page_print(const strake_recording *recording,
                                const strake_page_options *options, strake_text *page, int *shown,
                                strake_error *error);

#endif
