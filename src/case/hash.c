/* What identifies a case's numbers, for checkpoints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asc.h"
#include "base/hash.h"
#include "base/number.h"
#include "case/source.h"

/* Where everything goes: into the hash of all, and into that of the present setting. */
typedef struct feeder {
    uint64_t all, part;
    strake_setting_seen *seen; /* NULL: nobody asks for single ones */
    void *user;
} feeder;

static void feed_bytes(feeder *to, const void *data, size_t bytes)
{
    to->all = strake_fnv1a(to->all, data, bytes);
    to->part = to->seen != NULL ? strake_fnv1a(to->part, data, bytes) : 0;
}

/* All numbers go in as little-endian bytes, whatever the machine. */
static void feed_integer(feeder *to, int64_t value)
{
    unsigned char bytes[8];
    for (int k = 0; k < 8; ++k) {
        bytes[k] = (unsigned char)((uint64_t)value >> (8 * k));
    }
    feed_bytes(to, bytes, sizeof bytes);
}

static void feed_real(feeder *to, double value)
{
    const double canonical = value + 0.0; /* -0 becomes +0 */
    int64_t bits = 0;
    memcpy(&bits, &canonical, sizeof bits);
    feed_integer(to, bits);
}

/* With its terminator, so that "ab","c" and "a","bc" differ. */
static void feed_text(feeder *to, const char *text)
{
    feed_bytes(to, text, strlen(text) + 1);
}

/* Only where it is not the default, so that checkpoints stay good. */
static void feed_place(feeder *to, const strake_source *source)
{
    if (source->is_cells) {
        feed_text(to, "cells");
    }
}

static void feed_source(feeder *to, const strake_source *source)
{
    if (source == NULL) {
        feed_text(to, "later");
        return;
    }
    switch (source->kind) {
    case STRAKE_SOURCE_CONSTANT:
        feed_text(to, "constant");
        feed_real(to, source->constant);
        break;
    case STRAKE_SOURCE_FILE:
        feed_text(to, "file"); /* its data are hashed by the solver, its name does not matter */
        if (source->is_velocity) {
            feed_text(to, "velocity");
        }
        feed_place(to, source);
        break;
    case STRAKE_SOURCE_SERIES: /* as for a file, but for its data, of which nobody has all at once */
        feed_text(to, source->is_velocity ? "series of velocities" : "series");
        feed_real(to, source->every);
        feed_integer(to, source->is_linear);
        feed_place(to, source);
        break;
    case STRAKE_SOURCE_SHAPE:
        feed_text(to, source->shape->name);
        feed_integer(to, source->seed);
        for (int k = 0; k < STRAKE_SHAPE_SLOTS; ++k) {
            feed_real(to, source->v[k]);
        }
        break;
    case STRAKE_SOURCE_SUM:
        feed_text(to, "sum");
        feed_integer(to, source->children);
        for (int k = 0; k < source->children; ++k) {
            feed_source(to, source->child[k]);
        }
        break;
    }
}

static void feed_motion(feeder *to, const sph_motion *motion)
{
    feed_integer(to, motion->laws);
    for (int k = 0; k < motion->laws; ++k) {
        const sph_law *const law = &motion->law[k];
        feed_integer(to, law->kind);
        feed_integer(to, law->turns);
        feed_integer(to, law->first);
        feed_integer(to, law->points);
        feed_real(to, law->size);
        feed_real(to, law->frequency);
        feed_real(to, law->phase);
        feed_real(to, law->ramp);
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; ++d) {
            feed_real(to, law->direction[d]);
            feed_real(to, motion->point[d]);
        }
    }
}

/* What a scene has at the start; files are hashed by the particles that they become. */
static void feed_scene(feeder *to, const strake_scene_plan *plan)
{
    for (int k = 0; k < plan->items; ++k) {
        const strake_scene_item *const item = &plan->item[k];
        feed_integer(to, item->role);
        feed_integer(to, item->form);
        feed_integer(to, item->sides);
        feed_integer(to, item->is_of_box);
        if (item->is_sheet) {
            feed_integer(to, item->is_sheet);
        }
        feed_integer(to, item->walls);
        feed_integer(to, item->flow);
        feed_integer(to, item->is_at_rest);
        feed_real(to, item->dome);
        feed_real(to, item->dome_radius);
        for (int v = 0; v < STRAKE_SCENE_SLOTS; ++v) {
            feed_real(to, item->v[v]);
        }
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; ++d) {
            feed_real(to, item->rate[d]);
            feed_real(to, item->center[d]);
        }
        feed_motion(to, &item->motion);
    }
    feed_motion(to, &plan->gravity);
    for (int k = 0; k < 2 * plan->points; ++k) {
        feed_real(to, plan->series[k]);
    }
}

/* What was fed since the last call is one setting. */
static void end_setting(feeder *to, const char *name, const char *value)
{
    if (to->seen != NULL) {
        to->seen(to->user, name, to->part, value);
    }
    to->part = STRAKE_FNV_SEED;
}

static const char *number_text(double value, char text[STRAKE_ASC_NUMBER])
{
    (void)strake_asc_write_number(value, false, text);
    return text;
}

static void end_number(feeder *to, const char *name, double value)
{
    char text[STRAKE_ASC_NUMBER];
    end_setting(to, name, number_text(value, text));
}

static void walk_grid(feeder *to, const strake_case *which)
{
    char name[48];
    const int dims = which->problem->dims;
    feed_text(to, "strake case 1");
    feed_text(to, which->problem->name);
    if (which->problem->content != NULL) {
        feed_text(to, which->problem->content);
    }
    end_setting(to, "problem", which->problem->name);
    feed_integer(to, which->precision);
    end_setting(to, "precision", strake_precision_name(which->precision));
    for (int a = 0; a < STRAKE_AXES; ++a) {
        const bool is_named = dims == 3 || a != 1;
        const char *const axis = is_named ? strake_axis_name(dims, a) : "unused axis";
        feed_integer(to, which->n[a]);
        (void)snprintf(name, sizeof name, "grid.%s", axis);
        end_number(to, name, (double)which->n[a]);
        feed_real(to, which->spacing[a]);
        (void)snprintf(name, sizeof name, "distance of %s", axis);
        end_number(to, name, which->spacing[a]);
        feed_integer(to, strake_case_boundary(which, a));
        (void)snprintf(name, sizeof name, "boundary.%s", axis);
        end_setting(to, name, strake_boundary_name(strake_case_boundary(which, a)));
    }
}

/* As a case has it, as far as one word says it; a list: its items. */
static void print_key(const strake_case *which, int k, char *text, size_t size)
{
    const strake_key *const key = &which->problem->key[k];
    const double value = which->value[k];
    size_t used = 0;
    char number[STRAKE_ASC_NUMBER];
    (void)snprintf(text, size, "%s", "");
    if (key->type == STRAKE_KEY_BOOLEAN) {
        (void)snprintf(text, size, "%s", value != 0.0 ? "true" : "false");
    } else if (key->type == STRAKE_KEY_CHOICE) {
        const char *at = key->choices;
        for (int m = 0; m < (int)value && *at != '\0'; ++m) {
            at += strcspn(at, "|") + 1;
        }
        (void)snprintf(text, size, "%.*s", (int)strcspn(at, "|"), at);
    } else if (key->type == STRAKE_KEY_REALS || key->type == STRAKE_KEY_EACH) {
        for (int m = 0; m < (int)value && used < size; ++m) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", m > 0 ? ", " : "",
                                     number_text(which->list[k][m], number));
        }
    } else if (which->formula[k] != NULL) {
        for (int m = 0; m < (key->type == STRAKE_KEY_FORMULAS ? (int)value : 1) && used < size;
             ++m) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", m > 0 ? ", " : "",
                                     which->formula[k][m].text);
        }
    } else if (key->type == STRAKE_KEY_INTEGER || key->type == STRAKE_KEY_REAL) {
        (void)snprintf(text, size, "%s", number_text(value, number));
    }
}

/* Whether a vent gave lava before a time, or ended a step: what is to come may be said anew. */
static bool has_acted(const strake_schedule *rate, double time)
{
    bool has = false;
    for (int64_t k = 0; k < rate->pieces && rate->time[k] < time && !has; ++k) {
        has = rate->rate[k] != 0.0 || rate->time[k] > 0.0;
    }
    return has;
}

static int count_acted(const strake_vents *vents, double time)
{
    int count = 0;
    for (int v = 0; v < vents->count; ++v) {
        count += has_acted(&vents->rate[v], time) ? 1 : 0;
    }
    return count;
}

/* Where a vent is, under a number. Shares count where they are not equal. */
static void feed_cells(feeder *to, const strake_vents *vents, int vent, int64_t number)
{
    int64_t cells = 0;
    for (int64_t k = 0; k < vents->cells; ++k) {
        cells += vents->cell[k].vent == vent ? 1 : 0;
    }
    for (int64_t k = 0; k < vents->cells; ++k) {
        const strake_vent_cell *const cell = &vents->cell[k];
        if (cell->vent == vent) {
            feed_integer(to, cell->row);
            feed_integer(to, cell->col);
            feed_integer(to, number);
            if (cell->share != 1.0 / (double)cells) {
                feed_real(to, cell->share);
            }
        }
    }
}

static void walk_vents(feeder *to, const strake_vents *vents, double time)
{
    for (int v = 0, number = 0; v < vents->count; ++v) {
        if (has_acted(&vents->rate[v], time)) {
            feed_cells(to, vents, v, number++);
        }
    }
    end_setting(to, "the cells of vents", "");
}

static void walk_keys(feeder *to, const strake_case *which, double time)
{
    char text[STRAKE_MAX_LIST * 32];
    for (int k = 0; k < which->problem->keys; ++k) {
        if (strncmp(which->problem->key[k].path, "time.", 5) == 0) {
            continue; /* when a run ends changes no step of it */
        }
        const strake_key_type type = which->problem->key[k].type;
        const bool is_vents = type == STRAKE_KEY_VENTS, is_barriers = type == STRAKE_KEY_BARRIERS;
        feed_text(to, which->problem->key[k].path);
        feed_real(to, is_vents      ? count_acted(&which->vents, time)
                      : is_barriers ? (which->given[k] ? 1.0 : 0.0) /* there may be later ones */
                                    : which->value[k]);
        const bool is_list = type == STRAKE_KEY_REALS || type == STRAKE_KEY_EACH;
        const int formulas = which->formula[k] == NULL     ? 0
                             : type == STRAKE_KEY_FORMULAS ? (int)which->value[k]
                                                           : 1;
        for (int m = 0; m < formulas; ++m) {
            feed_text(to, which->formula[k][m].text);
        }
        for (int m = 0; is_list && m < (int)which->value[k]; ++m) {
            feed_real(to, which->list[k][m]);
        }
        print_key(which, k, text, sizeof text);
        end_setting(to, which->problem->key[k].path, text);
    }
}

/* "0.5", "from a file", "cone": as far as few words say it. */
static const char *source_text(const strake_source *source, char number[STRAKE_ASC_NUMBER])
{
    return source == NULL                           ? "given later"
           : source->kind == STRAKE_SOURCE_CONSTANT ? number_text(source->constant, number)
           : source->kind == STRAKE_SOURCE_FILE     ? "a file"
           : source->kind == STRAKE_SOURCE_SERIES   ? "a series"
           : source->kind == STRAKE_SOURCE_SHAPE    ? source->shape->name
                                                    : "a sum";
}

static void walk(feeder *to, const strake_case *which, double time)
{
    char name[STRAKE_NAME_LENGTH + 16], number[STRAKE_ASC_NUMBER];
    const bool is_adaptive = which->problem->is_adaptive;
    walk_grid(to, which);
    feed_real(to, is_adaptive ? which->dt_max : which->dt);
    end_number(to, is_adaptive ? "time.dt_max" : "time.dt",
               is_adaptive ? which->dt_max : which->dt);
    if (which->courant > 0.0) {
        feed_real(to, which->courant);
    }
    end_number(to, "time.courant", which->courant);
    if (which->tolerance > 0.0) {
        feed_real(to, which->tolerance);
    }
    end_number(to, "time.tolerance", which->tolerance);
    walk_keys(to, which, time);
    feed_scene(to, &which->scene);
    end_setting(to, "scene", "");
    walk_vents(to, &which->vents, time);
    for (int f = 0; f < which->problem->fields; ++f) {
        feed_text(to, which->problem->field[f].name);
        feed_source(to, which->source[f]);
        (void)snprintf(name, sizeof name, "fields.%s", which->problem->field[f].name);
        end_setting(to, name, source_text(which->source[f], number));
    }
}

uint64_t strake_case_hash(const strake_case *which, double time)
{
    feeder to = {.all = STRAKE_FNV_SEED, .part = STRAKE_FNV_SEED};
    walk(&to, which, time);
    return to.all;
}

/* What vents gave before a time, or barriers were, whose cells are those of the ones that were there. */
static uint64_t past(const strake_vents *vents, bool are_barriers, uint64_t hash, double time)
{
    feeder to = {.all = hash};
    for (int v = 0, number = 0; v < vents->count; ++v) {
        const strake_schedule *const rate = &vents->rate[v];
        if (!has_acted(rate, time)) {
            continue;
        }
        if (are_barriers) { /* cells of vents are a setting of their own */
            feed_cells(&to, vents, v, number++);
        } else {
            feed_text(&to, "vent");
        }
        for (int64_t k = 0; k < rate->pieces && rate->time[k] < time; ++k) {
            feed_real(&to, rate->time[k]);
            feed_real(&to, rate->rate[k]);
        }
    }
    return to.all;
}

void strake_case_settings(const strake_case *which, double time, strake_setting_seen *seen,
                          void *user)
{
    feeder to = {.all = STRAKE_FNV_SEED, .part = STRAKE_FNV_SEED, .seen = seen, .user = user};
    walk(&to, which, time);
    if (which->problem->is_adaptive && !which->problem->has_particles) {
        /* A number of the graph, whose hash is no part of this walk's. */
        char text[32];
        (void)strake_number_print(text, sizeof text, "%.15g", which->safety);
        seen(user, "time.safety", strake_fnv1a(STRAKE_FNV_SEED, text, strlen(text)), text);
    }
    if (which->vents.count > 0) {
        seen(user, "rates of vents before that time",
             past(&which->vents, false, STRAKE_FNV_SEED, time), "");
    }
    for (int k = 0; k < which->problem->keys; ++k) {
        if (which->problem->key[k].type == STRAKE_KEY_BARRIERS && which->given[k]) {
            seen(user, "barriers before that time",
                 past(&which->barriers, true, STRAKE_FNV_SEED, time), "");
        }
    }
}

uint64_t strake_case_hash_past(const strake_case *which, uint64_t hash, double time)
{
    return past(&which->barriers, true, past(&which->vents, false, hash, time), time);
}

bool strake_case_changes_at(const strake_case *which, double time)
{
    return which->problem->event != NULL &&
           which->problem->event(which, nextafter(time, -INFINITY)) == time;
}

/* Lines of what each vent, or barrier, does from a time on. */
static void see_coming(const strake_vents *vents, const char *word, double time,
                       strake_setting_seen *seen, void *user)
{
    enum { MOST = 100 /* of which a line is kept each */ };
    const int count = vents->count < MOST ? vents->count : MOST;
    for (int v = 0; v < count; ++v) {
        char name[32];
        feeder to = {.all = STRAKE_FNV_SEED};
        const strake_schedule *const rate = &vents->rate[v];
        feed_cells(&to, vents, v, 0);
        for (int64_t k = 0; k < rate->pieces; ++k) {
            if (rate->time[k] >= time) {
                feed_real(&to, rate->time[k]);
                feed_real(&to, rate->rate[k]);
            }
        }
        (void)snprintf(name, sizeof name, "%s[%d]", word, v);
        seen(user, name, to.all, "");
    }
}

void strake_case_coming(const strake_case *which, double time, strake_setting_seen *seen,
                        void *user)
{
    seen(user, STRAKE_CASE_COMING, (uint64_t)which->vents.count, "");
    if (strake_case_changes_at(which, time)) {
        seen(user, STRAKE_CASE_CHANGE, 0, "");
    }
    see_coming(&which->vents, "vents", time, seen, user);
    see_coming(&which->barriers, "barriers", time, seen, user);
}

static bool has_file(const strake_source *source)
{
    bool has = source->kind == STRAKE_SOURCE_FILE;
    for (int k = 0; k < source->children; ++k) {
        has = has || has_file(source->child[k]);
    }
    return has;
}

static strake_status feed_values(uint64_t *hash, const strake_case *which, int field,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const strake_moment second = {.begin = 0.0, .dt = 1.0};
    strake_source_reader *reader = NULL;
    int64_t shape[STRAKE_AXES];
    double *line = NULL;
    strake_case_field_shape(which, field, shape);
    line = malloc((size_t)shape[2] * sizeof *line);
    STRAKE_CHECK(line != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it",
                 which->source[field]->where);
    STRAKE_TRY(strake_source_open_at(which, field, &second, &reader, error));
    for (int64_t k = 0; k < shape[0] * shape[1]; ++k) {
        STRAKE_TRY(strake_source_line(reader, k / shape[1], k % shape[1], line, error));
        *hash = strake_fnv1a(*hash, line, (size_t)shape[2] * sizeof *line);
    }
cleanup:
    strake_source_close(&reader);
    free(line);
    return status;
}

strake_status strake_source_hash_rates(const strake_case *which, uint64_t *hash,
                                       strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int f = 0; f < which->problem->fields && which->courant > 0.0; ++f) {
        const strake_source *const source = which->source[f];
        if (strake_source_is_velocity(source) && has_file(source)) {
            STRAKE_TRY(feed_values(hash, which, f, error));
        }
    }
cleanup:
    return status;
}
