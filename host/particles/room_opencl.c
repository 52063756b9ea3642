/* What lists of particles will take of a device's memory, before it has any. */
#include <stdlib.h>

#include "base/error.h"
#include "particles/device.h"
#include "particles/run_opencl.h"

enum { GROUPS = STRAKE_SPH_SIDE_BY_SIDE / STRAKE_SPH_LANES };

/* Rows of words for so many neighbours: SPH_ROWS of cl/sph.cl. */
static size_t rows_for(const strake_sph_device *own, int64_t neighbours)
{
    const size_t twos = (size_t)(neighbours + 1) / 2;
    return own->settings.lists == STRAKE_SPH_WIDE ? 2 * twos : twos;
}

/* Of 32 that stand side by side, or fewer at the end: as sph_count_near of cl/cells.cl finds them. */
static size_t count_rows(const strake_sph_device *own, strake_sph_parts *parts,
                         const strake_sph_pair_rows *rows, int64_t first)
{
    int64_t begin[GROUPS + 1] = {0}, most[2] = {0, 0};
    int32_t near[GROUPS] = {0}, member[STRAKE_SPH_SIDE_BY_SIDE];
    strake_sph_list list = {.first = begin, .near = near};
    int64_t members = 0;
    for (int64_t p = first; p < first + STRAKE_SPH_SIDE_BY_SIDE && p < parts->count; p++) {
        if (parts->kind[p] != STRAKE_PARTICLE_WALL) {
            member[members++] = (int32_t)p;
        }
    }
    parts->members = members;
    parts->member = member;
    const int64_t groups = (members + STRAKE_SPH_LANES - 1) / STRAKE_SPH_LANES;
    (void)rows->list(parts, &own->numbers, &list, 0, groups);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t walls = begin[g + 1] - near[g];
        most[0] = near[g] > most[0] ? near[g] : most[0];
        most[1] = walls > most[1] ? walls : most[1];
    }
    return rows_for(own, most[0]) + rows_for(own, most[1]);
}

strake_status strake_sph_device_fits(strake_sph_run *run, const strake_sph_image *all,
                                     const int64_t *start, strake_error *error)
{
    strake_sph_device *const own = (strake_sph_device *)run;
    const strake_sph_pair_rows *const rows =
        strake_sph_pair_rows_of(own->precision, STRAKE_ISA_SCALAR);
    strake_sph_parts parts = {.count = all->count,
                              .cells = &run->cells,
                              .start = start,
                              .cell = all->cell,
                              .kind = all->kind,
                              .now = all->state};
    size_t lists = 0;
    for (int64_t p = 0; p < all->count; p += STRAKE_SPH_SIDE_BY_SIDE) {
        lists += count_rows(own, &parts, rows, p);
    }
    const size_t words = strake_sph_words_for(own, lists);
    const double needed = own->bytes + (double)(words - own->words_bytes);
    return needed > (double)own->settings.device_memory ? strake_sph_refuse(own, needed, error)
                                                        : STRAKE_OK;
}
