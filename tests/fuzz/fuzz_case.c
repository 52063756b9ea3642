/* Case files, and settings: lines after a line "--set" are PATH=VALUE. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "strake.h"

enum { MOST_SETS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *sets[MOST_SETS + 1] = {NULL};
    strake_case *out = NULL;
    strake_error error;
    char *const text = malloc(bytes + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    char *at = strstr(text, "\n--set\n");
    if (at != NULL) {
        *at = '\0';
        at += strlen("\n--set\n");
        for (int k = 0; k < MOST_SETS && at != NULL; k++) {
            char *const line = at;
            at = strchr(at, '\n');
            if (at != NULL) {
                *at++ = '\0';
            }
            sets[k] = line;
        }
    }
    for (int later = 0; later < 2; later++) {
        if (strake_case_parse("fuzz.yaml", text, sets, later == 1, &out, &error) == STRAKE_OK) {
            strake_case_close(&out);
        }
    }
    free(text);
    return 0;
}
