#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/number.h"

const char *strake_status_text(strake_status status)
{
    static const char *const text[] = {
#define X(name, description) description,
        STRAKE_STATUS_LIST(X)
#undef X
    };
    const size_t count = sizeof text / sizeof text[0];
    return (size_t)status < count ? text[status] : "unknown status";
}

strake_status strake_fail(strake_error *error, strake_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list list;
        va_start(list, format);
        error->status = status;
        (void)strake_number_vprint(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return status;
}
