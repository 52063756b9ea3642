#include "output/output.h"

#include <stdlib.h>

#include "base/file.h"
#include "case/source.h"
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
    if (which->output_every > 0 && !which->problem->is_adaptive) {
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
    int formats = 0; /* pictures are small */
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        formats += which->output_format[k] && k != STRAKE_FORMAT_PNG ? 1 : 0;
    }
    one *= formats;
    return times > 0.0 ? times * one : 0.0;
}

strake_status strake_output_look(const strake_case *which,
                                 const strake_format *const formats[STRAKE_FORMATS],
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < STRAKE_FORMATS && status == STRAKE_OK; k++) {
        if (which->output_format[k] && formats[k]->look != NULL) {
            status = formats[k]->look(which, error);
        }
    }
    return status;
}

strake_status strake_output_begin(strake_output *output, const strake_format_run *run,
                                  const strake_format *const formats[STRAKE_FORMATS],
                                  strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    *output = (strake_output){.run = *run};
    output->run.index = &output->index;
    strake_text_print(&output->index, "%s\n", STRAKE_INDEX_TITLE);
    path = strake_path_join(run->folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
    STRAKE_TRY(strake_file_check(path, error));
    if (run->resumed >= 0) {
        /* By time: what was due at that step was written before the checkpoint. */
        const bool by_time =
            run->which->output_seconds > 0.0 && !strake_output_is_due(run->which, run->resumed);
        STRAKE_TRY(
            strake_table_keep(path, run->resumed + (by_time ? 1 : 0), &output->index, error));
    }
    for (int k = 0; k < STRAKE_FORMATS; k++) {
        if (run->which->output_format[k]) {
            strake_format_state *const state = calloc(1, formats[k]->size);
            STRAKE_CHECK(state != NULL, error, STRAKE_ERR_MEMORY, "out of memory for outputs");
            state->run = &output->run;
            output->self[output->formats] = state;
            output->format[output->formats++] = formats[k];
            STRAKE_TRY(formats[k]->begin != NULL ? formats[k]->begin(state, error) : STRAKE_OK);
        }
    }
cleanup:
    free(path);
    return status;
}

/* One field: every piece is asked of the solver once and goes into all formats. */
static strake_status write_field(strake_output *output, strake_slabs *slabs, int field,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const bool is_whole = slabs->solver == NULL;
    for (int k = 0; k < output->formats; k++) {
        STRAKE_TRY(output->format[k]->field_begin(output->self[k], field, slabs, error));
    }
    for (bool more = is_whole || strake_slabs_next(slabs); more;
         more = !is_whole && strake_slabs_next(slabs)) {
        STRAKE_TRY(is_whole ? STRAKE_OK : strake_slabs_get(slabs, error));
        for (int k = 0; k < output->formats; k++) {
            STRAKE_TRY(output->format[k]->piece(output->self[k], slabs, error));
        }
    }
    for (int k = 0; k < output->formats; k++) {
        const strake_format_state *const state = output->self[k];
        if (output->format[k]->field_end != NULL) {
            STRAKE_TRY(output->format[k]->field_end(output->self[k], error));
        }
        if (state->file[0] != '\0') {
            strake_text_print(&output->index, "%lld,%.17g,%s,%s,%s\n",
                              (long long)output->run.output.step, output->run.output.time,
                              slabs->name, state->file, output->run.run);
        }
    }
cleanup:
    return status;
}

static strake_status begin_output(strake_output *output, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->output_begin != NULL) {
            STRAKE_TRY(output->format[k]->output_begin(output->self[k], error));
        }
    }
cleanup:
    return status;
}

static strake_status end_output(strake_output *output, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char *path = NULL;
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->output_end != NULL) {
            STRAKE_TRY(output->format[k]->output_end(output->self[k], error));
        }
    }
    path = strake_path_join(output->run.folder, STRAKE_INDEX_NAME);
    STRAKE_CHECK(path != NULL && !output->index.failed, error, STRAKE_ERR_MEMORY,
                 "out of memory for the index of the outputs");
    STRAKE_TRY(
        strake_file_put(path, STRAKE_FILE_HASTY, output->index.data, output->index.length, error));
    output->is_written = true;
cleanup:
    free(path);
    return status;
}

strake_status strake_output_write(strake_output *output, strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = output->run.which;
    output->run.output = (strake_format_output){.step = strake_step_count(slabs->solver),
                                                .time = strake_time(slabs->solver)};
    STRAKE_TRY(begin_output(output, error));
    for (int f = 0; f < which->problem->fields; f++) {
        if (which->output_field[f]) {
            STRAKE_TRY(strake_slabs_select(slabs, which->problem->field[f].name, error));
            STRAKE_TRY(write_field(output, slabs, f, error));
        }
    }
    STRAKE_TRY(end_output(output, error));
cleanup:
    return status;
}

strake_status strake_output_put(strake_output *output, strake_format_output when,
                                double *const *data, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = output->run.which;
    const int dims = which->problem->dims;
    output->run.output = when;
    STRAKE_TRY(begin_output(output, error));
    for (int f = 0; f < which->problem->fields; f++) {
        int64_t shape[STRAKE_AXES];
        for (int d = 0; d < dims; d++) {
            shape[d] = which->n[strake_axis_of(dims, d)];
        }
        strake_slabs whole = strake_slabs_of(which->problem->field[f].name, dims, shape, data[f]);
        STRAKE_TRY(write_field(output, &whole, f, error));
    }
    STRAKE_TRY(end_output(output, error));
cleanup:
    return status;
}

void strake_output_end(strake_output *output)
{
    for (int k = 0; k < output->formats; k++) {
        if (output->format[k]->close != NULL) {
            output->format[k]->close(output->self[k]);
        }
        free(output->self[k]);
    }
    strake_text_free(&output->index);
    *output = (strake_output){0};
}
