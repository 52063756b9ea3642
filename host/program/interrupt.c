#include "program/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "program/say.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static volatile sig_atomic_t arrived; /* number of the last signal, 0: none came */
static struct sigaction before[NUMBERS];
static bool remembers, installed;
static const char *last_words;
static pid_t speaker;

/*
 * A later signal ends the program at once: a step may hang in a driver. One that follows within a second is the same
 * request: timeout(1), launchers and batch systems signal a process and then its whole group.
 */
static void note(int number)
{
    static atomic_llong first; /* [ms], 0: none came; threads may run this at the same time */
    long long none = 0;
    const long long now = (long long)(strake_clock_seconds() * 1000.0) + 1;
    arrived = number;
    if (!atomic_compare_exchange_strong(&first, &none, now) && now - none >= 1000) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

/* A process that was forked during the set-up ends without words: its parent says them. */
static void tell_and_end(int number)
{
    if (getpid() == speaker && last_words != NULL) {
        const ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
        (void)ignored;
    }
    (void)raise(number); /* SA_RESETHAND: it ends the process now */
}

/* What each signal did before this program changed it. */
static void remember(void)
{
    for (int k = 0; k < NUMBERS && !remembers; k++) {
        if (sigaction(numbers[k], NULL, &before[k]) != 0) {
            before[k].sa_handler = SIG_DFL;
        }
    }
    remembers = true;
}

void strake_interrupt_tell(const char *words)
{
    struct sigaction action = {.sa_handler = tell_and_end, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    remember();
    last_words = words;
    speaker = getpid();
    for (int k = 0; k < NUMBERS; k++) {
        if (before[k].sa_handler == SIG_DFL) {
            (void)sigaction(numbers[k], &action, NULL);
        }
    }
}

void strake_interrupt_install(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    remember();
    for (int k = 0; k < NUMBERS && !installed; k++) {
        /* A closed terminal: under nohup it is ignored, and stays so. */
        if (numbers[k] != SIGHUP || before[k].sa_handler != SIG_IGN) {
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

int strake_interrupt_number(void)
{
    return (int)arrived;
}

int strake_interrupt_code(int number)
{
    return number == SIGTERM ? STRAKE_EXIT_TERMINATED : STRAKE_EXIT_INTERRUPTED;
}

bool strake_interrupted_by(void *nobody)
{
    (void)nobody;
    return strake_interrupted();
}
