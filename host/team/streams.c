/* What a user is told of parts that stream through their device. */
#include <stdio.h>

#include "team/team.h"

/* Stripe number among those that have slabs, from 1, and how many there are. */
static int count_stripes(const strake_team *team, int part, int *number)
{
    int stripes = 0;
    for (int e = 0; e < team->parts; e++) {
        stripes += team->part[e].range.first < team->part[e].range.end ? 1 : 0;
        *number = e == part ? stripes : *number;
    }
    return stripes;
}

static void tell_stripe(const strake_team *team, int e, const strake_part_report *is)
{
    char need[STRAKE_CL_BYTES_TEXT], limit[STRAKE_CL_BYTES_TEXT], taken[STRAKE_CL_BYTES_TEXT];
    char which[128], why[128];
    const strake_part *part = &team->part[e];
    const char *slabs = team->which->problem->dims == 3 ? "plane" : "row";
    int number = 0;
    const int stripes = count_stripes(team, e, &number);
    (void)snprintf(which, sizeof which, "%s: stripe %d of %d (%ss %lld to %lld)", part->name,
                   number, stripes, slabs, (long long)part->range.first,
                   (long long)part->range.end - 1);
    const strake_cl_sizes *const sizes = &is->memory.sizes;
    if (sizes->blocks == 0) {
        strake_tell(&team->notices, "%s fits in the device memory now and no longer streams",
                    which);
        return;
    }
    strake_cl_bytes_text((double)is->memory.resident, need);
    strake_cl_bytes_text((double)is->memory.limit, limit);
    if (is->memory.resident > is->memory.limit) {
        (void)snprintf(why, sizeof why, "would take %s of device memory and may take %s", need,
                       limit);
    } else {
        (void)snprintf(why, sizeof why, "could not have the %s of device memory it needs", need);
    }
    strake_tell(&team->notices,
                "%s %s, so it streams through it: %lld block%s of up to %lld %s%s, %d "
                "step%s a visit, %d stream%s, %s",
                which, why, (long long)sizes->blocks, sizes->blocks > 1 ? "s" : "",
                (long long)sizes->slabs, slabs, sizes->slabs > 1 ? "s" : "", sizes->steps,
                sizes->steps > 1 ? "s" : "", sizes->streams, sizes->streams > 1 ? "s" : "",
                strake_cl_bytes_text((double)is->memory.memory, taken));
}

void strake_notices_streams(strake_team *team)
{
    for (int e = 0; e < team->parts; e++) {
        strake_part *part = &team->part[e];
        strake_part_report is = {0};
        if (!part->ops->has_driver || part->body == NULL || team->which->run.blocks > 0) {
            continue;
        }
        strake_part_describe(part, &is);
        if ((is.memory.sizes.blocks > 0) != part->told) {
            tell_stripe(team, e, &is);
            part->told = !part->told;
        }
    }
}
