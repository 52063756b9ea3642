#include "run/part.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void strake_tell(const strake_notices *notices, const char *format, ...)
{
    char line[1024];
    if (notices->line != NULL) {
        va_list list;
        va_start(list, format);
        (void)strake_number_vprint(line, sizeof line, format, list);
        va_end(list);
        notices->line(notices->user, line);
    }
}

/*
 * What drivers of failed devices may still use: it stays where it is until the process ends. The list
 * only keeps it within reach of tools that look for leaks.
 */
typedef struct leftover {
    void *thing;
    struct leftover *next;
} leftover;

static _Atomic(leftover *) left_behind;

void strake_leave_behind(void *thing)
{
    leftover *entry = malloc(sizeof *entry);
    if (thing == NULL || entry == NULL) {
        free(entry);
        return;
    }
    entry->thing = thing;
    entry->next = atomic_load(&left_behind);
    while (!atomic_compare_exchange_weak(&left_behind, &entry->next, entry)) {
    }
}

bool strake_part_shares_device(const strake_part *a, const strake_part *b)
{
    return a->device != NULL && a->device == b->device;
}

bool strake_part_is_twin(const strake_part *a, const strake_part *b)
{
    return a->device != NULL && b->device != NULL && strcmp(a->device->name, b->device->name) == 0;
}

bool strake_part_is_gpu(const strake_part *part)
{
    return part->device != NULL && strake_cl_device_is_gpu(part->device);
}

int strake_part_device_cores(const strake_part *part, bool is_first)
{
    return strake_part_is_gpu(part) ? 1 : is_first ? (int)part->device->compute_units : 0;
}

void strake_part_describe_device(const strake_part *part, strake_precision precision,
                                 strake_part_report *out)
{
    const strake_cl_device *const device = part->device;
    (void)snprintf(out->name, sizeof out->name, "%s", device->name);
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", device->vendor);
    (void)snprintf(out->driver, sizeof out->driver, "%s", device->driver);
    out->units = (int)device->compute_units;
    out->bit_exact = device->bit_exact[precision] == 1;
}

strake_status strake_part_check(strake_part *part, strake_status status, const strake_error *error)
{
    if (status == STRAKE_ERR_DEVICE && part->ops->has_driver) {
        part->failed = true;
        (void)snprintf(part->why, sizeof part->why, "%.290s", error->text);
    }
    return status;
}

/* Whether the part is made and its table has a function. */
#define HAS(part, function) ((part)->body != NULL && (part)->ops->function != NULL)

void strake_part_unmake(strake_part *part)
{
    if (HAS(part, unmake)) {
        part->ops->unmake(part);
    }
    part->body = NULL;
    part->most_steps = 0;
    part->takes_early = false;
}

strake_status strake_part_load(strake_part *part, unsigned what, strake_error *error)
{
    return HAS(part, load) ? part->ops->load(part, what, error) : STRAKE_OK;
}

strake_status strake_part_let_go(strake_part *part, strake_error *error)
{
    return HAS(part, let_go) ? part->ops->let_go(part, error) : STRAKE_OK;
}

strake_status strake_part_store(strake_part *part, int parity, strake_error *error)
{
    return HAS(part, store) ? part->ops->store(part, parity, error) : STRAKE_OK;
}

strake_status strake_part_meet(strake_part *part, int leg, strake_error *error)
{
    return HAS(part, meet) ? part->ops->meet(part, leg, error) : STRAKE_OK;
}

strake_status strake_part_fetch(strake_part *part, int leg, int parity, strake_error *error)
{
    return HAS(part, fetch) ? part->ops->fetch(part, leg, parity, error) : STRAKE_OK;
}

strake_status strake_part_undo(strake_part *part, int steps, strake_error *error)
{
    return HAS(part, undo) ? part->ops->undo(part, steps, error) : STRAKE_OK;
}

strake_status strake_part_finish(strake_part *part, bool unpins, strake_error *error)
{
    return HAS(part, finish) ? part->ops->finish(part, unpins, error) : STRAKE_OK;
}

bool strake_part_is_alone(const strake_part *part)
{
    return !part->ops->has_driver || part->body == NULL ||
           (part->range.first == 0 && part->range.end == part->domain->slabs);
}

bool strake_part_has_room(const strake_part *part, strake_range own)
{
    if (part->ops->has_room == NULL) {
        return own.first < own.end;
    }
    return part->body != NULL && part->ops->has_room(part, own);
}

void strake_part_weigh(strake_part *part, double *work)
{
    if (HAS(part, weigh)) {
        part->leaves_out = part->ops->weigh(part, work + part->range.first);
    }
}

strake_status strake_part_give(strake_part *part, const strake_range *then, int stripes, int self,
                               strake_error *error)
{
    return HAS(part, give) ? part->ops->give(part, then, stripes, self, error) : STRAKE_OK;
}

strake_status strake_part_take(strake_part *part, const strake_range *then, int stripes, int self,
                               strake_error *error)
{
    return HAS(part, take) ? part->ops->take(part, then, stripes, self, error) : STRAKE_OK;
}

double strake_part_busy(strake_part *part)
{
    return HAS(part, busy) ? part->ops->busy(part) : 0.0;
}

strake_status strake_part_intact(strake_part *part, bool *intact, strake_error *error)
{
    return HAS(part, check) ? part->ops->check(part, intact, error) : STRAKE_OK;
}

strake_status strake_part_record(strake_part *part, strake_cl_record *record, strake_error *error)
{
    return HAS(part, record) ? part->ops->record(part, record, error) : STRAKE_OK;
}

strake_status strake_part_time(strake_part *part, strake_cl_time *out, int *count,
                               strake_error *error)
{
    *count = 0;
    return HAS(part, time) ? part->ops->time(part, out, count, error) : STRAKE_OK;
}

void strake_part_describe(const strake_part *part, strake_part_report *out)
{
    part->ops->describe(part, out);
}
