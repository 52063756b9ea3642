/**
 * @file sph_numbers.h
 * The numbers of a pass in the working precision; sph_rows.h, cl/real.h and cl/sph_pair.h go before it.
 */
#ifndef STRAKE_PARTICLES_SPH_NUMBERS_H
#define STRAKE_PARTICLES_SPH_NUMBERS_H

static sph_scheme scheme_of(const strake_sph_numbers *given)
{
    return (sph_scheme){
        (real)given->per_diameter,
        (real)given->slope,
        (real)given->viscous,
        (real)given->eta,
        (real)given->mass,
        (real)given->reach,
        (real)given->repulsion,
        (real)given->diffusion,
        (real)given->density,
        (real)given->stiffness,
        (real)given->sound,
        {(real)given->at_rest[0], (real)given->at_rest[1], (real)given->at_rest[2]},
        {(real)given->gravity[0], (real)given->gravity[1], (real)given->gravity[2]}};
}

/* Without the sides of cells, which are asked of them. */
static sph_around around_of(const strake_sph_numbers *given)
{
    sph_around out;
    for (int k = 0; k < 32; k++) {
        for (int a = 0; a < 3; a++) {
            out.step[a][k] = (real)given->step[a][k];
        }
    }
    for (int k = 0; k < STRAKE_SPH_MOST_PLANES; k++) {
        for (int a = 0; a < 4; a++) {
            out.plane[k][a] = (real)given->plane[k][a];
        }
    }
    return out;
}

#endif
