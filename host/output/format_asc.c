/* Output as ESRI ASCII grids, FIELD_STEP.asc, for geographic information systems. */
#include <stdio.h>
#include <stdlib.h>

#include "base/asc.h"
#include "base/file.h"
#include "case/case.h"
#include "output/format.h"

typedef struct asc {
    strake_format_state out;
    strake_file file;
    strake_text text; /* of a piece */
} asc;

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    asc *const a = self;
    char head[400], *path = NULL;
    const strake_asc_info info = {.rows = slabs->shape[0],
                                  .cols = slabs->shape[1],
                                  .georef = strake_case_place(a->out.run->which)};
    const int length = strake_asc_write_header(&info, head, sizeof head);
    (void)field;
    STRAKE_TRY(strake_format_path(&a->out, slabs->name, "asc", &path, error));
    STRAKE_TRY(strake_file_begin(&a->file, path, STRAKE_FILE_HASTY, error));
    STRAKE_TRY(strake_file_write(&a->file, head, (size_t)length, error));
cleanup:
    free(path);
    return status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    asc *const a = self;
    const bool is_single = slabs->element_size == sizeof(float);
    const int64_t cols = slabs->shape[1];
    char number[STRAKE_ASC_NUMBER];
    for (int64_t i = 0; i < slabs->end - slabs->first; i++) {
        a->text.length = 0;
        for (int64_t j = 0; j < cols; j++) {
            const int64_t at = i * cols + j;
            const double value = is_single ? (double)((const float *)slabs->data)[at]
                                           : ((const double *)slabs->data)[at];
            const int length = strake_asc_write_number(value, is_single, number);
            strake_text_append(&a->text, number, (size_t)length);
            strake_text_append(&a->text, j < cols - 1 ? " " : "\n", 1);
        }
        if (a->text.failed) {
            return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
        }
        const strake_status status =
            strake_file_write(&a->file, a->text.data, a->text.length, error);
        if (status != STRAKE_OK) {
            return status;
        }
    }
    return STRAKE_OK;
}

static strake_status field_end(void *self, strake_error *error)
{
    return strake_file_commit(&((asc *)self)->file, error);
}

static void close_asc(void *self)
{
    asc *const a = self;
    strake_file_abandon(&a->file);
    strake_text_free(&a->text);
}

const strake_format strake_format_asc = {.name = "asc",
                                         .size = sizeof(asc),
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .close = close_asc};
