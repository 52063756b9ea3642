/* The filter of densities on a device (cl/sph_filter.cl). */
#include "particles/device.h"

static void pass_range(const strake_sph_device *own, bool by_clock, strake_range range,
                       strake_cl_arguments *a)
{
    const cl_int both[2] = {(cl_int)range.first, (cl_int)range.end};
    strake_cl_pass_buffer(a, own->clock_there);
    strake_cl_pass_int(a, by_clock ? 1 : 0);
    strake_cl_pass_buffer(a, own->constants);
    strake_cl_pass(a, sizeof both, both);
}

strake_status strake_sph_filter(strake_sph_device *own, const char *as, bool by_clock,
                                strake_range range, strake_error *error)
{
    const int now = own->now;
    const cl_mem *const rest[] = {
        &own->start, &own->first,  &own->counts, &own->words,       &own->cell,
        &own->key,   &own->x[now], &own->v[now], &own->volume[now], &own->volume[1 - now]};
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_FILTER);
    pass_range(own, by_clock, range, &a);
    strake_cl_pass(&a, sizeof own->cells4, own->cells4);
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        strake_cl_pass_buffer(&a, *rest[k]);
    }
    return strake_sph_launch_as(own, STRAKE_SPH_FILTER, as != NULL ? as : "sph_filter", &a,
                                range.end - range.first, error);
}

strake_status strake_sph_renew(strake_sph_device *own, bool by_clock, strake_error *error)
{
    const int now = own->now;
    const cl_mem *const rest[] = {&own->key, &own->x[now], &own->v[now], &own->volume[now],
                                  &own->volume[1 - now]};
    strake_cl_arguments a = strake_sph_begin_arguments(own, STRAKE_SPH_RENEW);
    pass_range(own, by_clock, (strake_range){0, own->run.count}, &a);
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        strake_cl_pass_buffer(&a, *rest[k]);
    }
    return strake_sph_launch(own, STRAKE_SPH_RENEW, &a, own->run.count, error);
}
