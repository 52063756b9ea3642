#include "program/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char **kept;

/* The variables lie behind the pointers to them, in one block. */
void strake_environment_keep(void)
{
    size_t count = 0;
    size_t bytes = 0;
    for (; environ != NULL && environ[count] != NULL; count++) {
        bytes += strlen(environ[count]) + 1;
    }
    char **const copy = malloc((count + 1) * sizeof *copy + bytes);
    if (copy == NULL) {
        return;
    }
    char *text = (char *)(copy + count + 1);
    for (size_t k = 0; k < count; k++) {
        const size_t length = strlen(environ[k]) + 1;
        copy[k] = memcpy(text, environ[k], length);
        text += length;
    }
    copy[count] = NULL;
    kept = copy;
}

char *const *strake_environment(void)
{
    return kept != NULL ? kept : environ;
}
