#include "bench/roofs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Index in the list of a placement "ocl:N", -1 for the processors of the host. */
static int device_of(const strake_part_report *part)
{
    return strncmp(part->id, "ocl:", 4) == 0 ? (int)strtol(part->id + 4, NULL, 10) : -1;
}

static void tell(const strake_roofs *roofs, const strake_error *cause)
{
    char line[sizeof cause->text + 32];
    if (roofs->notice != NULL) {
        (void)snprintf(line, sizeof line, "no roof: %s", cause->text);
        roofs->notice(roofs->user, line);
    }
}

static double look_up(strake_roofs *roofs, int device, int threads)
{
    strake_error error;
    double rate = (double)NAN;
    for (int k = 0; k < roofs->count; k++) {
        if (roofs->roof[k].device == device && roofs->roof[k].threads == threads) {
            return roofs->roof[k].bytes_per_second;
        }
    }
    const strake_status status =
        device < 0
            ? strake_roof_host(threads, &rate, &error)
            : strake_roof_device(roofs->list->cl, &roofs->list->device[device], &rate, &error);
    if (status != STRAKE_OK) {
        tell(roofs, &error);
    }
    if (roofs->count < STRAKE_ROOFS) {
        roofs->roof[roofs->count++] =
            (strake_roof){.device = device, .threads = threads, .bytes_per_second = rate};
    }
    return rate;
}

void strake_roofs_apply(strake_roofs *roofs, strake_bench *bench)
{
    for (int k = 0; k < bench->items; k++) {
        strake_bench_item *const item = &bench->item[k];
        double sum = 0.0, host = 0.0;
        item->roof = (double)NAN;
        for (int p = 0; p < item->parts && item->status == STRAKE_OK; p++) {
            const int device = device_of(&item->part[p]);
            const double own = look_up(roofs, device, device < 0 ? item->part[p].threads : 0);
            if (device >= 0 && strake_cl_device_is_gpu(&roofs->list->device[device])) {
                sum += own;
            } else {
                host = own > host || isnan(own) ? own : host;
            }
        }
        if (item->parts > 0 && sum + host > 0.0) {
            item->roof = sum + host;
        }
    }
}
