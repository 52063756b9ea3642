#include "output/report.h"

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
                                   const char *name, bool with_checksum, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t size = strake_element_size(slabs->solver);
    *statistics = strake_statistics_begin(with_checksum, strake_solver_threads(slabs->solver));
    STRAKE_TRY(strake_slabs_select(slabs, name, error));
    while (strake_slabs_next(slabs)) {
        STRAKE_TRY(strake_slabs_get(slabs, error));
        strake_statistics_add(statistics, slabs->data, strake_slabs_bytes(slabs) / size, size);
    }
cleanup:
    strake_statistics_end(statistics);
    return status;
}

strake_status strake_result_collect(strake_result *result, const strake_case *which,
                                    strake_slabs *slabs, strake_result_detail detail,
                                    strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_solver *const solver = slabs->solver;
    result->which = which;
    result->solver = solver;
    result->last_step = strake_step_count(solver);
    result->seconds = strake_solver_step_seconds(solver);
    result->placements = strake_solver_parts(solver, result->placement, STRAKE_MOST_PARTS);
    result->ranks = 1;
    for (int k = 0; k < result->placements; k++) {
        result->ranks = result->placement[k].rank + 1;
    }
    result->fields = 0;
    for (int f = 0; f < which->problem->fields && detail > STRAKE_RESULT_TIMES; f++) {
        const char *const name = which->problem->field[f].name;
        if (which->problem->field[f].is_state) {
            STRAKE_TRY(collect_field(&result->field[result->fields], slabs, name,
                                     detail == STRAKE_RESULT_CHECKSUMS, error));
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

void strake_report_host(strake_text *json)
{
    strake_machine machine;
    strake_machine_read(&machine);
    strake_text_print(json, "\"host\": {\"cpu\": ");
    strake_text_json(json, machine.cpu);
    strake_text_print(json, ", \"cores\": %d, \"memory\": %lld, \"os\": ", machine.cores,
                      (long long)machine.memory);
    strake_text_json(json, machine.os);
    strake_text_print(json, ", \"compiler\": ");
    strake_text_json(json, strake_machine_compiler());
    strake_text_print(json, "}");
}

void strake_report_shape(const strake_case *which, strake_text *json)
{
    int64_t shape[3];
    const int dims = strake_case_shape(which, shape);
    strake_text_print(json, "\"shape\": [");
    for (int k = 0; k < dims; k++) {
        strake_text_print(json, "%s%lld", k > 0 ? ", " : "", (long long)shape[k]);
    }
    strake_text_print(json, "]");
}

static void print_case(const strake_result *result, strake_text *json)
{
    const strake_case *const which = result->which;
    strake_text_print(json, "  \"case\": {\"file\": ");
    strake_text_json(json, which->file);
    strake_text_print(json, ", \"problem\": ");
    strake_text_json(json, which->problem->name);
    strake_text_print(json, ", ");
    strake_report_shape(which, json);
    strake_text_print(json, ", \"steps\": %lld, \"first_step\": %lld, \"dt\": ",
                      (long long)result->last_step, (long long)result->first_step);
    strake_text_number(json, which->dt);
    strake_text_print(json, "},\n");
}

/* What the settings that the case does not give come from. */
static void print_tuning(const strake_case *which, const strake_part_report *placement,
                         strake_text *json)
{
    const int dims = which->problem->dims;
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
    strake_text_print(json, ", \"search_ended\": ");
    strake_text_json(json, placement->tuned_ended);
    strake_text_print(json, ", \"search\": ");
    strake_text_json(json, placement->tuned_search);
    strake_text_print(json, ", \"disturbed\": %s}, ",
                      placement->tuned_disturbed ? "true" : "false");
}

/* Of a stripe that streams through its device. */
static void print_blocks(const strake_part_report *p, strake_text *json)
{
    const struct {
        const char *name;
        double value;
    } number[] = {{"resident_bytes", p->memory_resident},
                  {"memory_limit_bytes", p->memory_limit},
                  {"uploaded_bytes", p->uploaded},
                  {"downloaded_bytes", p->downloaded},
                  {"upload_bytes_per_second", p->rate_up},
                  {"download_bytes_per_second", p->rate_down},
                  {"kernel_cells_per_second", p->rate_cells},
                  {"predicted_seconds", p->predicted},
                  {"measured_seconds", p->compute + p->exchange}};
    if (p->blocks == 0) {
        return;
    }
    strake_text_print(json,
                      ", \"streaming\": {\"blocks\": %lld, \"block_rows\": %lld, "
                      "\"streams\": %d, \"steps_per_sweep\": %d, \"pinned\": %s",
                      (long long)p->blocks, (long long)p->block_slabs, p->streams, p->sweep,
                      p->pinned ? "true" : "false");
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) {
        strake_text_print(json, ", \"%s\": ", number[k].name);
        strake_text_number(json, number[k].value);
    }
    strake_text_print(json, "}");
}

/* What a device's stripe exchanges with others, and what the stored model of the device says of it. */
static void print_model(const strake_part_exchange *e, strake_text *json)
{
    if (e->messages_down == 0 && e->messages_up == 0) {
        return;
    }
    const struct {
        const char *name;
        double value;
    } number[] = {{"bytes_down", e->bytes_down},
                  {"bytes_up", e->bytes_up},
                  {"predicted_exchange_seconds", e->predicted_down + e->predicted_up},
                  {"measured_exchange_seconds", e->measured_down + e->measured_up},
                  {"predicted_up_seconds", e->predicted_up},
                  {"measured_up_seconds", e->measured_up}};
    strake_text_print(json, "\"model\": {\"date\": ");
    if (e->model[0] != '\0') {
        strake_text_json(json, e->model);
    } else {
        strake_text_print(json, "null");
    }
    strake_text_print(json,
                      ", \"chose_steps_per_sweep\": %s, \"chose_overlap\": %s, \"overlap\": %s",
                      e->chose_steps ? "true" : "false", e->chose_overlap ? "true" : "false",
                      e->overlaps ? "true" : "false");
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) {
        strake_text_print(json, ", \"%s\": ", number[k].name);
        strake_text_number(json, number[k].value);
    }
    strake_text_print(json, ", \"messages_down\": %d, \"messages_up\": %d, \"samples\": %d}, ",
                      e->messages_down, e->messages_up, e->samples);
}

/* Of the CPU stripe. */
static void print_loops(const strake_loop_work *work, strake_text *json)
{
    const strake_ops *ops = &work->ops;
    if (work->loads > 0) {
        strake_text_print(json,
                          ", \"loops\": {\"flops_per_cell\": %d, \"divisions_per_cell\": %d, "
                          "\"selections_per_cell\": %d, \"loads_per_cell\": %d, "
                          "\"loads_across_lines_per_cell\": %d, \"stores_per_cell\": %d}",
                          ops->adds + ops->muls + ops->divs, ops->divs, ops->selects, work->loads,
                          work->across, work->stores);
    }
}

/* The settings that these kernels read, as they were in effect. */
static void print_settings(const strake_kernels *k, strake_text *json)
{
    const unsigned read = STRAKE_FOR_KERNELS | STRAKE_FOR_UNTILED |
                          (k->marching > 0 ? STRAKE_FOR_MARCHING : 0U) |
                          (k->tiled > 0 ? STRAKE_FOR_TILED : 0U);
    for (int pass = 0; pass < 2; pass++) { /* words first */
        for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
            char value[STRAKE_GROUPS_TEXT];
            if ((at->applies & read) != 0 && (at->kind == STRAKE_SETTING_WORD) == (pass == 0)) {
                const bool is_number = strake_setting_is_number(at);
                (void)strake_setting_text(&k->used, at, value, sizeof value);
                strake_text_print(json, ", \"%s\": %s%s%s", at->name, is_number ? "" : "\"", value,
                                  is_number ? "" : "\"");
            }
        }
    }
}

/* Of a device's stripe: what was in effect, the user's settings, tuned ones and defaults together. */
static void print_kernels(const strake_kernels *k, strake_text *json)
{
    if (k->count == 0) {
        return;
    }
    strake_text_print(json, ", \"kernels\": {\"count\": %d, \"marching\": %d, \"tiled\": %d",
                      k->count, k->marching, k->tiled);
    print_settings(k, json);
    strake_text_print(json, ", \"bytes_per_cell\": ");
    strake_text_number(json, k->bytes_per_cell);
    if (k->registers > 0) {
        strake_text_print(json, ", \"registers\": %d", k->registers);
    }
    if (k->resident > 0) {
        strake_text_print(json,
                          ", \"groups_per_unit\": %lld, \"occupancy\": ", (long long)k->resident);
        strake_text_number(json, k->occupancy);
    }
    strake_text_print(json, ", \"private_bytes\": %lld, \"local_bytes\": %lld}",
                      (long long)k->private_bytes, (long long)k->local_bytes);
}

void strake_report_device(const strake_case *which, const strake_part_report *placement,
                          strake_text *json)
{
    const double done = placement->updates * strake_case_cells(which) / (double)which->n[0];
    strake_text_print(json, "{\"id\": ");
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
        strake_text_print(json, ", \"block_columns\": %lld, \"block_lines\": %lld",
                          (long long)placement->block, (long long)placement->lines);
    }
    strake_text_print(json, ", \"rank\": %d, \"steps_per_sweep\": %d", placement->rank,
                      placement->sweep);
    if (placement->device_memory > 0.0) {
        strake_text_print(json, ", \"device_memory_bytes\": %.0f", placement->device_memory);
    }
    if (placement->teams > 0) {
        strake_text_print(json, ", \"teams\": %d", placement->teams);
    }
    print_loops(&placement->loops, json);
    print_kernels(&placement->kernels, json);
    print_blocks(placement, json);
    if (placement->dropped_at >= 0) {
        strake_text_print(
            json, ", \"dropped\": {\"step\": %lld, \"why\": ", (long long)placement->dropped_at);
        strake_text_json(json, placement->why_dropped);
        strake_text_print(json, "}");
    }
    strake_text_print(
        json,
        ", \"threads\": %d, \"share_changes\": %d, \"bit_exact\": %s, \"rows\": [%lld, %lld], ",
        placement->threads, placement->levelled, placement->bit_exact ? "true" : "false",
        (long long)placement->first, (long long)placement->end);
    print_tuning(which, placement, json);
    print_model(&placement->borders, json);
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
        strake_text_print(json, ", \"norm\": ");
        strake_text_number(json, s->norm);
        strake_text_print(json, ", \"checksum\": \"%016llx\"}", (unsigned long long)s->checksum);
    }
    strake_text_print(json, "\n  }\n");
}

void strake_report_choices(const strake_solver *solver, strake_text *json)
{
    const strake_choice *choice = NULL;
    const int count = strake_solver_choices(solver, &choice);
    strake_text_print(json, "  \"choice\": [");
    for (int k = 0; k < count; k++) {
        strake_text_print(json, "%s\n    {\"where\": ", k > 0 ? "," : "");
        strake_text_json(json, choice[k].where);
        strake_text_print(json, ", \"seconds_per_step\": ");
        strake_text_number(json, choice[k].seconds);
        strake_text_print(json, ", \"predicted\": %s, \"taken\": %s, \"why\": ",
                          choice[k].predicted ? "true" : "false",
                          choice[k].taken ? "true" : "false");
        strake_text_json(json, choice[k].why);
        strake_text_print(json, "}");
    }
    strake_text_print(json, "],\n");
}

/* The word of run.balance for a strake_balance_policy: the first one leaves it open. */
static const char *policy_name(int policy, char *text, size_t size)
{
    const strake_settings settings = {.balance = 1 + policy};
    return strake_setting_text(&settings, strake_setting_find("run.balance"), text, size);
}

static void print_decisions(const strake_decision *decision, int count, strake_text *json)
{
    int moves = 0;
    for (int k = 0; k < count; k++) {
        moves += decision[k].moves ? 1 : 0;
    }
    strake_text_print(json, ", \"moves\": %d, \"decisions\": [", moves);
    for (int k = 0; k < count; k++) {
        const strake_decision *d = &decision[k];
        strake_text_print(json, "%s\n    {\"step\": %lld, \"rows\": [", k > 0 ? "," : "",
                          (long long)d->step);
        for (int p = 0; p < d->parts; p++) {
            strake_text_print(json, "%s%lld", p > 0 ? ", " : "", (long long)d->slabs[p]);
        }
        strake_text_print(json, "], \"seconds\": [");
        for (int p = 0; p < d->parts; p++) {
            strake_text_print(json, p > 0 ? ", " : "");
            strake_text_number(json, d->seconds[p]);
        }
        strake_text_print(json, "], \"warned\": %s, \"moves\": %s, \"why\": ",
                          d->warned ? "true" : "false", d->moves ? "true" : "false");
        strake_text_json(json, d->why);
        strake_text_print(json, ", \"move_seconds\": ");
        strake_text_number(json, d->move_seconds);
        strake_text_print(json, "}");
    }
    strake_text_print(json, "]},\n");
}

/* What the balancing saw and did: seconds and rows per placement of rank 0, or per rank, in their order. */
static void print_balance(const strake_result *result, strake_text *json)
{
    const strake_decision *decision = NULL;
    double slab_seconds = 0.0;
    int64_t least = 0;
    char name[16];
    int policy = strake_solver_policy(result->solver, &slab_seconds);
    int count = strake_solver_decisions(result->solver, &decision);
    strake_text_print(json, "  \"balance\": {\"policy\": \"%s\", \"slab_seconds\": ",
                      policy_name(policy, name, sizeof name));
    strake_text_number(json, slab_seconds);
    print_decisions(decision, count, json);
    if (result->ranks > 1) {
        policy = strake_solver_rank_policy(result->solver, &slab_seconds, &least);
        count = strake_solver_rank_decisions(result->solver, &decision);
        strake_text_print(
            json,
            "  \"rank_balance\": {\"policy\": \"%s\", \"least_rows\": %lld, \"slab_seconds\": ",
            policy_name(policy, name, sizeof name), (long long)least);
        strake_text_number(json, slab_seconds);
        print_decisions(decision, count, json);
    }
}

void strake_report_print(const strake_result *result, strake_text *json)
{
    bool exact = true;
    int threads = 1;
    strake_text_print(json, "{\n  \"strake\": \"%s\",\n", STRAKE_VERSION);
    strake_text_print(json, "  ");
    strake_report_host(json);
    strake_text_print(json, ",\n");
    print_case(result, json);
    strake_text_print(json, "  \"devices\": [\n");
    for (int k = 0; k < result->placements; k++) {
        const strake_part_report *const placement = &result->placement[k];
        exact = exact && placement->bit_exact;
        threads = placement->threads > threads ? placement->threads : threads;
        strake_text_print(json, "    ");
        strake_report_device(result->which, placement, json);
        strake_text_print(json, k + 1 < result->placements ? ",\n" : "\n");
    }
    strake_text_print(
        json, "  ],\n  \"ranks\": %d,\n  \"precision\": \"%s\",\n  \"threads\": %d,\n",
        result->ranks, result->which->precision == STRAKE_DOUBLE ? "double" : "single", threads);
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
    strake_report_choices(result->solver, json);
    print_balance(result, json);
    print_fields(result, json);
    strake_text_print(json, "}\n");
}
