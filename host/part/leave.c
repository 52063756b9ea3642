#include "part/leave.h"

#include <stdatomic.h>
#include <stdlib.h>

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
