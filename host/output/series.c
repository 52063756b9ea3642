#include "output/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "output/index.h"
#include "output/vtk.h"

strake_status strake_series_begin(const strake_format_run *run, const char *name,
                                  const char *suffix, strake_text *series, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char last[STRAKE_FORMAT_FILE] = "";
    char *rest = NULL;
    char *const lines = strdup(run->index->data != NULL ? run->index->data : "");
    STRAKE_CHECK(lines != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    strake_vtk_series_begin(series);
    rest = lines;
    for (char *line = strake_next_line(&rest); line != NULL; line = strake_next_line(&rest)) {
        strake_index_entry entry;
        char file[STRAKE_FORMAT_FILE];
        if (!strake_index_read(line, &entry)) {
            continue;
        }
        strake_format_name(name, entry.step, suffix, file);
        if (strcmp(entry.file, file) == 0 && strcmp(last, file) != 0) {
            strake_vtk_series_add(series, entry.time, file);
            (void)snprintf(last, sizeof last, "%s", file);
        }
    }
cleanup:
    free(lines);
    return status;
}

strake_status strake_series_add(const strake_format_run *run, const char *name, const char *file,
                                strake_text *series, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    char plain[STRAKE_FORMAT_FILE];
    (void)snprintf(plain, sizeof plain, "%s.pvd", name);
    char *const path = strake_path_join(run->folder, plain);
    strake_vtk_series_add(series, run->output.time, file);
    if (!series->failed) {
        strake_text_append(&text, series->data, series->length);
        strake_vtk_series_end(&text);
    }
    STRAKE_CHECK(path != NULL && !series->failed && !text.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for outputs");
    /* The index, which follows, is what a run goes on from: the series can be made again of it. */
    STRAKE_TRY(strake_file_put(path, STRAKE_FILE_HASTY, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    free(path);
    return status;
}
