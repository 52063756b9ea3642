/* What strake.h offers of outputs: texts, statistics, checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "case/source.h"
#include "output/about.h"
#include "output/checkpoint.h"
#include "output/devices.h"
#include "output/format.h"
#include "output/report.h"

const char *strake_version(void)
{
    return STRAKE_VERSION;
}

/* Gives a text to the caller; the writer is empty then. */
static strake_status hand_over(strake_text *text, char **out, const char *what, strake_error *error)
{
    if (text->failed || text->data == NULL) {
        return strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for %s", what);
    }
    *out = text->data;
    *text = (strake_text){0};
    return STRAKE_OK;
}

void strake_text_close(char **text)
{
    if (text != NULL) {
        free(*text);
        *text = NULL;
    }
}

/* Names of the axes, slowest first, as files with axes have them. */
static void print_axes(const strake_case *which, strake_json *json)
{
    const int dims = which->problem->dims;
    strake_json_array(json, "axes", STRAKE_JSON_LINE);
    for (int d = 0; d < dims; d++) {
        strake_json_string(json, NULL, strake_format_axis(which, strake_axis_of(dims, d)));
    }
    strake_json_end(json);
}

/* Where the points of the fields lie, and what they are. */
static void print_fields(const strake_case *which, strake_json *json)
{
    const int dims = which->problem->dims;
    strake_json_object(json, "fields", STRAKE_JSON_LINES);
    for (int f = 0; f < which->problem->fields; f++) {
        const strake_field *const field = &which->problem->field[f];
        strake_json_object(json, field->name, STRAKE_JSON_LINE);
        strake_json_string(json, "text", field->text);
        strake_json_boolean(json, "state", field->is_state);
        strake_json_array(json, "offset", STRAKE_JSON_LINE);
        for (int d = 0; d < dims; d++) {
            const int axis = strake_axis_of(dims, d);
            const bool on_face = (int)field->position == (int)STRAKE_FACE_0 + axis;
            strake_json_number(json, NULL, on_face ? -0.5 : 0.0);
        }
        strake_json_end(json);
        strake_json_end(json);
    }
    strake_json_end(json);
}

strake_status strake_case_text(const strake_case *which, char **text, strake_error *error)
{
    strake_text own = {0};
    strake_json writer = strake_json_on(&own), *const json = &writer;
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_about_grid(which, json);
    print_axes(which, json);
    print_fields(which, json);
    strake_json_end(json);
    const strake_status status = hand_over(&own, text, "the text of a case", error);
    strake_text_free(&own);
    return status;
}

strake_status strake_field_statistics(strake_solver *solver, const char *name, double *minimum,
                                      double *maximum, double *sum, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_slabs slabs = {0};
    strake_statistics statistics;
    STRAKE_TRY(strake_slabs_open(&slabs, strake_solver_case(solver), solver, error));
    STRAKE_TRY(strake_result_field(&statistics, &slabs, name, false, error));
    if (minimum != NULL) {
        *minimum = statistics.minimum;
    }
    if (maximum != NULL) {
        *maximum = statistics.maximum;
    }
    if (sum != NULL) {
        *sum = statistics.sum;
    }
cleanup:
    strake_slabs_close(&slabs);
    return status;
}

int strake_quantity_count(const strake_solver *solver)
{
    const strake_case *const which = strake_solver_case(solver);
    int count = which->problem->quantities;
    for (int k = 0; k < which->scene.probes; k++) {
        count += strake_probe_columns(&which->scene.probe[k], which->problem->dims);
    }
    return count;
}

const char *strake_quantity_name(const strake_solver *solver, int number)
{
    static _Thread_local char name[STRAKE_PROBE_COLUMN];
    const strake_case *const which = strake_solver_case(solver);
    const strake_problem *const problem = which->problem;
    int column = number - problem->quantities;
    if (number < problem->quantities) {
        return number >= 0 ? problem->quantity[number].name : NULL;
    }
    for (int k = 0; k < which->scene.probes; k++) {
        const strake_probe *const probe = &which->scene.probe[k];
        const int columns = strake_probe_columns(probe, problem->dims);
        if (column < columns) {
            strake_probe_column(probe, problem->dims, column, name);
            return name;
        }
        column -= columns;
    }
    return NULL;
}

strake_status strake_get_quantities(strake_solver *solver, double *value, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_case *const which = strake_solver_case(solver);
    const int quantities = which->problem->quantities;
    STRAKE_TRY(quantities > 0 ? strake_solver_measure(solver, value, error) : STRAKE_OK);
    STRAKE_TRY(which->scene.probes > 0 ? strake_solver_probe(solver, value + quantities, error)
                                       : STRAKE_OK);
cleanup:
    return status;
}

strake_status strake_checkpoint_save(strake_solver *solver, const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_slabs slabs = {0};
    STRAKE_TRY(strake_slabs_open(&slabs, strake_solver_case(solver), solver, error));
    STRAKE_TRY(strake_checkpoint_write(path, strake_solver_case(solver), &slabs, error));
cleanup:
    strake_slabs_close(&slabs);
    return status;
}

strake_status strake_checkpoint_load(strake_solver *solver, const char *path, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_slabs slabs = {0};
    strake_checkpoint checkpoint = {.descriptor = -1};
    STRAKE_TRY(strake_checkpoint_open(path, &checkpoint, error));
    STRAKE_TRY(strake_checkpoint_match(&checkpoint, strake_solver_case(solver), error));
    STRAKE_TRY(strake_slabs_open(&slabs, strake_solver_case(solver), solver, error));
    STRAKE_TRY(strake_checkpoint_restore(&checkpoint, &slabs, error));
cleanup:
    strake_slabs_close(&slabs);
    strake_checkpoint_close(&checkpoint);
    return status;
}

strake_status strake_report(strake_solver *solver, char **text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_slabs slabs = {0};
    strake_text own = {0};
    strake_result *const result = calloc(1, sizeof *result); /* larger than some stacks */
    STRAKE_CHECK(result != NULL, error, STRAKE_ERR_MEMORY, "out of memory for a report");
    result->first_step = strake_solver_first_step(solver);
    result->setup_seconds = strake_solver_setup_seconds(solver);
    STRAKE_TRY(strake_slabs_open(&slabs, strake_solver_case(solver), solver, error));
    STRAKE_TRY(strake_result_collect(result, strake_solver_case(solver), &slabs,
                                     STRAKE_RESULT_CHECKSUMS, error));
    strake_report_print(result, &own);
    STRAKE_TRY(hand_over(&own, text, "a report", error));
cleanup:
    strake_text_free(&own);
    strake_slabs_close(&slabs);
    free(result);
    return status;
}

strake_status strake_devices(const char *cache, char **text, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_cl_list list = {0};
    strake_tuned_set *set = NULL;
    strake_text own = {0};
    strake_machine cpu;
    strake_machine_read(&cpu);
    STRAKE_TRY(strake_cl_list_open(&list, error));
    strake_devices_test(&list, NULL, NULL);
    STRAKE_TRY(strake_tuned_load(cache, NULL, NULL, &set, error));
    strake_devices_print(&cpu, &list, set, &own);
    STRAKE_TRY(hand_over(&own, text, "a list of devices", error));
cleanup:
    strake_text_free(&own);
    strake_tuned_free(&set);
    strake_cl_list_free(&list);
    return status;
}
