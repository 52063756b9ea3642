/**
 * @file interrupt.h
 * Ctrl-C, SIGTERM and a closed terminal as a question that the time loop asks between batches of steps.
 */
#ifndef STRAKE_INTERRUPT_H
#define STRAKE_INTERRUPT_H

#include <stdbool.h>

/**
 * Until strake_interrupt_install(), a signal that ends the program makes it print @p words, a whole line, on standard
 * error first. @param[in] words  kept; NULL: nothing is said
 */
void strake_interrupt_tell(const char *words);

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

/** The number of the last one that has arrived; 0: none has. */
int strake_interrupt_number(void);

/** The exit status of a program that signal @p number ended: as shells tell it, 143 for SIGTERM; else 130. */
int strake_interrupt_code(int number);

#endif
