/* Words that all formats use. */
#include "output/format.h"

#include <stdio.h>
#include <string.h>

void strake_format_name(const char *field, int64_t step, const char *suffix,
                        char file[STRAKE_FORMAT_FILE])
{
    (void)snprintf(file, STRAKE_FORMAT_FILE, "%s_%08lld.%s", field, (long long)step, suffix);
}

const char *strake_format_axis(int dims, int axis)
{
    return axis == 2 ? "y" : dims == 3 && axis == 0 ? "z" : "x";
}

void strake_format_unit(const char *unit, char *out, size_t size)
{
    const size_t length = strlen(unit);
    const bool is_number =
        strcmp(unit, "[-]") == 0 || strcmp(unit, "[any]") == 0 || length < sizeof "[]";
    (void)snprintf(out, size, "%.*s", is_number ? 0 : (int)(length - 2), unit + 1);
}
