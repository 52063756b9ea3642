/* Which particle something is about: those that left the box, and the one that a failure names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "particles/domain.h"

/* "[0.1, 0.25] m", of a point along the directions that the problem has. */
static const char *point_text(const strake_particles *p, const double at[3], char text[80])
{
    if (p->scene.sph.dims == 3) {
        (void)strake_number_print(text, 80, "[%.6g, %.6g, %.6g] m", at[0], at[1], at[2]);
    } else {
        (void)strake_number_print(text, 80, "[%.6g, %.6g] m", at[0], at[1]);
    }
    return text;
}

/* Where a point of the box is in the case, along the directions that the problem has. */
static void find_point(const strake_particles *p, const double x[STRAKE_PARTICLE_AXES],
                       double at[STRAKE_SCENE_DIRECTIONS])
{
    double in_case[STRAKE_SCENE_DIRECTIONS];
    strake_scene_position(&p->scene, x, in_case);
    strake_scene_list_vector(&p->scene, in_case, at);
}

static int by_step(const void *a, const void *b)
{
    const strake_domain_loss *const one = a, *const other = b;
    return one->step != other->step ? (one->step > other->step) - (one->step < other->step)
                                    : (one->number > other->number) - (one->number < other->number);
}

/* Says so when the first particle has left, and whenever they are ten times as many. */
static void tell(strake_particles *p, const strake_sph_clock *clock)
{
    char first[160] = "", where[80];
    if (clock->lost == 0 || clock->lost < 10 * p->told) {
        return;
    }
    p->told = clock->lost;
    if (p->losses > 0) {
        (void)strake_number_print(first, sizeof first, " (the first: number %lld, %s, at %s)",
                                  (long long)p->loss[0].number, p->loss[0].kind,
                                  point_text(p, p->loss[0].at, where));
    }
    strake_tell(&p->team->notices,
                STRAKE_NOTICE_WARNING "%lld particle%s left the box by step %lld, t = %g s%s, and "
                                      "%s computed no more; a larger scene or walls keep them",
                (long long)clock->lost, clock->lost > 1 ? "s have" : " has",
                (long long)clock->steps, clock->time, first, clock->lost > 1 ? "are" : "is");
}

/* The k-th of those who left. */
static strake_domain_loss make_loss(const strake_particles *p, const strake_sph_leaver *one)
{
    strake_domain_loss loss = {.number = one->number,
                               .step = one->step,
                               .time = one->time,
                               .kind = strake_scene_kind_word(one->kind),
                               .kind_number = (int)one->kind};
    find_point(p, one->x, loss.at);
    return loss;
}

static strake_status add_losses(strake_particles *p, const strake_sph_leaver *leaver, int64_t count,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_domain_loss *more = NULL;
    if (count == 0) {
        return STRAKE_OK;
    }
    more = realloc(p->loss, (size_t)(p->losses + count) * sizeof *more);
    STRAKE_CHECK(more != NULL, error, STRAKE_ERR_MEMORY,
                 "no memory for a record of particles that left the box");
    p->loss = more;
    for (int64_t k = 0; k < count; k++) {
        p->loss[p->losses++] = make_loss(p, &leaver[k]);
    }
cleanup:
    return status;
}

strake_status strake_particles_note_lost(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int64_t before = p->losses;
    const strake_sph_leaver *others = NULL;
    const int64_t far = p->far != NULL ? strake_sph_far_leavers(p->far, &others) : 0;
    STRAKE_TRY(add_losses(p, others, far, error));
    for (int m = 0; m < p->crew.members; m++) {
        strake_sph_run *const run = p->crew.member[m].run;
        if (run == NULL || run->leavers == 0) {
            continue;
        }
        STRAKE_TRY(add_losses(p, run->leaver, run->leavers, error));
        run->leavers = 0;
    }
    if (far > 0) {
        strake_sph_far_forget_leavers(p->far);
    }
    if (p->losses > before) {
        qsort(p->loss + before, (size_t)(p->losses - before), sizeof *p->loss, by_step);
    }
    if (strake_particles_any(p) != NULL) {
        tell(p, &strake_particles_any(p)->clock);
    }
cleanup:
    return status;
}

strake_status strake_particles_explain(const strake_particles *p, strake_sph_run *run,
                                       strake_status why, strake_error *error)
{
    const int64_t culprit = run->culprit;
    const strake_sph_image *image = NULL;
    strake_error ignored;
    char where[80];
    double x[STRAKE_PARTICLE_AXES], at[STRAKE_SCENE_DIRECTIONS] = {0.0, 0.0, 0.0};
    run->culprit = -1;
    if (culprit < 0 || error == NULL || strake_sph_view(run, &image, &ignored) != STRAKE_OK) {
        return why;
    }
    for (int64_t k = 0; k < image->count; k++) {
        if (image->number[k] == culprit) {
            const size_t used = strlen(error->text);
            strake_sph_image_rest(image, k, x);
            find_point(p, x, at);
            (void)snprintf(error->text + used, sizeof error->text - used,
                           "; particle %lld is %s and was at %s when they were last put in order",
                           (long long)culprit,
                           strake_scene_kind_word((strake_particle_kind)image->kind[k]),
                           point_text(p, at, where));
        }
    }
    return why;
}
