/* Output as FIELD_STEP.npy, a file for each field and step. */
#include <stdlib.h>

#include "base/npy.h"
#include "output/format.h"

typedef struct npy {
    strake_format_state out;
    strake_file file;
} npy;

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    npy *const n = self;
    char *path = NULL;
    (void)field;
    STRAKE_TRY(strake_format_path(&n->out, slabs->name, "npy", &path, error));
    STRAKE_TRY(strake_file_begin(&n->file, path, 0, error));
    STRAKE_TRY(strake_npy_write_header(&n->file, (int)slabs->element_size, slabs->dims,
                                       slabs->shape, error));
cleanup:
    free(path);
    return status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    return strake_file_write(&((npy *)self)->file, slabs->data, strake_slabs_bytes(slabs), error);
}

static strake_status field_end(void *self, strake_error *error)
{
    return strake_file_commit(&((npy *)self)->file, error);
}

static void close_npy(void *self)
{
    strake_file_abandon(&((npy *)self)->file);
}

const strake_format strake_format_npy = {.name = "npy",
                                         .size = sizeof(npy),
                                         .field_begin = field_begin,
                                         .piece = piece,
                                         .field_end = field_end,
                                         .close = close_npy};
