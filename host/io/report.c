#include "io/report.h"

#include "case/source.h"
#include "io/machine.h"

double strake_case_cells(const strake_case *which)
{
    return (double)which->n[0] * (double)which->n[1] * (double)which->n[2];
}

int strake_case_shape(const strake_case *which, int64_t shape[3])
{
    int dims = 0;
    shape[dims++] = which->n[0];
    if (which->problem->dims == 3) {
        shape[dims++] = which->n[1];
    }
    if (which->problem->dims >= 2) {
        shape[dims++] = which->n[2];
    }
    return dims;
}

static strake_status collect_field(strake_statistics *statistics, strake_slabs *slabs,
                                   const char *name, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t size = strake_element_size(slabs->solver);
    *statistics = strake_statistics_begin();
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    while (strake_slabs_next(slabs)) {
        STRAKE_TRY(strake_slabs_get(slabs, error));
        strake_statistics_add(statistics, slabs->data, strake_slabs_bytes(slabs) / size, size);
    }
    strake_statistics_end(statistics);
cleanup:
    return status;
}

strake_status strake_result_collect(strake_result *result, const strake_case *which,
                                    strake_slabs *slabs, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_solver *const solver = slabs->solver;
    result->which = which;
    result->solver = solver;
    result->last_step = strake_step_count(solver);
    result->seconds = strake_solver_step_seconds(solver);
    result->placements = strake_solver_placements(solver, result->placement, STRAKE_MAX_PLACEMENTS);
    result->fields = 0;
    for (int f = 0; f < which->problem->fields; f++) {
        const char *const name = which->problem->field[f].name;
        if (which->problem->field[f].is_state) {
            STRAKE_TRY(collect_field(&result->field[result->fields], slabs, name, error));
            result->name[result->fields++] = name;
        }
    }
cleanup:
    return status;
}

double strake_result_rate(const strake_result *result)
{
    const double steps = (double)(result->last_step - result->first_step);
    const bool any = steps > 0.0 && result->seconds > 0.0;
    return any ? strake_case_cells(result->which) * steps / result->seconds : 0.0;
}

static void print_host(strake_text *json)
{
    strake_machine machine;
    strake_machine_read(&machine);
    strake_text_print(json, "  \"host\": {\"cpu\": ");
    strake_text_json(json, machine.cpu);
    strake_text_print(json, ", \"cores\": %d, \"memory\": %lld, \"os\": ", machine.cores,
                      (long long)machine.memory);
    strake_text_json(json, machine.os);
    strake_text_print(json, ", \"compiler\": ");
    strake_text_json(json, strake_machine_compiler());
    strake_text_print(json, "},\n");
}

static void print_case(const strake_result *result, strake_text *json)
{
    const strake_case *const which = result->which;
    int64_t shape[3];
    const int dims = strake_case_shape(which, shape);
    strake_text_print(json, "  \"case\": {\"file\": ");
    strake_text_json(json, which->file);
    strake_text_print(json, ", \"problem\": ");
    strake_text_json(json, which->problem->name);
    strake_text_print(json, ", \"shape\": [");
    for (int k = 0; k < dims; k++) {
        strake_text_print(json, "%s%lld", k > 0 ? ", " : "", (long long)shape[k]);
    }
    strake_text_print(json, "], \"steps\": %lld, \"first_step\": %lld, \"dt\": ",
                      (long long)result->last_step, (long long)result->first_step);
    strake_text_number(json, which->dt);
    strake_text_print(json, "},\n");
}

/* What the settings that the case does not give come from. */
static void print_tuning(const strake_result *result, const strake_placement *placement,
                         strake_text *json)
{
    const int dims = result->which->problem->dims;
    strake_text_print(json, "\"tuned\": {\"level\": ");
    strake_text_json(json, placement->tuned);
    strake_text_print(json, ", \"differs\": ");
    strake_text_json(json, placement->tuned_differs);
    strake_text_print(json, ", \"shape\": [");
    for (int d = 0; d < dims && placement->tuned_for[0] > 0; d++) {
        strake_text_print(json, "%s%lld", d > 0 ? ", " : "",
                          (long long)placement->tuned_for[strake_axis_of(dims, d)]);
    }
    strake_text_print(json, "], \"settings\": ");
    strake_text_json(json, placement->tuned_settings);
    strake_text_print(json, "},\n     ");
}

static void print_device(const strake_result *result, const strake_placement *placement,
                         strake_text *json)
{
    const double line = strake_case_cells(result->which) / (double)result->which->n[0];
    const double done = (double)(placement->end - placement->first) * line *
                        (double)(result->last_step - result->first_step);
    strake_text_print(json, "    {\"id\": ");
    strake_text_json(json, placement->id);
    strake_text_print(json, ", \"name\": ");
    strake_text_json(json, placement->name);
    strake_text_print(json, ", \"vendor\": ");
    strake_text_json(json, placement->vendor);
    strake_text_print(json, ", \"driver\": ");
    strake_text_json(json, placement->driver);
    strake_text_print(json, ", \"role\": ");
    strake_text_json(json, placement->role);
    if (placement->instruction_set[0] != '\0') {
        strake_text_print(json, ", \"instruction_set\": ");
        strake_text_json(json, placement->instruction_set);
    }
    if (placement->block > 0) {
        strake_text_print(json, ", \"block_columns\": %lld", (long long)placement->block);
    }
    strake_text_print(json, ", \"steps_per_sweep\": %d", placement->sweep);
    strake_text_print(json, ", \"threads\": %d, \"bit_exact\": %s,\n     \"rows\": [%lld, %lld], ",
                      placement->threads, placement->bit_exact ? "true" : "false",
                      (long long)placement->first, (long long)placement->end);
    print_tuning(result, placement, json);
    strake_text_print(json, "\"seconds\": {\"compute\": ");
    strake_text_number(json, placement->compute);
    strake_text_print(json, ", \"exchange\": ");
    strake_text_number(json, placement->exchange);
    strake_text_print(json, ", \"idle\": ");
    strake_text_number(json, placement->idle);
    strake_text_print(json, "}, \"cells_per_second\": ");
    strake_text_number(json, placement->compute > 0.0 ? done / placement->compute : 0.0);
    strake_text_print(json, "}");
}

static void print_fields(const strake_result *result, strake_text *json)
{
    strake_text_print(json, "  \"fields\": {");
    for (int f = 0; f < result->fields; f++) {
        const strake_statistics *const s = &result->field[f];
        strake_text_print(json, f > 0 ? ",\n    " : "\n    ");
        strake_text_json(json, result->name[f]);
        strake_text_print(json, ": {\"min\": ");
        strake_text_number(json, s->minimum);
        strake_text_print(json, ", \"max\": ");
        strake_text_number(json, s->maximum);
        strake_text_print(json, ", \"sum\": ");
        strake_text_number(json, s->sum);
        strake_text_print(json, ", \"checksum\": \"%016llx\"}", (unsigned long long)s->checksum);
    }
    strake_text_print(json, "\n  }\n");
}

void strake_report_print(const strake_result *result, strake_text *json)
{
    bool exact = true;
    int threads = 1;
    strake_text_print(json, "{\n  \"strake\": \"%s\",\n", STRAKE_VERSION);
    print_host(json);
    print_case(result, json);
    strake_text_print(json, "  \"devices\": [\n");
    for (int k = 0; k < result->placements; k++) {
        const strake_placement *const placement = &result->placement[k];
        exact = exact && placement->bit_exact;
        threads = placement->threads > threads ? placement->threads : threads;
        print_device(result, placement, json);
        strake_text_print(json, k + 1 < result->placements ? ",\n" : "\n");
    }
    strake_text_print(json, "  ],\n  \"precision\": \"%s\",\n  \"threads\": %d,\n",
                      result->which->precision == STRAKE_DOUBLE ? "double" : "single", threads);
    strake_text_print(json, "  \"bit_exact\": %s,\n  \"seconds\": ", exact ? "true" : "false");
    strake_text_number(json, result->seconds);
    strake_text_print(json, ",\n  \"setup_seconds\": ");
    strake_text_number(json, result->setup_seconds);
    strake_text_print(json, ",\n  \"io_seconds\": ");
    strake_text_number(json, result->io_seconds);
    strake_text_print(json, ",\n  \"cells_per_second\": ");
    strake_text_number(json, strake_result_rate(result));
    strake_text_print(json, ",\n  \"arrays\": %d,\n  \"bytes_per_cell\": %d,\n",
                      strake_solver_arrays(result->solver),
                      strake_solver_bytes_per_cell(result->solver));
    strake_text_print(json, "  \"flops_per_cell\": %d,\n  \"divisions_per_cell\": %d,\n",
                      strake_solver_flops_per_cell(result->solver),
                      strake_solver_divisions_per_cell(result->solver));
    print_fields(result, json);
    strake_text_print(json, "}\n");
}
