/*
 * Rates of particles: a column of water as long as the paper's (Herault et al. 2010; Rustico et al. 2012), 0.6 x 1.2 x 0.6 m, breaks in a box of
 * 2.4 x 1.2 x 0.8 m with plane walls.
 *
 *   build/particles [serial|cpu[:THREADS]|ocl:N]... [--particles N] [--steps N] [--warm N] [--rebuild N]
 *       [--double] [--fast] [--check N] [--KEY VALUE]   (of run.*: group_width, groups, lists, vector, prefetch, registers)
 *
 * Each place advances by --warm steps and is measured over --steps. --check N: the first N steps also by the processor's
 * threads, and whether the bits are the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cpu/pipeline.h"
#include "cpu/topology.h"
#include "particles/run_opencl.h"

typedef struct job {
    int64_t particles, steps, warm, check;
    strake_settings settings;
    strake_precision precision;
    strake_sph sph;
    double size[STRAKE_PARTICLE_AXES];
    int64_t count;
    strake_sph_particle *all;
    strake_cl_list list;
} job;

static const double water[STRAKE_PARTICLE_AXES] = {0.6, 1.2, 0.6};

static void fill(job *j)
{
    const double g = 9.81;
    const double dp = cbrt(water[0] * water[1] * water[2] / (double)j->particles);
    int64_t n[STRAKE_PARTICLE_AXES];
    j->sph = (strake_sph){.dims = 3,
                          .spacing = dp,
                          .smoothing = 1.3 * dp,
                          .density = 1000.0,
                          .sound = sqrt(300.0 * g * water[2]),
                          .alpha = 0.3,
                          .gravity = {0.0, 0.0, -g},
                          .cfl = 0.3,
                          .repulsion = 5.0 * g * water[2],
                          .reach = dp,
                          .skin = 0.1,
                          .rebuild = j->sph.rebuild,
                          .is_fast = j->sph.is_fast,
                          .planes = 5,
                          .plane = {{{1.0, 0.0, 0.0}, 0.0},
                                    {{-1.0, 0.0, 0.0}, -2.4},
                                    {{0.0, 1.0, 0.0}, 0.0},
                                    {{0.0, -1.0, 0.0}, -1.2},
                                    {{0.0, 0.0, 1.0}, 0.0}}};
    for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
        n[a] = (int64_t)(water[a] / dp) - (a == 1 ? 1 : 0); /* one spacing from every plane */
    }
    j->size[0] = 2.4;
    j->size[1] = 1.2;
    j->size[2] = 0.8;
    j->count = n[0] * n[1] * n[2];
    j->all = calloc((size_t)j->count, sizeof *j->all);
    for (int64_t p = 0; p < j->count && j->all != NULL; p++) {
        const int64_t at[STRAKE_PARTICLE_AXES] = {p / n[2] / n[1], p / n[2] % n[1], p % n[2]};
        strake_sph_particle *const one = &j->all[p];
        one->number = p;
        for (int a = 0; a < STRAKE_PARTICLE_AXES; a++) {
            one->x[a] = ((double)at[a] + 1.0) * dp;
        }
        one->density =
            pow(1.0 + j->sph.density * g * (water[2] - one->x[2]) / strake_sph_stiffness(&j->sph),
                1.0 / 7.0) *
            j->sph.density;
    }
}

static strake_status open_run(job *j, const char *where, strake_sph_run **run, strake_error *error)
{
    static const bool is_round[STRAKE_PARTICLE_AXES] = {false, false, false};
    const bool is_serial = strcmp(where, "serial") == 0;
    const char *const after = strchr(where, ':');
    const int number = after != NULL ? atoi(after + 1) : -1;
    if (strncmp(where, "ocl", 3) == 0) {
        if (number < 0 || number >= j->list.count) {
            (void)snprintf(error->text, sizeof error->text, "%s: there are %d devices", where,
                           j->list.count);
            return STRAKE_ERR_USAGE;
        }
        return strake_sph_open_device(&j->sph, j->size, is_round, j->precision, j->list.cl,
                                      &j->list.device[number], &j->settings, j->count, j->all, run,
                                      error);
    }
    return strake_sph_open(&j->sph, j->size, is_round, j->precision,
                           is_serial ? STRAKE_SPH_REFERENCE : STRAKE_SPH_LISTS,
                           is_serial    ? 1
                           : number > 0 ? number
                                        : strake_topology_usable(),
                           strake_isa_best(), j->count, j->all, run, error);
}

static strake_status measure(job *j, const char *where, strake_error *error)
{
    strake_sph_run *run = NULL, *other = NULL;
    uint64_t hash = 0, expected = 0;
    strake_status status = open_run(j, where, &run, error);
    if (status == STRAKE_OK && j->check > 0) {
        status = strake_sph_step(run, j->check, INFINITY, error);
        status = status == STRAKE_OK ? strake_sph_hash(run, &hash, error) : status;
        status = status == STRAKE_OK ? open_run(j, "cpu", &other, error) : status;
        status = status == STRAKE_OK ? strake_sph_step(other, j->check, INFINITY, error) : status;
        status = status == STRAKE_OK ? strake_sph_hash(other, &expected, error) : status;
        strake_sph_close(&other);
        if (status == STRAKE_OK) {
            printf("%-8s %lld steps: hash %016llx, cpu %016llx: %s\n", where, (long long)j->check,
                   (unsigned long long)hash, (unsigned long long)expected,
                   hash == expected ? "the same" : "NOT THE SAME");
        }
    }
    status = status == STRAKE_OK ? strake_sph_step(run, j->warm, INFINITY, error) : status;
    const double before = strake_clock_seconds();
    const clock_t busy = clock();
    const double pairs = run != NULL ? run->clock.pairs : 0.0;
    const int64_t rebuilds = run != NULL ? run->clock.rebuilds : 0;
    status = status == STRAKE_OK ? strake_sph_step(run, j->steps, INFINITY, error) : status;
    if (status == STRAKE_OK) {
        const double seconds = strake_clock_seconds() - before;
        const double done = (double)run->count * (double)j->steps;
        printf("%-8s %lld particles, %lld steps, %lld orders, %.3f s: %.3f mips, %.4g pairs/s in "
               "lists "
               "(%.1f each), %.0f bytes each\n",
               where, (long long)run->count, (long long)j->steps,
               (long long)(run->clock.rebuilds - rebuilds), seconds, 1e-6 * done / seconds,
               (run->clock.pairs - pairs) / seconds, (run->clock.pairs - pairs) / (2.0 * done),
               strake_sph_bytes(run) / (double)j->count);
        if (strncmp(where, "ocl", 3) != 0) {
            const double cores = (double)(clock() - busy) / CLOCKS_PER_SEC;
            printf("%-8s %.3f mips and %.4g pairs/s for each second of a core\n", where,
                   1e-6 * done / cores, (run->clock.pairs - pairs) / cores);
        }
        (void)fflush(stdout);
    }
    strake_sph_close(&run);
    return status;
}

int main(int count, char **word)
{
    job j = {.particles = 1600000,
             .steps = 100,
             .warm = 10,
             .precision = STRAKE_SINGLE,
             .sph.rebuild = 10};
    strake_error error = {0};
    int places = 0;
    strake_status status = strake_cl_list_open(&j.list, &error);
    for (int k = 1; k < count; k++) {
        const bool has_value = k + 1 < count;
        if (strcmp(word[k], "--double") == 0) {
            j.precision = STRAKE_DOUBLE;
        } else if (strcmp(word[k], "--fast") == 0) {
            j.sph.is_fast = true;
        } else if (strncmp(word[k], "--", 2) == 0 && has_value) {
            const char *const key = word[k] + 2;
            const long long value = atoll(word[++k]);
            j.particles = strcmp(key, "particles") == 0 ? value : j.particles;
            j.steps = strcmp(key, "steps") == 0 ? value : j.steps;
            j.warm = strcmp(key, "warm") == 0 ? value : j.warm;
            j.check = strcmp(key, "check") == 0 ? value : j.check;
            j.sph.rebuild = strcmp(key, "rebuild") == 0 ? (int)value : j.sph.rebuild;
            char path[64];
            (void)snprintf(path, sizeof path, "run.%s", key);
            (void)strake_setting_set(&j.settings, path, word[k]);
        } else {
            places++;
        }
    }
    fill(&j);
    if (j.all == NULL) {
        status = STRAKE_ERR_MEMORY;
    }
    for (int k = 1; k < count && status == STRAKE_OK && places > 0; k++) {
        if (strcmp(word[k], "--double") == 0 || strcmp(word[k], "--fast") == 0) {
            continue;
        }
        if (strncmp(word[k], "--", 2) == 0) {
            k++;
        } else {
            status = measure(&j, word[k], &error);
        }
    }
    if (places == 0) {
        status = measure(&j, "cpu", &error);
    }
    if (status != STRAKE_OK) {
        fprintf(stderr, "particles: %s\n", error.text);
    }
    free(j.all);
    strake_cl_list_free(&j.list);
    return status == STRAKE_OK ? 0 : 1;
}
