/*
 * sph_carry.cl: what a step of particles does where walls or gravity move (SPH_MOTIONS; cl/sph_motion.h): sph.cl, which comes
 * next, says what goes before.
 */
#define SPH_KIND_BITS 27 /* of a key: above the number */

#if SPH_MOTIONS
#define SPH_BODY_ARGUMENTS                                                                         \
    , __global const sph_motions *motions, __global const sph_frames *frames,                      \
        __global const sph_double *origin
#else
#define SPH_BODY_ARGUMENTS
#endif

#if SPH_MOTIONS
/* Where a particle of a body has been carried, as it is in its cell; others keep what they have. */
static inline void sph_carry_on(__global const sph_motions *motions, __global const sph_frame *frame,
                                __global const sph_double *origin, uint key, int3 at, int is_end,
                                real4 *x, real4 *v)
{
    const int number = (int)(key & ((1u << SPH_KIND_BITS) - 1u));
    const int b = key >> SPH_KIND_BITS != 0u ? sph_body_with(motions, number) : -1; /* of fluid none */
    if (b >= 0) {
        const int cell[3] = {at.x, at.y, at.z};
        const long place = motions->body[b].origin + (number - motions->body[b].first);
        const sph_carried to = sph_carry(motions, frame[b], origin + 3 * place, cell);
        *v = (real4)(SPH_TO_REAL(to.v[0]), SPH_TO_REAL(to.v[1]), SPH_TO_REAL(to.v[2]), (*v).w);
        if (is_end) {
            *x = (real4)(SPH_TO_REAL(to.x[0]), SPH_TO_REAL(to.x[1]), SPH_TO_REAL(to.x[2]), (*x).w);
        }
    }
}

/* Of particle p, whatever its kernel calls the rest as well. */
#define SPH_CARRY(frame, is_end, to)                                                               \
    sph_carry_on(motions, frame, origin, key[p], sph_at(cell[p], cells), is_end, &(to).x, &(to).v)
#else
#define SPH_CARRY(frame, is_end, to) (void)(to)
#endif

#if SPH_MOTIONS && SPH_DOUBLES
#define SPH_TICK_ARGUMENTS                                                                         \
    , __global const sph_motions *motions, __global const double *series,                          \
        __global sph_frames *frames, __global sph_constants *first_pass,                           \
        __global sph_constants *second_pass

/* Frames of the step that comes next, and gravity of its passes. */
static inline void sph_set_out(sph_clock c, __global const sph_motions *motions,
                               __global const double *series, __global sph_frames *frames,
                               __global sph_constants *first_pass,
                               __global sph_constants *second_pass)
{
    sph_set_frames(motions, series, c.time, sph_clock_middle(c.time, c.dt), sph_clock_end(c), frames);
    for (int k = 0; k < 2; k++) {
        __global sph_scheme *scheme = k == 0 ? &first_pass->scheme : &second_pass->scheme;
        for (int d = 0; d < 3; d++) {
            const double gravity = frames->gravity[k][d];
            scheme->gravity[d] = (real)gravity;
            scheme->at_rest[d] = (real)sph_rest_slope(motions->density, gravity, motions->stiffness);
        }
    }
}
#else
#define SPH_TICK_ARGUMENTS
#endif
