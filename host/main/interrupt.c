#include "main/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t arrived;

static void note(int number)
{
    (void)number;
    arrived = 1;
}

void strake_interrupt_install(void)
{
    /* The second signal ends the program at once: a step may hang in a driver. */
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* A closed terminal; under nohup it is ignored, and stays so. */
    struct sigaction closed;
    if (sigaction(SIGHUP, NULL, &closed) == 0 && closed.sa_handler != SIG_IGN) {
        (void)sigaction(SIGHUP, &action, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

bool strake_interrupted(void)
{
    return arrived != 0;
}
