/* Output as ESRI ASCII grids, FIELD_STEP.asc, for geographic information systems. */
#include <stdio.h>
#include <stdlib.h>

#include "base/asc.h"
#include "base/file.h"
#include "case/maps.h"
#include "output/format.h"

typedef struct asc {
    const strake_format_run *run;
    strake_file file;
    strake_text text; /* of a piece */
    char name[STRAKE_FORMAT_FILE];
} asc;

static strake_status begin(const strake_format_run *run, void **self, strake_error *error)
{
    asc *const a = calloc(1, sizeof *a);
    *self = a;
    if (a == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    }
    a->run = run;
    return STRAKE_OK;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    asc *const a = self;
    char head[400];
    const strake_asc_info info = {.rows = slabs->shape[0],
                                  .cols = slabs->shape[1],
                                  .georef = strake_case_place(a->run->which)};
    const int length = strake_asc_write_header(&info, head, sizeof head);
    (void)field;
    strake_format_name(slabs->name, a->run->output.step, "asc", a->name);
    char *const path = strake_path_join(a->run->folder, a->name);
    STRAKE_CHECK(path != NULL && length > 0, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_begin(&a->file, path, 0, error));
    STRAKE_TRY(strake_file_write(&a->file, head, (size_t)length, error));
cleanup:
    free(path);
    return status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    asc *const a = self;
    const bool is_single = strake_element_size(slabs->solver) == sizeof(float);
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

static strake_status field_end(void *self, char file[STRAKE_FORMAT_FILE], strake_error *error)
{
    asc *const a = self;
    (void)snprintf(file, STRAKE_FORMAT_FILE, "%s", a->name);
    return strake_file_commit(&a->file, error);
}

static void close_asc(void **self)
{
    asc *const a = *self;
    if (a != NULL) {
        strake_file_abandon(&a->file);
        strake_text_free(&a->text);
    }
    free(a);
    *self = NULL;
}

const strake_format strake_format_asc = {.name = "asc",
                                         .begin = begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .close = close_asc};
