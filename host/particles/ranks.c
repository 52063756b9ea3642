/* Particles of several ranks, for a team and a solver: who has which slices, and all particles for rank 0. */
#include "particles/crew_ranks.h"
#include "particles/domain.h"

strake_status strake_particles_share(strake_domain *domain, const strake_range *owned,
                                     strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    if (p->far == NULL) {
        return strake_sph_far_open(&p->crew, domain->ranks, owned, &p->far, error);
    }
    strake_sph_far_share(p->far, owned);
    return STRAKE_OK;
}

strake_status strake_particles_start(strake_domain *domain, bool is_crowded, strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    if (!p->is_counted) { /* the host had all of them when the parts took theirs */
        strake_sph_far_count(p->far, &p->host);
        p->is_counted = true;
    }
    return strake_sph_far_start(p->far, is_crowded, error);
}

strake_status strake_particles_join(strake_domain *domain, strake_error *error)
{
    return strake_sph_far_join(strake_particles_of(domain)->far, error);
}

void strake_particles_leave(strake_domain *domain)
{
    strake_particles *const p = strake_particles_of(domain);
    if (p->far != NULL) {
        strake_sph_far_leave(p->far);
    }
}

/* What this rank's parts have done and hold, which rank 0 reports of all. */
static strake_status gather_sums(strake_particles *p, strake_error *error)
{
    strake_status status = STRAKE_OK;
    double sum[2] = {strake_particles_pairs(p), 0.0};
    double all[2 * STRAKE_MOST_PARTS];
    for (int m = 0; m < p->crew.members; m++) {
        const strake_sph_run *const run = p->crew.member[m].run;
        sum[1] += run != NULL ? strake_sph_bytes(run) : 0.0;
    }
    STRAKE_TRY(strake_ranks_collect(p->domain.ranks, sum, sizeof sum, all, error));
    p->others_pairs = p->others_bytes = 0.0;
    for (int r = 1; r < strake_ranks_count(p->domain.ranks); r++) {
        p->others_pairs += all[2 * r];
        p->others_bytes += all[2 * r + 1];
    }
cleanup:
    return status;
}

strake_status strake_particles_gather(strake_domain *domain, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_particles *const p = strake_particles_of(domain);
    STRAKE_TRY(strake_sph_far_gather(p->far, &p->host, error));
    STRAKE_TRY(gather_sums(p, error));
cleanup:
    return status;
}

strake_status strake_particles_spread(strake_domain *domain, strake_error *error)
{
    strake_particles *const p = strake_particles_of(domain);
    const strake_status status = strake_sph_far_spread(p->far, &p->host, error);
    p->state = STRAKE_PARTICLES_GIVEN;
    p->is_set = false;
    return status;
}
