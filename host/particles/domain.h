/**
 * @file domain.h
 * Particles as the domain of a team. What they are at the start comes from the case's scene; from then on a part has
 * them (run.h), and the host sees them through its image. Slabs are slices of cells along the first axis; one part has all
 * of them so far.
 *
 * Fields are arrays by number of the particle, in double precision whatever the precision of the case: the problem's, with
 * vectors along the case's directions, and two more for checkpoints. A particle that left the box keeps its row, with NaN
 * as position, 0 as all else and STRAKE_PARTICLE_GONE as kind.
 */
#ifndef STRAKE_PARTICLES_DOMAIN_H
#define STRAKE_PARTICLES_DOMAIN_H

#include "particles/run.h"
#include "scene/scene.h"
#include "team/kind.h"

/** Kind of a particle that left the box, in fields. */
enum { STRAKE_PARTICLE_GONE = STRAKE_PARTICLE_WALL + 1 };

/** Where the particles are that count. */
typedef enum strake_particles_state {
    STRAKE_PARTICLES_NONE,  /**< nowhere: a step failed */
    STRAKE_PARTICLES_GIVEN, /**< on the host, by number: values were given, the part lacks them */
    STRAKE_PARTICLES_AHEAD, /**< the part has them */
    STRAKE_PARTICLES_SEEN   /**< and the host sees its image */
} strake_particles_state;

typedef struct strake_particles {
    strake_domain domain; /**< first, so that either is the other */
    const strake_case *which;
    const strake_team *team; /**< whose threads compute, and who is told */
    strake_scene scene;      /**< without its particles, once a part has them */
    uint64_t hash;           /**< of what the scene says beyond the case */
    strake_particles_state state;
    strake_sph_run *run;         /**< of the part, which owns it; NULL: there is none */
    const strake_sph_image *now; /**< seen: the part's, in the order of cells */
    int32_t *place;              /**< [number] in it, -1: it left */
    strake_sph_image given;      /**< by number; a particle that left has no cell (-1) */
    strake_domain_loss *loss;    /**< who left, by step and number */
    int64_t losses;
} strake_particles;

/** Particles as a kind of domain. */
extern const strake_domain_kind strake_particles_kind;

/** The particles that a domain is. */
static inline strake_particles *strake_particles_of(strake_domain *domain)
{
    return (strake_particles *)domain;
}

/** A part made its run, of the scene's particles, or ends it. */
void strake_particles_begin_run(strake_particles *particles, strake_sph_run *run);
void strake_particles_end_run(strake_particles *particles);

/** Takes note of those who left the box in the steps of a run. @return STRAKE_ERR_MEMORY */
strake_status strake_particles_note_lost(strake_particles *particles, strake_sph_run *run,
                                         strake_error *error);

/** Says so when the first particle has left, and whenever they are ten times as many as @p told, which is renewed. */
void strake_particles_tell_lost(const strake_particles *particles, const strake_sph_clock *clock,
                                int64_t *told);

/** After a failure of the run's steps: adds to the message what is known of the particle that it names. @return @p why */
strake_status strake_particles_explain(const strake_particles *particles, strake_sph_run *run,
                                       strake_status why, strake_error *error);

/** The host's particles, which were given, go to the run. @return STRAKE_ERR_MEMORY, or as strake_sph_put() */
strake_status strake_particles_load(strake_particles *particles, strake_error *error);

/** The host sees the run's. @return as strake_sph_view() */
strake_status strake_particles_store(strake_particles *particles, strake_error *error);

/** The parts: candidates in order, on one thread; lists, on the threads of the processor or on a device. */
extern const strake_part_ops strake_particles_serial, strake_particles_cpu, strake_particles_opencl;

#endif
