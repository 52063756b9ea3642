/* Records of tuned settings: what is read is written and read again, to the same text. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "cost/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    strake_error error;
    strake_text once = {0}, twice = {0};
    strake_tuned_record *const record = calloc(1, sizeof *record);
    if (record != NULL &&
        strake_tuned_parse("fuzz", (const char *)data, bytes, record, &error) == STRAKE_OK) {
        strake_tuned_print(record, &once);
        if (!once.failed &&
            strake_tuned_parse("again", once.data, once.length, record, &error) != STRAKE_OK) {
            abort();
        }
        strake_tuned_print(record, &twice);
        if (!once.failed && !twice.failed && strcmp(once.data, twice.data) != 0) {
            abort();
        }
    }
    strake_text_free(&once);
    strake_text_free(&twice);
    free(record);
    return 0;
}
