/**
 * @file domain.h
 * Particles as the domain of a team. What they are at the start comes from the case's scene; from then on parts have
 * them (run.h), each those of its slabs, which are slices of cells along the first axis, and step together (crew.h). The
 * host sees them by number.
 *
 * Fields are arrays by number of the particle, in double precision whatever the precision of the case: the problem's, with
 * vectors along the case's directions, and two more for checkpoints. A particle that left the box keeps its row, with NaN
 * as position, 0 as all else and STRAKE_PARTICLE_GONE as kind.
 */
#ifndef STRAKE_PARTICLES_DOMAIN_H
#define STRAKE_PARTICLES_DOMAIN_H

#include "particles/crew_ranks.h"
#include "scene/scene.h"
#include "run/kind.h"

/** Kind of a particle that left the box, in fields. */
enum { STRAKE_PARTICLE_GONE = STRAKE_PARTICLE_WALL + 1 };

/** Where the particles are that count. */
typedef enum strake_particles_state {
    STRAKE_PARTICLES_NONE,  /**< nowhere: a step failed */
    STRAKE_PARTICLES_GIVEN, /**< on the host: values were given, the parts lack them */
    STRAKE_PARTICLES_AHEAD, /**< the parts have them */
    STRAKE_PARTICLES_SEEN   /**< and the host, too */
} strake_particles_state;

typedef struct strake_particles {
    strake_domain domain; /**< first, so that either is the other */
    const strake_case *which;
    const strake_team *team; /**< whose threads compute, and who is told */
    strake_scene scene;      /**< without its particles, once the host has them by number */
    strake_particles_state state;
    strake_sph_crew crew;              /**< of the parts, in their order */
    strake_sph_image host;             /**< by number; a particle that left has no cell (-1) */
    strake_sph_image kept;             /**< a copy of it, if one was asked for */
    double kept_pairs;                 /**< that had been summed over when it was made ... */
    int64_t kept_losses;               /**< ... and who had left */
    strake_sph_far *far;               /**< other ranks in the crew; NULL: this process is alone */
    double others_pairs, others_bytes; /**< of theirs, as rank 0 knew last */
    bool is_set;                       /**< on this rank, and others do not know */
    bool is_counted;                   /**< far knows how many particles are in its slices */
    bool is_storing;                   /**< some of the parts have brought the host theirs */
    bool is_other; /**< values were given after pairs of the slices had been counted */
    double *fixed; /**< [slice] particles that repel, which do no work; NULL: not counted yet */
    double pairs;  /**< that parts have summed over which are no more */
    strake_domain_loss *loss; /**< who left, by step and number */
    int64_t losses;
    int64_t told; /**< of them, when the user was told last */
} strake_particles;

/** Particles as a kind of domain. */
extern const strake_domain_kind strake_particles_kind;

/** The particles that a domain is. */
static inline strake_particles *strake_particles_of(strake_domain *domain)
{
    return (strake_particles *)domain;
}

/** A part has made its run, empty, or ends it. */
void strake_particles_begin_run(strake_particles *particles, int part, strake_range own,
                                strake_sph_run *run);
void strake_particles_end_run(strake_particles *particles, int part);

/** Particles for which a part with these slices has room at first. */
int64_t strake_particles_room(const strake_particles *particles, strake_range own);

/** strake_domain_ops.room: particles, as work tells where those are that have neighbours. */
double strake_particles_bound(strake_domain *domain, const strake_part *part, double *load);

/**
 * About as many pairs as every slice of the host's particles has, up to a factor, by who shares a cell: walls have none with
 * each other. Without memory for cells it is the fluid. @param[out] pairs  [slice]
 */
void strake_particles_estimate(const strake_particles *particles, double *pairs);

/** The host's particles of its slices go to a run. @return STRAKE_ERR_MEMORY, or as strake_sph_put() */
strake_status strake_particles_load(strake_particles *particles, strake_sph_run *run,
                                    strake_error *error);

/**
 * Whether the memory that a case allows its only device is enough for what the first order takes; of other devices that is
 * found when they step. @return STRAKE_ERR_USAGE: it is not
 */
strake_status strake_particles_fit(const strake_particles *particles, strake_sph_run *run,
                                   strake_error *error);

/** The host sees those of the run's slices. @return as strake_sph_view() */
strake_status strake_particles_store(strake_particles *particles, strake_sph_run *run,
                                     strake_error *error);

/** One of the runs that there are; NULL: none. They have the same clock. */
const strake_sph_run *strake_particles_any(const strake_particles *particles);

/** Pairs that this process has summed over since the start. */
double strake_particles_pairs(const strake_particles *particles);

/** The parts: candidates in order, on one thread; lists, on the threads of the processor or on a device. */
extern const strake_part_ops strake_particles_serial, strake_particles_cpu, strake_particles_opencl;

#endif
