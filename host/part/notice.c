#include "part/notice.h"

#include <stdarg.h>

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
