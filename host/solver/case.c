/* Cases as a user of the library opens them: with every format of field files that there is. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/case.h"
#include "gdal/gdal.h"
#include "netcdf/input.h"
#include "solver/solver.h"

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
                                    .inputs = strake_input_kinds};
    return strake_case_read(&text, sets, fields_later, out, error);
}

static strake_status open_file(const char *path, const char *const *sets, bool fields_later,
                               strake_case **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *text = NULL;
    char *folder = NULL;
    strake_case_given given = {.name = path, .inputs = strake_input_kinds};
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
