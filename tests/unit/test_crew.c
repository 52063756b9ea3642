/* Particles shared by several runs: the same bits as of one, whoever has which slices, also where these change hands. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "cpu/pipeline.h"
#include "particles/crew.h"
#include "tests/support/swarm.h"

enum { AXES = STRAKE_PARTICLE_AXES, STEPS = 36, MOST = 7 };

static strake_sph_run *start(const strake_swarm *swarm, strake_precision precision, int64_t room,
                             bool is_empty)
{
    strake_sph_run *run = NULL;
    strake_error error;
    if (strake_sph_open(&swarm->sph, swarm->size, swarm->is_round, precision, STRAKE_SPH_LISTS, 1,
                        strake_isa_best(), room, is_empty ? NULL : swarm->all, &run,
                        &error) != STRAKE_OK) {
        fail_msg("%s", error.text);
    }
    return run;
}

static const strake_sph_image *view(strake_sph_run *run)
{
    const strake_sph_image *image = NULL;
    assert_int_equal(strake_sph_view(run, &image, NULL), STRAKE_OK);
    return image;
}

/* What one of several runs is to do, and how that went. */
typedef struct share {
    strake_sph_run *run;
    int64_t steps;
    strake_status status;
    strake_error error;
} share;

static void *play(void *user)
{
    share *const s = user;
    s->status = strake_sph_step(s->run, s->steps, INFINITY, &s->error);
    return NULL;
}

static void play_all(strake_sph_crew *crew, int64_t steps, share *out)
{
    pthread_t thread[MOST];
    strake_sph_crew_start(crew);
    crew->is_crowded = true;
    for (int m = 0; m < crew->members; m++) {
        out[m] = (share){.run = crew->member[m].run, .steps = steps};
        assert_int_equal(pthread_create(&thread[m], NULL, play, &out[m]), 0);
    }
    for (int m = 0; m < crew->members; m++) {
        assert_int_equal(pthread_join(thread[m], NULL), 0);
    }
}

static void step_all(strake_sph_crew *crew, int64_t steps)
{
    share all[MOST];
    const int64_t before = crew->member[0].run->clock.rebuilds;
    play_all(crew, steps, all);
    for (int m = 0; m < crew->members; m++) {
        if (all[m].status != STRAKE_OK) {
            fail_msg("%s", all[m].error.text);
        }
        /* Who shares has another pass to compute when it waits to hear where all are, but for orders, filters and the end. */
        const int64_t orders = all[m].run->clock.rebuilds - before;
        const int every = all[m].run->sph->shepard;
        const int64_t filters = every > 0 ? steps / every + 1 : 0;
        assert_true(crew->members == 1 || crew->member[m].stalls <= 2 * orders + filters + 2);
    }
}

/* The particles of an image that a run has: those of its slices and, in order, of those beside them. */
static void give(const strake_sph_image *all, strake_sph_run *run)
{
    strake_sph_image some;
    int64_t count = 0, ghost[2];
    strake_sph_find_ghosts(run, ghost);
    assert_int_equal(strake_sph_image_open(run, all->count, &some, NULL), STRAKE_OK);
    for (int64_t k = 0; k < all->count; k++) {
        const int64_t slice = strake_cells_slice(all->cells, all->cell[k]);
        const bool is_beside = slice == ghost[0] || slice == ghost[1];
        if ((slice >= run->own.first && slice < run->own.end) ||
            (is_beside && all->clock.is_ordered)) {
            strake_sph_image_pick(all, k, &some, count++);
        }
    }
    some.count = count;
    some.clock = all->clock;
    assert_int_equal(strake_sph_put(run, &some, NULL), STRAKE_OK);
    strake_sph_image_close(&some);
}

/* Cuts slices into as many stretches as there are members; @p turn moves the cuts. */
static void cut(strake_sph_crew *crew, int64_t turn, bool is_next)
{
    const int64_t slices = crew->cells.n[0];
    int64_t first = 0;
    for (int m = 0; m < crew->members; m++) {
        const int64_t left = crew->members - 1 - m;
        int64_t end = left == 0 ? slices : first + 1 + (m + turn) % 3;
        end = end > slices - left ? slices - left : end;
        crew->member[m].next = (strake_range){first, end};
        if (!is_next) {
            crew->member[m].own = crew->member[m].run->own = crew->member[m].next;
        }
        first = end;
    }
}

static void open_crew(const strake_swarm *swarm, strake_precision precision, int members,
                      const strake_sph_image *all, strake_sph_crew *crew)
{
    *crew = (strake_sph_crew){.members = 0};
    assert_int_equal(strake_sph_crew_open(crew, all->cells, members, NULL), STRAKE_OK);
    for (int m = 0; m < members; m++) {
        strake_sph_crew_join(crew, m, start(swarm, precision, 10, true));
    }
    cut(crew, members, false);
    for (int m = 0; m < members; m++) {
        give(all, crew->member[m].run);
    }
}

static void close_crew(strake_sph_crew *crew)
{
    for (int m = 0; m < crew->members; m++) {
        strake_sph_run *run = crew->member[m].run;
        strake_sph_crew_leave(crew, m);
        strake_sph_close(&run);
    }
    strake_sph_crew_close(crew);
}

/* As strake_sph_hash(), of what members have of their own slices. */
static uint64_t hash_of(const strake_sph_crew *crew)
{
    uint64_t hash = STRAKE_FNV_SEED;
    for (int m = 0; m < crew->members; m++) {
        strake_sph_run *const run = crew->member[m].run;
        const strake_sph_image *const image = view(run);
        const size_t bytes = (size_t)image->element;
        for (int64_t p = run->inner.first; p < run->inner.end; p++) {
            hash = strake_fnv1a(hash, &image->number[p], sizeof image->number[p]);
            hash = strake_fnv1a(hash, &image->cell[p], sizeof image->cell[p]);
            for (int k = 0; k < STRAKE_SPH_STATES; k++) {
                hash = strake_fnv1a(hash, (const char *)image->state.value[k] + (size_t)p * bytes,
                                    bytes);
            }
        }
    }
    return hash;
}

static void same(const strake_sph_crew *crew, strake_sph_run *reference)
{
    uint64_t hash = 0;
    double work = 0.0, pairs = 0.0;
    assert_int_equal(strake_sph_hash(reference, &hash, NULL), STRAKE_OK);
    assert_true(hash_of(crew) == hash);
    for (int m = 0; m < crew->members; m++) {
        const strake_sph_clock *const clock = &crew->member[m].run->clock;
        assert_true(clock->time == reference->clock.time);
        assert_true(clock->bound == reference->clock.bound);
        assert_int_equal(clock->rebuilds, reference->clock.rebuilds);
        assert_int_equal(clock->lost, reference->clock.lost);
        pairs += crew->member[m].run->pairs;
    }
    for (int64_t slice = 0; slice < crew->cells.n[0]; slice++) {
        work += crew->work[slice];
    }
    assert_true(pairs == reference->pairs && work == pairs);
}

/* Slices go to others half way; then another number of members goes on from what these are. */
static void bits_of(const strake_swarm *swarm, strake_precision precision, int members)
{
    strake_sph_run *const reference = start(swarm, precision, swarm->count, false);
    strake_sph_run *run = reference;
    strake_sph_crew crew, later;
    strake_error error;
    open_crew(swarm, precision, members, view(reference), &crew);
    for (int part = 0; part < 3; part++) {
        cut(&crew, part, true);
        step_all(&crew, STEPS / 3);
        assert_int_equal(strake_sph_step(reference, STEPS / 3, INFINITY, &error), STRAKE_OK);
        same(&crew, reference);
    }
    assert_true(reference->clock.rebuilds > 2 && reference->clock.since > 0);
    close_crew(&crew);
    open_crew(swarm, precision, members == 3 ? 2 : 3, view(reference), &later);
    step_all(&later, STEPS / 3);
    assert_int_equal(strake_sph_step(reference, STEPS / 3, INFINITY, &error), STRAKE_OK);
    same(&later, reference);
    close_crew(&later);
    strake_sph_close(&run);
}

static void several_runs_have_the_bits_of_one(void **state)
{
    static const strake_swarm_variant all[] = {
        {2, 0, STRAKE_SPH_WENDLAND, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_PLAIN, STRAKE_PARTICLE_WALL,
         false, false, 0},
        {2, 4, STRAKE_SPH_CUBIC, STRAKE_SPH_LAMINAR, STRAKE_SPH_MOLTENI, STRAKE_PARTICLE_DYNAMIC,
         true, true, 1},
        {3, -3, STRAKE_SPH_WENDLAND, STRAKE_SPH_ARTIFICIAL, STRAKE_SPH_FOURTAKAS,
         STRAKE_PARTICLE_WALL, true, false, 5}};
    static const int members[] = {1, 2, 3, MOST};
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        strake_swarm swarm = strake_swarm_block(&all[k]);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
            bits_of(&swarm, (strake_precision)((k + m) % STRAKE_PRECISIONS), members[m]);
        }
        free(swarm.all);
    }
}

/* One has a particle that is no number: it says so, and all others leave. */
static void who_fails_stops_all(void **state)
{
    static const strake_swarm_variant which = {.dims = 2, .wall = STRAKE_PARTICLE_WALL};
    strake_swarm swarm = strake_swarm_block(&which);
    strake_sph_run *reference = NULL;
    strake_sph_crew crew;
    strake_error error;
    share all[MOST];
    int named = 0;
    (void)state;
    swarm.all[swarm.count / 2].v[0] = NAN;
    reference = start(&swarm, STRAKE_DOUBLE, swarm.count, false);
    open_crew(&swarm, STRAKE_DOUBLE, 3, view(reference), &crew);
    assert_int_equal(strake_sph_step(reference, STEPS, INFINITY, &error), STRAKE_ERR_NUMERIC);
    play_all(&crew, STEPS, all);
    for (int m = 0; m < crew.members; m++) {
        named += all[m].status == STRAKE_ERR_NUMERIC ? 1 : 0;
        assert_true(all[m].status == STRAKE_ERR_NUMERIC || all[m].status == STRAKE_ERR_STATE);
        assert_true(all[m].status == STRAKE_ERR_STATE ||
                    strcmp(all[m].error.text, error.text) == 0);
    }
    assert_int_equal(named, 1);
    close_crew(&crew);
    strake_sph_close(&reference);
    free(swarm.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_runs_have_the_bits_of_one),
        cmocka_unit_test(who_fails_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
