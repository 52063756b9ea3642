/* Cases as a user of the library opens them: with every format of field files that there is. */
#include <stdlib.h>
#include <string.h>

#include "base/asc.h"
#include "base/file.h"
#include "case/case.h"
#include "case/input.h"
#include "files/gdal.h"
#include "files/netcdf.h"
#include "solver/problem_file.h"
#include "solver/solver.h"

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

/** ESRI ASCII grids (base/asc.h). */
static const strake_input_kind strake_asc_input = {.takes = strake_asc_is_file,
                                                   .has_place = true,
                                                   .size = sizeof(strake_asc_reader *),
                                                   .open = open_input,
                                                   .read = read_input,
                                                   .close = close_input};

enum { MAX_FILE = 4 << 20 }; /* bytes; a case of that size is some other file */

const strake_input_kind *const strake_input_kinds[] = {&strake_netcdf_input, &strake_asc_input,
                                                       &strake_raster_input, NULL};

strake_status strake_case_parse(const char *name, const char *yaml, const char *const *sets,
                                bool fields_later, strake_case **out, strake_error *error)
{
    const strake_case_given text = {.name = name,
                                    .folder = ".",
                                    .text = yaml,
                                    .length = strlen(yaml),
                                    .inputs = strake_input_kinds,
                                    .open_problem = strake_problem_open};
    return strake_case_read(&text, sets, fields_later, out, error);
}

static strake_status open_file(const char *path, const char *const *sets, bool fields_later,
                               strake_case **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    char *folder = NULL;
    strake_case_given given = {
        .name = path, .inputs = strake_input_kinds, .open_problem = strake_problem_open};
    STRAKE_TRY(strake_file_read(path, MAX_FILE, "case file", &text, &given.length, error));
    folder = strake_path_folder(path);
    STRAKE_CHECK(folder != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", path);
    given.folder = folder;
    given.text = text;
    STRAKE_TRY(strake_case_read(&given, sets, fields_later, out, error));

cleanup:
    free(folder);
    free(text);
    return status;
}

strake_status strake_case_open(const char *path, const char *const *sets, strake_case **out,
                               strake_error *error)
{
    return open_file(path, sets, false, out, error);
}

strake_status strake_case_open_partial(const char *path, const char *const *sets, strake_case **out,
                                       strake_error *error)
{
    return open_file(path, sets, true, out, error);
}
