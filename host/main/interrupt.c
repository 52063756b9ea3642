#include "main/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static volatile sig_atomic_t arrived;
static struct sigaction before[NUMBERS];
static bool installed;

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
    for (int k = 0; k < NUMBERS && !installed; k++) {
        /* A closed terminal: under nohup it is ignored, and stays so. */
        const bool known = sigaction(numbers[k], NULL, &before[k]) == 0;
        if (numbers[k] != SIGHUP || (known && before[k].sa_handler != SIG_IGN)) {
            (void)sigaction(numbers[k], &action, NULL);
        }
    }
    installed = true;
    (void)signal(SIGPIPE, SIG_IGN);
}

bool strake_interrupt_end(void)
{
    for (int k = 0; k < NUMBERS && installed; k++) {
        (void)sigaction(numbers[k], &before[k], NULL);
    }
    installed = false;
    return strake_interrupted();
}

bool strake_interrupted(void)
{
    return arrived != 0;
}

bool strake_interrupted_by(void *nobody)
{
    (void)nobody;
    return strake_interrupted();
}
