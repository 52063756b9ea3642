#include "case/holes.h"

#include <stdlib.h>

void strake_holes_put(const strake_holes *holes, int64_t row, double *line)
{
    int64_t low = 0, high = holes != NULL ? holes->count : 0;
    const int64_t count = high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (holes->hole[middle].row < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (int64_t k = low; k < count && holes->hole[k].row == row; k++) {
        const strake_hole *const h = &holes->hole[k];
        for (int64_t j = h->first; j < h->end; j++) {
            line[j] = h->value < 0 ? holes->inside : holes->value[h->value + j - h->first];
        }
    }
}

void strake_holes_free(strake_holes **holes)
{
    if (*holes != NULL) {
        free((*holes)->hole);
        free((*holes)->value);
    }
    free(*holes);
    *holes = NULL;
}
