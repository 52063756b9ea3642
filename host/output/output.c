#include "output/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "output/checkpoint.h"
#include "output/index.h"
#include "io/table.h"

bool strake_output_is_due(const strake_case *which, int64_t step)
{
    return step == which->steps || (which->output_every > 0 && step % which->output_every == 0);
}

double strake_output_bytes(const strake_case *which, const strake_solver *solver, int64_t step)
{
    double times = step <= which->steps ? 1.0 : 0.0;
    if (which->output_every > 0) {
        const int64_t due = (which->steps - 1) / which->output_every;
        const int64_t done = step / which->output_every;
        times += (double)(due - done);
    }
    times += step == 0 && which->output_initial ? 1.0 : 0.0;
    double one = 0.0;
    for (int f = 0; f < which->problem->fields; f++) {
        size_t bytes = 0;
        if (which->output_field[f] &&
            strake_field_bytes(solver, which->problem->field[f].name, &bytes, NULL) == STRAKE_OK) {
            one += (double)bytes;
        }
    }
    return times > 0.0 ? times * one : 0.0;
}

strake_status strake_output_begin(strake_output *output, const strake_case *which,
                                  const char *folder, int64_t resumed, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    *output = (strake_output){.which = which, .folder = strdup(folder)};
    STRAKE_CHECK(output->folder != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    strake_text_print(&output->index, "%s\n", STRAKE_INDEX_TITLE);
    path = strake_path_join(folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_check(path, error));
    if (resumed >= 0) {
        STRAKE_TRY(strake_table_keep(path, resumed, &output->index, error));
    }
cleanup:
    free(path);
    return status;
}

static strake_status write_field(strake_output *output, strake_slabs *slabs, const char *name,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    char file[STRAKE_NAME_LENGTH + 40];
    char *path = NULL;
    strake_npy_writer *writer = NULL;
    const int64_t step = strake_step_count(slabs->solver);
    const size_t size = strake_element_size(slabs->solver);
    (void)snprintf(file, sizeof file, "%s_%08lld.npy", name, (long long)step);
    path = strake_path_join(output->folder, file);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    STRAKE_TRY(strake_npy_write_begin(path, (int)size, slabs->dims, slabs->shape, &writer, error));
    while (strake_slabs_next(slabs)) {
        const int64_t count = (int64_t)(strake_slabs_bytes(slabs) / size);
        STRAKE_TRY(strake_slabs_get(slabs, error));
        STRAKE_TRY(strake_npy_write_line(writer, slabs->data, count, error));
    }
    STRAKE_TRY(strake_npy_write_end(&writer, error));
    strake_text_print(&output->index, "%lld,%.17g,%s,%s\n", (long long)step,
                      (double)step * output->which->dt, name, file);
    output->files++;
cleanup:
    strake_npy_write_cancel(&writer);
    free(path);
    return status;
}

strake_status strake_output_write(strake_output *output, strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    const strake_problem *const problem = output->which->problem;
    for (int f = 0; f < problem->fields; f++) {
        if (output->which->output_field[f]) {
            STRAKE_TRY(write_field(output, slabs, problem->field[f].name, error));
        }
    }
    path = strake_path_join(output->folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL && !output->index.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for the index of the outputs");
    STRAKE_TRY(strake_file_put(path, 0, output->index.data, output->index.length, error));
cleanup:
    free(path);
    return status;
}

void strake_output_end(strake_output *output)
{
    free(output->folder);
    strake_text_free(&output->index);
    *output = (strake_output){0};
}
