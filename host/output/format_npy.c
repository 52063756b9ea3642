/* Output as FIELD_STEP.npy, a file for each field and step. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/npy.h"
#include "output/format.h"

typedef struct npy {
    const strake_format_run *run;
    strake_npy_writer *writer; /* NULL between two fields */
    char file[STRAKE_FORMAT_FILE];
} npy;

static strake_status begin(const strake_format_run *run, void **self, strake_error *error)
{
    npy *const n = calloc(1, sizeof *n);
    *self = n;
    if (n == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    }
    n->run = run;
    return STRAKE_OK;
}

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    npy *const n = self;
    (void)field;
    strake_format_name(slabs->name, n->run->output.step, "npy", n->file);
    char *const path = strake_path_join(n->run->folder, n->file);
    if (path == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    }
    const strake_status status =
        strake_npy_write_begin(path, (int)strake_element_size(slabs->solver), slabs->dims,
                               slabs->shape, &n->writer, error);
    free(path);
    return status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / strake_element_size(slabs->solver));
    return strake_npy_write_line(((npy *)self)->writer, slabs->data, count, error);
}

static strake_status field_end(void *self, char file[STRAKE_FORMAT_FILE], strake_error *error)
{
    npy *const n = self;
    (void)snprintf(file, STRAKE_FORMAT_FILE, "%s", n->file);
    return strake_npy_write_end(&n->writer, error);
}

static void close_npy(void **self)
{
    npy *const n = *self;
    if (n != NULL) {
        strake_npy_write_cancel(&n->writer);
    }
    free(n);
    *self = NULL;
}

const strake_format strake_format_npy = {.name = "npy",
                                         .begin = begin,
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .close = close_npy};
