/* Which pages of the host arrays an exchange pins. */
#include "opencl/cl_exchange_impl.h"

#include <stdlib.h>

enum { MOST_PIECES = 4 * STRAKE_CL_MOST_BORDERS /* of an array that are pinned */ };

/* Pages [first, end) of a host array. */
typedef struct pages {
    size_t first, end;
} pages;

static int by_place(const void *a, const void *b)
{
    const pages *one = a;
    const pages *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

static pages pages_of(const strake_cl_exchange *x, int64_t first, int64_t end)
{
    return (pages){strake_layout_offset(x->host, first) / STRAKE_CL_PIN_PAGE,
                   (strake_layout_offset(x->host, end) + STRAKE_CL_PIN_PAGE - 1) /
                       STRAKE_CL_PIN_PAGE};
}

/* What the exchange touches of an array, without overlaps. @return their number */
static int find_pages(const strake_cl_exchange *x, pages out[MOST_PIECES])
{
    int count = 0, merged = 0;
    for (int b = 0; b < x->borders; b++) {
        out[count++] = pages_of(x, x->border[b].first, x->border[b].end);
    }
    for (int g = 0; g < x->ghosts && count < MOST_PIECES;) {
        const int run = strake_cl_exchange_run_of(x, g);
        out[count++] = pages_of(x, x->ghost[g].source, x->ghost[g].source + run);
        g += run;
    }
    qsort(out, (size_t)count, sizeof *out, by_place);
    for (int k = 1; k < count; k++) {
        if (out[k].first > out[merged].end) {
            out[++merged] = out[k];
        } else if (out[k].end > out[merged].end) {
            out[merged].end = out[k].end;
        }
    }
    return count > 0 ? merged + 1 : 0;
}

void strake_cl_exchange_pin(strake_cl_exchange *x, void *const *array, void *const *next)
{
    pages piece[MOST_PIECES];
    if (x->pinned) {
        return;
    }
    if (x->packed != NULL) {
        /* Nobody else's: what forbids to pin the host arrays does not concern it. */
        const bool allowed = x->pins.allowed;
        x->pins.allowed = true;
        strake_cl_pins_add(&x->pins, x->packed, x->packed_bytes);
        x->pins.allowed = allowed;
        x->pinned = true;
        return;
    }
    const int pieces = find_pages(x, piece);
    for (int k = 0; k < x->window->states; k++) {
        if (!strake_cl_exchange_travels(x, k)) {
            continue;
        }
        char *const both[2] = {array[x->window->state[k].input], next[x->window->state[k].output]};
        for (int p = 0; p < 2 * pieces; p++) {
            const pages *which = &piece[p / 2];
            strake_cl_pins_add(&x->pins, both[p % 2] + which->first * STRAKE_CL_PIN_PAGE,
                               (which->end - which->first) * STRAKE_CL_PIN_PAGE);
        }
    }
    x->pinned = true;
}
