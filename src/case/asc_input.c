#include "base/asc.h"
#include "case/input.h"

static strake_status open_input(const strake_input_name *name, strake_input *input,
                                strake_error *error)
{
    strake_asc_reader **const reader = input->body;
    const strake_status status = strake_asc_open(name->path, reader, error);
    if (status == STRAKE_OK) {
        const strake_asc_info *const head = strake_asc_header(*reader);
        strake_asc_set_nodata(*reader, name->blank.nodata, name->blank.number);
        input->georef = head->georef;
        input->info = (strake_npy_info){.dims = 2,
                                        .shape = {head->rows, head->cols},
                                        .count = head->rows * head->cols,
                                        .element_size = 8};
    }
    return status;
}

static strake_status read_input(strake_input *input, int64_t first, int64_t count, double *out,
                                strake_error *error)
{
    return strake_asc_read(*(strake_asc_reader **)input->body, first, count, out, error);
}

static void close_input(void *body)
{
    strake_asc_close(body);
}

const strake_input_kind strake_asc_input = {.takes = strake_asc_is_file,
                                            .has_place = true,
                                            .size = sizeof(strake_asc_reader *),
                                            .open = open_input,
                                            .read = read_input,
                                            .close = close_input};
