#include "case/where.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX = 4, MOST_DIGITS = 4 };

bool strake_where_is_device(const char *word)
{
    return strncmp(word, "ocl:", PREFIX) == 0 || strncmp(word, "gpu:", PREFIX) == 0;
}

int strake_where_device(const char *word, bool *is_gpu)
{
    *is_gpu = word[0] == 'g';
    if (!strake_where_is_device(word)) {
        return -1;
    }
    const size_t digits = strspn(word + PREFIX, "0123456789");
    const bool good = digits > 0 && digits <= MOST_DIGITS && word[PREFIX + digits] == '\0';
    return good ? (int)strtol(word + PREFIX, NULL, 10) : -1;
}
