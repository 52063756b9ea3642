#include "grid/memory.h"

#include <math.h>
#include <unistd.h>

#include "cpu/cgroup.h"
#include "cpu/pipeline.h"
#include "grid/arrays.h"

/* Bytes that a process takes beside fields and rings: alone, and with a driver that compiles in it. */
static const double program_memory = 8 << 20, driver_memory = 128 << 20;

static double memory_of_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes of all arrays on this machine, with a given number of them for each state; ranks have alike shares. */
static double memory_needed(const strake_grid *grid, int for_state)
{
    const strake_layout *l = &grid->layout;
    const int64_t slabs = grid->domain.own.end - grid->domain.own.first + l->lo[0] + l->hi[0];
    const double own = (double)(slabs * l->slab * l->element_size) + strake_arrays_beside(grid);
    return own * strake_ranks_local_count(grid->domain.ranks) *
           strake_arrays_count(&grid->graph, for_state);
}

/* What the group has for arrays beside all else that a run takes. */
static double memory_of_group(const strake_grid *grid)
{
    bool has_device = false;
    for (int p = 0; p < grid->team->parts; p++) {
        has_device = has_device || grid->team->part[p].ops->has_driver;
    }
    const int most = grid->team->deepest, usual = grid->layout.steps;
    const int64_t rings = strake_pipeline_bytes(&grid->graph, &grid->layout,
                                                most > usual ? most : usual, &grid->which->run);
    const double each =
        (double)(rings * grid->team->threads) + (has_device ? driver_memory : program_memory);
    return grid->group_memory - each * strake_ranks_local_count(grid->domain.ranks);
}

void strake_memory_look(strake_grid *grid)
{
    grid->group_memory = strake_cgroup_memory("");
}

strake_status strake_memory_check(const strake_grid *grid, strake_error *error)
{
    const double have = memory_of_machine();
    const double group = memory_of_group(grid);
    const double need = memory_needed(grid, 2);
    if (need > have) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: the fields need %.1f GiB and this machine has %.1f GiB; "
                           "use a smaller grid or precision: single",
                           need / 0x1p30, have / 0x1p30);
    }
    if (need > group) {
        return strake_fail(error, STRAKE_ERR_MEMORY,
                           "out of memory: the fields need %.3g GiB and the control group of this "
                           "process (memory.max, memory.limit_in_bytes) leaves %.3g GiB for them; "
                           "raise its limit, or use a smaller grid or precision: single",
                           need / 0x1p30, fmax(group, 0.0) / 0x1p30);
    }
    return STRAKE_OK;
}

bool strake_memory_has_room(const strake_grid *grid)
{
    const double more = memory_needed(grid, 3) - memory_needed(grid, 2);
    return memory_needed(grid, 3) <= fmin(memory_of_machine(), memory_of_group(grid)) &&
           more <= strake_cgroup_memory(""); /* devices have theirs by now */
}

bool strake_memory_has_one(const strake_grid *grid)
{
    const double one = (double)grid->layout.elements * grid->layout.element_size;
    return memory_needed(grid, 2) + one <= fmin(memory_of_machine(), memory_of_group(grid)) &&
           one <= strake_cgroup_memory("");
}

static bool shares_memory(const strake_part *part)
{
    return part->ops->has_driver &&
           (part->device->unified_memory || (part->device->type & CL_DEVICE_TYPE_CPU) != 0);
}

void strake_memory_share(const strake_grid *grid, strake_cl_list *devices)
{
    const strake_team *team = grid->team;
    const double left = memory_of_group(grid) - memory_needed(grid, 2);
    int sharing = 0;
    for (int p = 0; p < team->parts; p++) {
        sharing += shares_memory(&team->part[p]) ? 1 : 0;
    }
    sharing *= strake_ranks_local_count(grid->domain.ranks);
    for (int p = 0; p < team->parts && isfinite(left); p++) {
        if (shares_memory(&team->part[p]) &&
            (double)team->part[p].device->global_memory > left / sharing) {
            devices->device[team->part[p].number].global_memory = (uint64_t)(left / sharing);
        }
    }
}
