#include "autotune/predict.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/space.h"
#include "autotune/space_impl.h"
#include "case/settings.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "cpu/machine.h"
#include "opencl/cl_kernels.h"
#include "opencl/cl_plan.h"

/* Points of a search space: what they set, what is allowed, all of them. */

/* Names of strake_space_facts. */
typedef struct fact {
    const char *name;
    size_t offset;
} fact;

#define FACT(member)                                                                               \
    {                                                                                              \
#member, offsetof(strake_space_facts, member)                                              \
    }

static const fact facts_known[] = {
    FACT(rows),           FACT(cols),           FACT(element_size), FACT(is_gpu),
    FACT(is_nvidia),      FACT(max_work_group), FACT(local_memory), FACT(compute_units),
    FACT(max_allocation), FACT(cores),          FACT(cache1),       FACT(cache2),
    FACT(cache3),         FACT(has_avx2),       FACT(has_avx512),   FACT(bound_teams)};

static bool is_called(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && memcmp(known, name, length) == 0;
}

bool strake_space_name(void *user, const char *name, size_t length, double *value)
{
    const strake_space_scope *const scope = user;
    const strake_space *const space = scope->space;
    for (int p = 0; p < space->parameters; p++) {
        const strake_space_parameter *const parameter = &space->parameter[p];
        const char *const dot = strrchr(parameter->path, '.');
        if (is_called(dot != NULL ? dot + 1 : parameter->path, name, length)) {
            const int index = scope->candidate->index[p];
            *value = index >= 0 ? parameter->number[index] : 0.0;
            return true;
        }
    }
    for (size_t f = 0; f < sizeof facts_known / sizeof facts_known[0]; f++) {
        if (is_called(facts_known[f].name, name, length)) {
            memcpy(value, (const char *)scope->facts + facts_known[f].offset, sizeof *value);
            return true;
        }
    }
    if (is_called("local_bytes", name, length)) {
        strake_tuned_setting setting[STRAKE_TUNED_SETTINGS];
        const int settings = strake_space_settings(space, scope->candidate, setting);
        *value = scope->facts->local_bytes != NULL
                     ? scope->facts->local_bytes(scope->facts->user, settings, setting)
                     : 0.0;
        return true;
    }
    for (int w = 0; w < space->words; w++) {
        if (is_called(space->word[w], name, length)) {
            *value = STRAKE_WORD_NUMBER(w);
            return true;
        }
    }
    /* A word that a parameter might have, but not here: conditions of a kind are for all problems. */
    char word[32];
    (void)snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (int p = 0; p < space->parameters && length < sizeof word; p++) {
        if (strake_setting_is_legal(space->parameter[p].path, word)) {
            *value = STRAKE_WORD_NUMBER(sizeof space->word / sizeof space->word[0]);
            return true;
        }
    }
    return false;
}

static bool holds(const strake_space *space, const strake_space_facts *facts,
                  const strake_candidate *candidate, const char *expression)
{
    strake_space_scope scope = {space, facts, candidate};
    double value = 0.0;
    return strake_expression_evaluate(expression, strake_space_name, &scope, &value, NULL) ==
               STRAKE_OK &&
           value != 0.0;
}

strake_candidate strake_space_start(const strake_space *space)
{
    strake_candidate candidate;
    memset(&candidate, -1, sizeof candidate);
    for (int p = 0; p < space->parameters; p++) {
        candidate.index[p] = (int16_t)space->parameter[p].start;
    }
    return candidate;
}

/* Conditions may only name parameters that stand before theirs: one pass settles all. */
void strake_space_normalise(const strake_space *space, const strake_space_facts *facts,
                            strake_candidate *candidate)
{
    for (int p = 0; p < space->parameters; p++) {
        const strake_space_parameter *const parameter = &space->parameter[p];
        if (parameter->when != NULL && !holds(space, facts, candidate, parameter->when)) {
            candidate->index[p] = -1;
        } else if (candidate->index[p] < 0) {
            candidate->index[p] = (int16_t)parameter->start;
        }
    }
}

int strake_space_broken(const strake_space *space, const strake_space_facts *facts,
                        const strake_candidate *candidate)
{
    for (int c = 0; c < space->constraints; c++) {
        if (!holds(space, facts, candidate, space->constraint[c].keep)) {
            return c;
        }
    }
    return -1;
}

int strake_space_settings(const strake_space *space, const strake_candidate *candidate,
                          strake_tuned_setting out[STRAKE_TUNED_SETTINGS])
{
    int settings = 0;
    for (int p = 0; p < space->parameters && settings < STRAKE_TUNED_SETTINGS; p++) {
        const strake_space_parameter *const parameter = &space->parameter[p];
        if (candidate->index[p] >= 0) {
            strake_tuned_setting *const setting = &out[settings++];
            (void)snprintf(setting->path, sizeof setting->path, "%s", parameter->path);
            (void)snprintf(setting->value, sizeof setting->value, "%s",
                           parameter->value[candidate->index[p]]);
        }
    }
    return settings;
}

strake_candidate strake_space_candidate(const strake_space *space, const strake_space_facts *facts,
                                        int settings, const strake_tuned_setting *setting)
{
    strake_candidate candidate = strake_space_start(space);
    for (int p = 0; p < space->parameters; p++) {
        const strake_space_parameter *const parameter = &space->parameter[p];
        for (int s = 0; s < settings; s++) {
            for (int v = 0; v < parameter->values && strcmp(setting[s].path, parameter->path) == 0;
                 v++) {
                if (strcmp(parameter->value[v], setting[s].value) == 0) {
                    candidate.index[p] = (int16_t)v;
                }
            }
        }
    }
    strake_space_normalise(space, facts, &candidate);
    return candidate;
}

int strake_space_read_settings(const strake_node *map,
                               strake_tuned_setting out[STRAKE_TUNED_SETTINGS])
{
    int settings = 0;
    for (const strake_node *at = map != NULL ? map->child : NULL;
         at != NULL && settings < STRAKE_TUNED_SETTINGS; at = at->next) {
        if (at->key != NULL && at->kind == STRAKE_NODE_SCALAR &&
            strake_setting_is_legal(at->key, at->text)) {
            strake_tuned_setting *const setting = &out[settings++];
            (void)snprintf(setting->path, sizeof setting->path, "%s", at->key);
            (void)snprintf(setting->value, sizeof setting->value, "%s", at->text);
        }
    }
    return settings;
}

/* The candidates enumerated up to now. */
typedef struct listing {
    const strake_space *space;
    const strake_space_facts *facts;
    int most, count;
    strake_candidate *out;
    int64_t *pruned; /* may be NULL */
} listing;

static void list_from(listing *l, strake_candidate *candidate, int p)
{
    if (l->count > l->most) {
        return;
    }
    if (p == l->space->parameters) {
        const int broken = strake_space_broken(l->space, l->facts, candidate);
        if (broken >= 0 && l->pruned != NULL) {
            l->pruned[broken]++;
        }
        if (broken < 0) {
            if (l->count < l->most) {
                l->out[l->count] = *candidate;
            }
            l->count++;
        }
        return;
    }
    const strake_space_parameter *const parameter = &l->space->parameter[p];
    for (int q = p; q < l->space->parameters; q++) {
        candidate->index[q] = -1; /* not settled yet */
    }
    if (parameter->when != NULL && !holds(l->space, l->facts, candidate, parameter->when)) {
        list_from(l, candidate, p + 1);
        return;
    }
    for (int v = 0; v < parameter->values; v++) {
        candidate->index[p] = (int16_t)v;
        list_from(l, candidate, p + 1);
    }
}

int strake_space_enumerate(const strake_space *space, const strake_space_facts *facts, int most,
                           strake_candidate *out, int64_t pruned[STRAKE_SPACE_CONSTRAINTS])
{
    strake_candidate candidate;
    listing l = {.space = space, .facts = facts, .most = most, .out = out, .pruned = pruned};
    memset(&candidate, -1, sizeof candidate);
    list_from(&l, &candidate, 0);
    return l.count;
}

double strake_space_size(const strake_space *space)
{
    double size = 1.0;
    for (int p = 0; p < space->parameters; p++) {
        size *= space->parameter[p].values;
    }
    return size;
}

const char *strake_settings_text(int settings, const strake_tuned_setting *setting, char *buffer,
                                 size_t size)
{
    (void)snprintf(buffer, size, "%s", settings > 0 ? "" : "defaults");
    for (int s = 0; s < settings; s++) {
        const size_t used = strlen(buffer);
        (void)snprintf(buffer + used, size - used, "%s%s=%s", s > 0 ? " " : "", setting[s].path,
                       setting[s].value);
    }
    return buffer;
}

enum { LEAST_STRIDE = 32 };

double strake_predict_local(const void *user, int settings, const strake_tuned_setting *setting)
{
    const strake_prediction *const prediction = user;
    const bool is_flat = prediction->which->n[1] == 1;
    strake_settings run = prediction->which->run;
    double most = 0.0;
    for (int s = 0; s < settings; s++) {
        (void)strake_setting_set(&run, setting[s].path, setting[s].value);
    }
    strake_cl_options options = {.run = run};
    if (run.fusion != STRAKE_CL_FUSION_STREAM && run.fusion != STRAKE_CL_FUSION_TILE) {
        return 0.0; /* others have no local arrays; what is chosen by default fits */
    }
    options.stride = LEAST_STRIDE;
    while (options.stride < run.group_width) {
        options.stride *= 2;
    }
    options.lines = is_flat ? 1 : run.group_height;
    /* What the device has would split a step into kernels that fit: here the whole is meant. */
    strake_cl_groups_tile(&options, &run, is_flat, SIZE_MAX, SIZE_MAX);
    options = strake_cl_options_complete(&options);
    strake_cl_kernel_plan *const plan = calloc(STRAKE_CL_MOST_KERNELS, sizeof *plan);
    const int kernels = plan != NULL ? strake_cl_plan_kernels(prediction->graph, &options, is_flat,
                                                              STRAKE_CL_MOST_KERNELS, plan)
                                     : 0;
    for (int k = 0; k < kernels; k++) {
        const double bytes =
            plan[k].marches || plan[k].tiled
                ? (double)strake_cl_local_bytes(prediction->graph, &options, &plan[k])
                : 0.0;
        most = bytes > most ? bytes : most;
    }
    free(plan);
    return most;
}

/* Whether a run may choose not to bind its threads: only where it would. */
static double predict_bound_teams(void)
{
    strake_topology topology;
    strake_topology_read(&topology);
    return strake_topology_binds(&topology, strake_topology_threads(&topology)) ? topology.teams
                                                                                : 0.0;
}

strake_space_facts strake_facts_of(const strake_cl_device *device,
                                   const strake_prediction *prediction)
{
    strake_machine machine;
    strake_machine_read(&machine);
    strake_space_facts facts = {
        .rows = (double)prediction->which->n[0],
        .cols = (double)prediction->which->n[2],
        .element_size = strake_precision_size(prediction->which->precision),
        .has_avx2 = strake_isa_is_there(STRAKE_ISA_AVX2) ? 1.0 : 0.0,
        .has_avx512 = strake_isa_is_there(STRAKE_ISA_AVX512) ? 1.0 : 0.0,
        .bound_teams = predict_bound_teams(),
        .cores = machine.cores,
        .cache1 = (double)machine.level1,
        .cache2 = (double)machine.level2,
        .cache3 = (double)machine.level3,
        .user = prediction,
    };
    if (device != NULL) {
        facts.is_gpu = strake_cl_device_is_gpu(device) ? 1.0 : 0.0;
        facts.is_nvidia = strncmp(device->vendor, "NVIDIA", 6) == 0 ? 1.0 : 0.0;
        facts.max_work_group = (double)device->max_work_group;
        facts.local_memory = (double)device->local_memory;
        facts.compute_units = device->compute_units;
        facts.max_allocation = (double)device->max_allocation;
        facts.local_bytes = strake_predict_local;
    }
    return facts;
}
