/* Output as FIELD_STEP.npy, a file for each field and step. */
#include <stdlib.h>

#include "base/npy.h"
#include "output/format.h"

typedef struct npy {
    strake_format_state out;
    strake_file file;
    size_t element_size; /* of the present field in its file */
} npy;

static strake_status field_begin(void *self, int field, const strake_slabs *slabs,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    npy *const n = self;
    char *path = NULL;
    n->element_size = slabs->solver != NULL ? strake_format_element_size(n->out.run->which, field)
                                            : slabs->element_size;
    STRAKE_TRY(strake_format_path(&n->out, slabs->name, "npy", &path, error));
    STRAKE_TRY(strake_file_begin(&n->file, path, STRAKE_FILE_HASTY, error));
    STRAKE_TRY(
        strake_npy_write_header(&n->file, (int)n->element_size, slabs->dims, slabs->shape, error));
cleanup:
    free(path);
    return status;
}

/* Doubles as floats. */
static strake_status write_narrow(npy *n, const double *data, size_t count, strake_error *error)
{
    enum { AT_ONCE = 4096 };
    strake_status status = STRAKE_OK;
    float narrow[AT_ONCE];
    for (size_t first = 0; first < count; first += AT_ONCE) {
        const size_t now = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t k = 0; k < now; k++) {
            narrow[k] = (float)data[first + k];
        }
        STRAKE_TRY(strake_file_write(&n->file, narrow, now * sizeof *narrow, error));
    }
cleanup:
    return status;
}

static strake_status piece(void *self, const strake_slabs *slabs, strake_error *error)
{
    npy *const n = self;
    const size_t bytes = strake_slabs_bytes(slabs);
    return n->element_size == slabs->element_size
               ? strake_file_write(&n->file, slabs->data, bytes, error)
               : write_narrow(n, slabs->data, bytes / slabs->element_size, error);
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
