#include "base/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64, FARTHEST = 3, PREFIX = 3 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; words longer than LONGEST are never near. */
static int distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST) {
        return LONGEST;
    }
    int row[3][LONGEST + 1];
    int *before = row[0], *above = row[1], *here = row[2];
    for (size_t j = 0; j <= nb; j++) {
        above[j] = (int)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= na; i++) {
        here[0] = (int)i;
        const int x = tolower((unsigned char)a[i - 1]);
        for (size_t j = 1; j <= nb; j++) {
            const int y = tolower((unsigned char)b[j - 1]);
            int best = least(above[j] + 1, here[j - 1] + 1);
            best = least(best, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y) {
                best = least(best, before[j - 2] + 1);
            }
            here[j] = best;
        }
        int *const spare = before;
        before = above;
        above = here;
        here = spare;
    }
    return above[nb];
}

const char *strake_suggest(const char *word, const char *const *list)
{
    const char *nearest = NULL;
    int nearest_distance = FARTHEST + 1;
    const size_t length = strlen(word);
    for (size_t k = 0; list[k] != NULL; k++) {
        const size_t longer = length > strlen(list[k]) ? length : strlen(list[k]);
        const int limit = least(FARTHEST, (int)((longer + 2) / 3));
        const int d = distance(word, list[k]);
        if (d <= limit && d < nearest_distance) {
            nearest = list[k];
            nearest_distance = d;
        }
    }
    for (size_t k = 0; nearest == NULL && length >= PREFIX && list[k] != NULL; k++) {
        if (strncasecmp(word, list[k], length) == 0) {
            nearest = list[k];
        }
    }
    return nearest;
}
