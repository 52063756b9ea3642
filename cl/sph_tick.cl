/* sph_tick.cl: the clock of particles on a device that has doubles and is alone; sph.cl goes before it. */
/* What a tick comes after. */
#define SPH_AFTER_STEP 0
#define SPH_AFTER_FIRST 1 /* pass of all: it finds the first bound */
#define SPH_AFTER_ORDER 2
#define SPH_AFTER_LOOK 3

/* Advances the clock; one group, which brings down what those of the first pass left, and of the last kernel. */
__kernel void sph_tick(__global sph_clock *clock, const int what, const int first_groups,
                       const int groups, const int room, __global const real *most SPH_TICK_ARGUMENTS)
{
    __local real found[SPH_BOUNDS * SPH_SUMMERS];
    double all[SPH_BOUNDS];
    if (what == SPH_AFTER_ORDER ? clock->state == SPH_ASKS_HOST
                                : what <= SPH_AFTER_FIRST && clock->state != SPH_RUNS) {
        return;
    }
    sph_bring_down(most, room, what <= SPH_AFTER_FIRST ? first_groups : 0,
                   what == SPH_AFTER_STEP ? groups : 0, what == SPH_AFTER_FIRST ? 0 : groups, found, all);
    if (get_local_id(0) > 0) {
        return;
    }
    sph_clock c = *clock;
    const double h = c.smoothing;
#if SPH_MOTIONS
    all[1] = all[1] + frames->fastest[0];
    all[3] = all[3] + frames->fastest[1];
#endif
    if (what == SPH_AFTER_FIRST) {
        c.bound = sph_bound(all[0], all[1], h, c.cfl, c.viscous);
        c = sph_clock_plan(c);
    } else {
        c.farthest = all[4];
        c.fastest = all[5];
        c = what == SPH_AFTER_STEP    ? sph_clock_tick(c, sph_bound(all[0], all[1], h, c.cfl, c.viscous),
                                                       sph_bound(all[2], all[3], h, c.cfl, c.viscous))
            : what == SPH_AFTER_ORDER ? sph_clock_reorder(c)
                                      : sph_clock_plan(c);
    }
    *clock = c;
#if SPH_MOTIONS
    sph_set_out(c, motions, series, frames, first_pass, second_pass);
#endif
}
