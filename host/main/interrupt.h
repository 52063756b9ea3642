/**
 * @file interrupt.h
 * Ctrl-C, SIGTERM and a closed terminal as a question that the time loop asks between batches of steps.
 */
#ifndef STRAKE_INTERRUPT_H
#define STRAKE_INTERRUPT_H

#include <stdbool.h>

/**
 * From now on SIGINT, SIGTERM and SIGHUP (unless ignored, as under nohup) only set a flag, and a closed
 * pipe is a write error.
 */
void strake_interrupt_install(void);

/**
 * From now on they end the program again: nobody asks any more. @return whether one had arrived
 */
bool strake_interrupt_end(void);

/** Whether one has arrived; and the same for those who ask through a callback. */
bool strake_interrupted(void);
bool strake_interrupted_by(void *nobody);

#endif
