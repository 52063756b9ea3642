/* What identifies a case's numbers, for checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "case/source.h"

/* All numbers go in as little-endian bytes, whatever the machine. */
static void feed_integer(uint64_t *hash, int64_t value)
{
    unsigned char bytes[8];
    for (int k = 0; k < 8; ++k) {
        bytes[k] = (unsigned char)((uint64_t)value >> (8 * k));
    }
    *hash = strake_fnv1a(*hash, bytes, sizeof bytes);
}

static void feed_real(uint64_t *hash, double value)
{
    const double canonical = value + 0.0; /* -0 becomes +0 */
    int64_t bits = 0;
    memcpy(&bits, &canonical, sizeof bits);
    feed_integer(hash, bits);
}

/* With its terminator, so that "ab","c" and "a","bc" differ. */
static void feed_text(uint64_t *hash, const char *text)
{
    *hash = strake_fnv1a(*hash, text, strlen(text) + 1);
}

/* Only where it is not the default, so that checkpoints stay good. */
static void feed_place(uint64_t *hash, const strake_source *source)
{
    if (source->is_cells) {
        feed_text(hash, "cells");
    }
}

static void feed_source(uint64_t *hash, const strake_source *source)
{
    if (source == NULL) {
        feed_text(hash, "later");
        return;
    }
    switch (source->kind) {
    case STRAKE_SOURCE_CONSTANT:
        feed_text(hash, "constant");
        feed_real(hash, source->constant);
        break;
    case STRAKE_SOURCE_FILE:
        feed_text(hash, "file"); /* its data are hashed by the solver, its name does not matter */
        if (source->is_velocity) {
            feed_text(hash, "velocity");
        }
        feed_place(hash, source);
        break;
    case STRAKE_SOURCE_SERIES: /* as for a file, but for its data, of which nobody has all at once */
        feed_text(hash, source->is_velocity ? "series of velocities" : "series");
        feed_real(hash, source->every);
        feed_integer(hash, source->is_linear);
        feed_place(hash, source);
        break;
    case STRAKE_SOURCE_SHAPE:
        feed_text(hash, source->shape->name);
        feed_integer(hash, source->seed);
        for (int k = 0; k < STRAKE_SHAPE_SLOTS; ++k) {
            feed_real(hash, source->v[k]);
        }
        break;
    case STRAKE_SOURCE_SUM:
        feed_text(hash, "sum");
        feed_integer(hash, source->children);
        for (int k = 0; k < source->children; ++k) {
            feed_source(hash, source->child[k]);
        }
        break;
    }
}

static void feed_motion(uint64_t *hash, const sph_motion *motion)
{
    feed_integer(hash, motion->laws);
    for (int k = 0; k < motion->laws; ++k) {
        const sph_law *const law = &motion->law[k];
        feed_integer(hash, law->kind);
        feed_integer(hash, law->turns);
        feed_integer(hash, law->first);
        feed_integer(hash, law->points);
        feed_real(hash, law->size);
        feed_real(hash, law->frequency);
        feed_real(hash, law->phase);
        feed_real(hash, law->ramp);
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; ++d) {
            feed_real(hash, law->direction[d]);
            feed_real(hash, motion->point[d]);
        }
    }
}

/* What a scene has at the start; files are hashed by the particles that they become. */
static void feed_scene(uint64_t *hash, const strake_scene_plan *plan)
{
    for (int k = 0; k < plan->items; ++k) {
        const strake_scene_item *const item = &plan->item[k];
        feed_integer(hash, item->role);
        feed_integer(hash, item->form);
        feed_integer(hash, item->sides);
        feed_integer(hash, item->is_of_box);
        if (item->is_sheet) {
            feed_integer(hash, item->is_sheet);
        }
        feed_integer(hash, item->walls);
        feed_integer(hash, item->flow);
        feed_integer(hash, item->is_at_rest);
        feed_real(hash, item->dome);
        feed_real(hash, item->dome_radius);
        for (int v = 0; v < STRAKE_SCENE_SLOTS; ++v) {
            feed_real(hash, item->v[v]);
        }
        for (int d = 0; d < STRAKE_SCENE_DIRECTIONS; ++d) {
            feed_real(hash, item->rate[d]);
            feed_real(hash, item->center[d]);
        }
        feed_motion(hash, &item->motion);
    }
    feed_motion(hash, &plan->gravity);
    for (int k = 0; k < 2 * plan->points; ++k) {
        feed_real(hash, plan->series[k]);
    }
}

uint64_t strake_case_hash(const strake_case *which)
{
    uint64_t hash = STRAKE_FNV_SEED;
    feed_text(&hash, "strake case 1");
    feed_text(&hash, which->problem->name);
    feed_integer(&hash, which->precision);
    for (int a = 0; a < STRAKE_AXES; ++a) {
        feed_integer(&hash, which->n[a]);
        feed_real(&hash, which->spacing[a]);
        feed_integer(&hash, strake_case_boundary(which, a));
    }
    feed_real(&hash, which->problem->is_adaptive ? which->dt_max : which->dt);
    if (which->courant > 0.0) {
        feed_real(&hash, which->courant);
    }
    for (int k = 0; k < which->problem->keys; ++k) {
        if (strncmp(which->problem->key[k].path, "time.", 5) == 0) {
            continue; /* when a run ends changes no step of it */
        }
        feed_text(&hash, which->problem->key[k].path);
        feed_real(&hash, which->value[k]);
        const strake_key_type type = which->problem->key[k].type;
        const bool is_list = type == STRAKE_KEY_REALS || type == STRAKE_KEY_EACH;
        for (int m = 0; is_list && m < (int)which->value[k]; ++m) {
            feed_real(&hash, which->list[k][m]);
        }
    }
    feed_scene(&hash, &which->scene);
    for (int64_t k = 0; k < which->vents.cells; ++k) {
        feed_integer(&hash, which->vents.cell[k].row);
        feed_integer(&hash, which->vents.cell[k].col);
        feed_integer(&hash, which->vents.cell[k].vent);
    }
    for (int f = 0; f < which->problem->fields; ++f) {
        feed_text(&hash, which->problem->field[f].name);
        feed_source(&hash, which->source[f]);
    }
    return hash;
}

uint64_t strake_case_hash_past(const strake_case *which, uint64_t hash, double time)
{
    for (int v = 0; v < which->vents.count; ++v) {
        const strake_schedule *const rate = &which->vents.rate[v];
        feed_text(&hash, "vent");
        for (int64_t k = 0; k < rate->pieces && rate->time[k] <= time; ++k) {
            feed_real(&hash, rate->time[k]); /* one that begins now has shortened the last step */
            feed_real(&hash, rate->time[k] < time ? rate->rate[k] : 0.0);
        }
    }
    return hash;
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
