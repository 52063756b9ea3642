#include "part/notice.h"

#include <stdarg.h>
#include <time.h>

#include "base/number.h"

double strake_solver_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
