#include "program/places.h"

#include <stdlib.h>
#include <string.h>

static strake_status add(strake_places *places, int device, strake_error *error)
{
    if (places->devices == STRAKE_MOST_PLACES) {
        return strake_fail(error, STRAKE_ERR_USAGE, "--on: more than %d devices",
                           (int)STRAKE_MOST_PLACES);
    }
    places->device[places->devices++] = device;
    return STRAKE_OK;
}

static strake_status add_named(strake_places *places, const strake_cl_list *list, char *names,
                               const char *unable, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (char *rest = names, *word = strsep(&rest, ","); word != NULL; word = strsep(&rest, ",")) {
        int device = -1;
        if (strcmp(word, "cpu") == 0) {
            places->cpu = true;
            continue;
        }
        STRAKE_TRY(strake_cl_list_find(list, word, &device, error));
        STRAKE_CHECK(device >= 0, error, STRAKE_ERR_USAGE,
                     "--on: `%s` %s; expected gpu, hybrid, auto, or a list of cpu, gpu:N and ocl:N "
                     "(see `strake devices`)",
                     word, unable);
        STRAKE_TRY(add(places, device, error));
    }
cleanup:
    return status;
}

strake_status strake_places_find(const char *where, const strake_cl_list *list, const char *unable,
                                 strake_places *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const char *const word = where != NULL ? where : "auto";
    const bool all = strcmp(word, "auto") == 0;
    const bool gpu = strcmp(word, "gpu") == 0;
    char *copy = strdup(word);
    *out = (strake_places){0};
    STRAKE_CHECK(copy != NULL, error, STRAKE_ERR_MEMORY, "out of memory");
    if (all || gpu || strcmp(word, "hybrid") == 0) {
        const int devices = all ? list->count : strake_cl_list_gpus(list);
        out->cpu = !gpu;
        if (gpu && devices == 0) {
            STRAKE_TRY(strake_cl_list_no_gpu(list, word, error));
        }
        for (int d = 0; d < devices; d++) {
            STRAKE_TRY(add(out, d, error));
        }
    } else {
        out->named = true;
        STRAKE_TRY(add_named(out, list, copy, unable, error));
    }
cleanup:
    free(copy);
    return status;
}
