#include "output/about.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "output/report.h"

static void print_case(const strake_about *about, const strake_case *which, strake_text *json)
{
    strake_text_print(json, "  \"case\": {\"file\": ");
    strake_text_json(json, which->file);
    strake_text_print(json, ", \"set\": [");
    for (int k = 0; about->sets[k] != NULL; k++) {
        strake_text_print(json, k > 0 ? ", " : "");
        strake_text_json(json, about->sets[k]);
    }
    strake_text_print(json, "],\n    \"text\": ");
    strake_text_json(json, which->text);
    strake_text_print(json, "},\n");
}

/* Grid and time, and what their numbers and those of the fields count. */
static void print_grid(const strake_case *which, int64_t first, strake_text *json)
{
    const strake_problem *const problem = which->problem;
    strake_text_print(json, "  \"problem\": \"%s\", \"precision\": \"%s\",\n  ", problem->name,
                      which->precision == STRAKE_DOUBLE ? "double" : "single");
    strake_report_shape(which, json);
    strake_text_print(json, ", \"spacing\": [");
    for (int axis = 0, k = 0; axis < STRAKE_AXES; axis++) {
        if (axis != 1 || problem->dims == 3) {
            strake_text_print(json, k++ > 0 ? ", " : "");
            strake_text_number(json, which->spacing[axis]);
        }
    }
    strake_text_print(json, "],\n  \"dt\": ");
    strake_text_number(json, which->dt);
    strake_text_print(json, ", \"first_step\": %lld, \"steps\": %lld,\n", (long long)first,
                      (long long)which->steps);
    strake_text_print(json, "  \"units\": {\"spacing\": \"[m]\", \"dt\": \"[s]\"");
    for (int f = 0; f < problem->fields; f++) {
        strake_text_print(json, ", \"%s\": ", problem->field[f].name);
        strake_text_json(json, problem->field[f].unit);
    }
    strake_text_print(json, "},\n");
}

static void print_devices(const strake_part_report *placement, int count, strake_text *json)
{
    strake_text_print(json, "  \"devices\": [");
    for (int k = 0; k < count; k++) {
        strake_text_print(json, "%s\n    {\"id\": \"%s\", \"name\": ", k > 0 ? "," : "",
                          placement[k].id);
        strake_text_json(json, placement[k].name);
        strake_text_print(json, ", \"vendor\": ");
        strake_text_json(json, placement[k].vendor);
        strake_text_print(json, ", \"driver\": ");
        strake_text_json(json, placement[k].driver);
        strake_text_print(json, ", \"rank\": %d, \"threads\": %d, \"bit_exact\": %s}",
                          placement[k].rank, placement[k].threads,
                          placement[k].bit_exact ? "true" : "false");
    }
    strake_text_print(json, "\n  ]\n}\n");
}

strake_status strake_about_write(const strake_about *about, const strake_case *which,
                                 const strake_solver *solver, const char *folder,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text json = {0};
    char now[32];
    const int count = strake_solver_parts(solver, NULL, 0);
    strake_part_report *const placement = calloc((size_t)count + 1, sizeof *placement);
    char *const path = strake_path_join(folder, STRAKE_ABOUT_NAME);
    STRAKE_CHECK(placement != NULL && path != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for %s", STRAKE_ABOUT_NAME);
    (void)strake_solver_parts(solver, placement, count);
    strake_text_print(&json, "{\n  \"strake\": \"%s\", \"commit\": ", STRAKE_VERSION);
    if (about->commit[0] != '\0') {
        strake_text_json(&json, about->commit);
    } else {
        strake_text_print(&json, "null");
    }
    strake_text_print(&json, ", \"started\": \"%s\",\n  ", strake_clock_utc(about->started, now));
    strake_report_host(&json);
    strake_text_print(&json, ",\n");
    print_case(about, which, &json);
    print_grid(which, about->first_step, &json);
    strake_text_print(&json, "  \"ranks\": %d,\n", about->ranks);
    print_devices(placement, count, &json);
    STRAKE_CHECK(!json.failed, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    STRAKE_TRY(strake_file_put(path, 0, json.data, json.length, error));
cleanup:
    strake_text_free(&json);
    free(placement);
    free(path);
    return status;
}
