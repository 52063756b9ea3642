#include "output/about.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "case/case.h"
#include "output/report.h"

static void print_changes(const char *name, const char *const *changes, strake_json *json)
{
    strake_json_array(json, name, STRAKE_JSON_LINE);
    for (int k = 0; changes[k] != NULL; k++) {
        strake_json_string(json, NULL, changes[k]);
    }
    strake_json_end(json);
}

/* @param[in] folder  of the outputs, from where the files that the case names are found later */
static void print_case(const strake_about *about, const strake_case *which, const char *folder,
                       strake_json *json)
{
    char *const way = strake_path_between(folder, which->folder);
    strake_json_object(json, "case", STRAKE_JSON_LINE);
    strake_json_string(json, "file", which->file);
    if (way != NULL) {
        strake_json_string(json, "folder", way);
    }
    free(way);
    print_changes("set", about->sets, json);
    if (about->overs != NULL) {
        print_changes("over", about->overs, json);
    }
    strake_json_string(json, "text", which->text);
    strake_json_end(json);
}

/* Where the grid lies: the north-west corner of its first cell, and the side of its cells. */
static void print_map(const strake_case *which, strake_json *json)
{
    const strake_georef place = strake_case_place(which);
    strake_json_object(json, "map", STRAKE_JSON_LINE);
    strake_json_number(json, "x", place.x);
    strake_json_number(json, "y", place.y);
    strake_json_number(json, "cell", place.cell);
    strake_json_boolean(json, "geographic", place.is_geographic);
    if (place.zone > 0) {
        strake_json_integer(json, "zone", place.zone);
        strake_json_boolean(json, "south", place.is_south);
    }
    if (place.system != NULL) {
        strake_json_string(json, "system", place.system);
    }
    strake_json_end(json);
}

static double number_of(const strake_node *map, const char *name)
{
    const strake_node *const node = strake_node_get(map, name);
    return node != NULL && node->text != NULL ? strake_number_read(node->text, NULL) : (double)NAN;
}

static bool is_true(const strake_node *map, const char *name)
{
    const strake_node *const node = strake_node_get(map, name);
    return node != NULL && node->text != NULL && strcmp(node->text, "true") == 0;
}

strake_georef strake_about_place(const strake_node *root)
{
    const strake_node *const map = strake_node_get(root, "map");
    const strake_node *const system = strake_node_get(map, "system");
    const double zone = number_of(map, "zone");
    strake_georef place = {.x = number_of(map, "x"),
                           .y = number_of(map, "y"),
                           .cell = number_of(map, "cell"),
                           .is_geographic = is_true(map, "geographic"),
                           .zone = zone >= 1.0 && zone <= 60.0 ? (int)zone : 0,
                           .is_south = is_true(map, "south"),
                           .system = system != NULL ? system->text : NULL};
    place.is_known = isfinite(place.x) && isfinite(place.y) && place.cell > 0.0;
    return place;
}

void strake_about_grid(const strake_case *which, strake_json *json)
{
    const strake_problem *const problem = which->problem;
    strake_json_string(json, "problem", problem->name);
    strake_json_string(json, "precision", strake_precision_name(which->precision));
    strake_report_shape(which, json);
    strake_json_array(json, "spacing", STRAKE_JSON_LINE);
    int64_t shape[3];
    const bool has_grid = strake_case_shape(which, shape) > 0;
    for (int axis = 0; axis < STRAKE_AXES && has_grid; axis++) {
        if (axis != 1 || problem->dims == 3) {
            strake_json_number(json, NULL, which->spacing[axis]);
        }
    }
    strake_json_end(json);
    if (strake_case_is_map(which)) {
        print_map(which, json);
    }
    if (strake_case_ends_in_time(which)) {
        strake_json_number(json, "end", which->end);
    }
    if (!problem->is_adaptive) {
        strake_json_number(json,
                           which->tolerance > 0.0 ? "tolerance"
                           : which->courant > 0.0 ? "courant"
                                                  : "dt",
                           which->tolerance > 0.0 ? which->tolerance
                           : which->courant > 0.0 ? which->courant
                                                  : which->dt);
    }
    if (!strake_case_ends_in_time(which)) {
        strake_json_integer(json, "steps", which->steps);
    }
    strake_json_object(json, "units", STRAKE_JSON_LINE);
    strake_json_string(json, "spacing", "[m]");
    strake_json_string(json, "dt", "[s]");
    for (int f = 0; f < problem->fields; f++) {
        strake_json_string(json, problem->field[f].name, problem->field[f].unit);
    }
    strake_json_end(json);
}

static void print_devices(const strake_part_report *part, int count, strake_json *json)
{
    strake_json_array(json, "devices", STRAKE_JSON_LINES);
    for (int k = 0; k < count; k++) {
        strake_json_object(json, NULL, STRAKE_JSON_LINE);
        strake_json_string(json, "id", part[k].id);
        strake_json_string(json, "name", part[k].name);
        strake_json_string(json, "vendor", part[k].vendor);
        strake_json_string(json, "driver", part[k].driver);
        strake_json_integer(json, "rank", part[k].rank);
        strake_json_integer(json, "threads", part[k].threads);
        strake_json_boolean(json, "bit_exact", part[k].bit_exact);
        strake_json_end(json);
    }
    strake_json_end(json);
}

void strake_about_id(int64_t started, char id[STRAKE_ABOUT_ID])
{
    char date[32], host[65] = "";
    (void)gethostname(host, sizeof host - 1);
    for (char *at = host; *at != '\0'; at++) { /* it becomes a cell of a table */
        *at = isalnum((unsigned char)*at) || strchr("._", *at) != NULL ? *at : '-';
    }
    (void)snprintf(id, STRAKE_ABOUT_ID, "%s-%s-%ld", strake_clock_utc(started, date), host,
                   (long)getpid());
}

strake_status strake_about_write(const strake_about *about, const strake_case *which,
                                 const strake_solver *solver, const char *folder,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_text text = {0};
    strake_json writer = strake_json_on(&text), *const json = &writer;
    char now[32];
    const int count = solver != NULL ? strake_solver_parts(solver, NULL, 0) : 0;
    strake_part_report *const part = calloc((size_t)count + 1, sizeof *part);
    char *const path = strake_path_join(folder, STRAKE_ABOUT_NAME);
    STRAKE_CHECK(part != NULL && path != NULL, error, STRAKE_ERR_MEMORY, "out of memory for %s",
                 STRAKE_ABOUT_NAME);
    (void)(solver != NULL && strake_solver_parts(solver, part, count));
    strake_json_object(json, NULL, STRAKE_JSON_LINES);
    strake_json_string(json, "strake", STRAKE_VERSION);
    strake_json_string(json, "commit", about->commit[0] != '\0' ? about->commit : NULL);
    strake_json_string(json, "started", strake_clock_utc(about->started, now));
    strake_json_string(json, "run", about->run);
    strake_report_host(json);
    print_case(about, which, folder, json);
    strake_about_grid(which, json);
    strake_json_object(json, "texts", STRAKE_JSON_LINE);
    for (int f = 0; f < which->problem->fields; f++) {
        strake_json_string(json, which->problem->field[f].name, which->problem->field[f].text);
    }
    strake_json_end(json);
    strake_json_integer(json, "first_step", about->first_step);
    strake_json_integer(json, "ranks", about->ranks);
    print_devices(part, count, json);
    strake_json_end(json);
    strake_text_append(&text, "\n", 1);
    STRAKE_CHECK(!text.failed, error, STRAKE_ERR_MEMORY, "out of memory for %s", path);
    STRAKE_TRY(strake_file_put(path, 0, text.data, text.length, error));
cleanup:
    strake_text_free(&text);
    free(part);
    free(path);
    return status;
}
