/** @file machine.h The host as reports and `strake devices` show it. */
#ifndef STRAKE_MACHINE_H
#define STRAKE_MACHINE_H

#include <stdint.h>

typedef struct strake_machine {
    char cpu[128]; /**< model name */
    char vendor[64];
    char os[256];                   /**< name, release, architecture */
    int cores;                      /**< logical cores this process may use */
    int sockets, nodes;             /**< 0 where unknown; nodes of non-uniform memory */
    int64_t level1, level2, level3; /**< data caches of the first core [bytes], 0 where unknown */
    int64_t memory;                 /**< main memory [bytes], 0 where unknown */
} strake_machine;

void strake_machine_read(strake_machine *machine);

/** The compiler that built this program. */
const char *strake_machine_compiler(void);

#endif
