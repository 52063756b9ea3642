/** @file fields.h Fields of particles, as run/kind.h has them; only for host/particles/. */
#ifndef STRAKE_PARTICLES_FIELDS_H
#define STRAKE_PARTICLES_FIELDS_H

#include "particles/domain.h"

bool strake_particles_field(const strake_domain *domain, int field, strake_domain_field *out);
strake_status strake_particles_check(const strake_domain *domain, int field, int64_t first,
                                     int64_t end, const void *data, strake_error *error);
strake_status strake_particles_put(strake_domain *domain, int field, int64_t first, int64_t end,
                                   const void *data, strake_error *error);
strake_status strake_particles_get(const strake_domain *domain, int field, int64_t first,
                                   int64_t end, void *data, strake_error *error);
void strake_particles_was_set(strake_domain *domain, int field, int64_t end);

/** @param[out] out  one number for each quantity of the problem */
void strake_particles_measure(const strake_particles *p, double *out);

#endif
