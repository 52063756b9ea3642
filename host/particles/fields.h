/** @file fields.h Fields of particles, as team/kind.h has them; only for host/particles/. */
#ifndef STRAKE_PARTICLES_FIELDS_H
#define STRAKE_PARTICLES_FIELDS_H

#include "particles/domain.h"

const char *strake_particles_name(const strake_domain *domain, int field);
int strake_particles_kept(const strake_domain *domain, int k);
size_t strake_particles_element_size(const strake_domain *domain);
strake_extent strake_particles_extent(const strake_domain *domain, int field);
strake_kind strake_particles_role(const strake_domain *domain, int field);
bool strake_particles_has_values(const strake_domain *domain, int field);
bool strake_particles_is_shared(const strake_domain *domain, int field); /**< false */
strake_status strake_particles_may_set(const strake_domain *domain, int field, int64_t first,
                                       int64_t end, strake_error *error);
strake_status strake_particles_check(const strake_domain *domain, int field, int64_t first,
                                     int64_t end, const void *data, strake_error *error);
strake_status strake_particles_put(strake_domain *domain, int field, int64_t first, int64_t end,
                                   const void *data, strake_error *error);
strake_status strake_particles_get(const strake_domain *domain, int field, int64_t first,
                                   int64_t end, void *data, strake_error *error);
void strake_particles_was_set(strake_domain *domain, int field, int64_t end);
strake_status strake_particles_measure(strake_domain *domain, strake_slabs_reader *read, void *user,
                                       double *out, strake_error *error);

#endif
