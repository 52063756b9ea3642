/** @file water.h Cases of particles run through the public interface, and what tests of flows read off them. */
#ifndef STRAKE_TESTS_WATER_H
#define STRAKE_TESTS_WATER_H

#include "scene/scene.h"
#include "strake.h"

/** A case that runs. By particle, in the order of the scene, what water_run() found last; y is 0 in 2D. */
typedef struct water {
    strake_case *which;
    strake_solver *solver;
    strake_scene scene; /**< as at the start */
    int64_t count;
    strake_sph_particle *now; /**< of one that left the kind is -1 */
    double *field;            /**< room for a field */
    double lost;              /**< particles of fluid that left */
    double kinetic, potential;
    double elastic; /**< energy of compression, of the fluid and of dynamic walls */
    double wall;    /**< energy of the fluid between particles that repel, and planes */
} water;

/** Whether long forms run (make check-physics-long). */
bool water_is_long(void);

/** Opens a case with what --set says of it; on one thread, long forms on two. @param[in] sets  ends with NULL */
void water_open(water *w, const char *file, const char *const *sets);
/** The same of a text. */
void water_parse(water *w, const char *text, const char *const *sets);

/** Goes on until a time, and reads. */
void water_run(water *w, double until);

/** Turns the fluid about the origin beside what it does, in 2D [1/s]. */
void water_spin(water *w, double rate);

/** Sum of all energies. */
double water_energy(const water *w);

/** What the first probes of the case measure now. */
void water_probe(const water *w, int probes, double *out);

void water_close(water *w);

/** Prints a measured figure and its band, and whether it is in there; what is not fails the test at water_judged(). */
void water_judge(const char *what, double measured, double low, double high);
void water_judged(void);

#endif
