/** @file compiling.h That kernels are being compiled: a bar on a terminal, lines otherwise, on stderr. */
#ifndef STRAKE_COMPILING_H
#define STRAKE_COMPILING_H

/**
 * For strake_options.compiling and strake_cl_watch: shows what takes longer than a second, from a thread of
 * its own, since the caller waits for the driver. Silent with --quiet.
 */
void strake_compiling(void *user, const char *device, int number, int of);

#endif
