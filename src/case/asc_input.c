#include "case/asc_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/asc.h"

typedef struct input {
    strake_asc_reader *reader;
    char *path;
    strake_blank blank;
} input;

static void close_input(void **body)
{
    input *const in = *body;
    if (in != NULL) {
        strake_asc_close(&in->reader);
        free(in->path);
    }
    free(in);
    *body = NULL;
}

static strake_status open_input(const strake_input_name *name, void **body, strake_npy_info *info,
                                strake_georef *georef, strake_error *error)
{
    strake_status status = STRAKE_OK;
    input *const in = calloc(1, sizeof *in);
    const strake_asc_info *head = NULL;
    *body = in;
    STRAKE_CHECK(in != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it", name->path);
    in->blank = name->blank;
    in->path = strdup(name->path);
    STRAKE_CHECK(in->path != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to open it",
                 name->path);
    STRAKE_TRY(strake_asc_open(name->path, &in->reader, error));
    strake_asc_set_nodata(in->reader, name->blank.nodata, name->blank.number);
    head = strake_asc_header(in->reader);
    *georef = head->georef;
    *info = (strake_npy_info){.dims = 2,
                              .shape = {head->rows, head->cols},
                              .count = head->rows * head->cols,
                              .element_size = 8};
cleanup:
    return status;
}

static strake_status read_input(void *body, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    const input *const in = body;
    const strake_status status = strake_asc_read(in->reader, first, count, out, error);
    return status != STRAKE_OK
               ? status
               : strake_blank_fill(&in->blank, in->path, strake_asc_header(in->reader)->cols, first,
                                   count, out, error);
}

const strake_input_kind strake_asc_input = {.takes = strake_asc_is_file,
                                            .has_place = true,
                                            .open = open_input,
                                            .read = read_input,
                                            .close = close_input};
