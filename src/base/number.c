#include "base/number.h"

#include <locale.h>
#include <stdlib.h>

/* The calling thread's locale while a number is read or written; (locale_t)0 is none, and nothing changes. */
typedef struct exchange {
    locale_t plain, before;
} exchange;

/* Every locale of category "C" is one constant of the C library: nothing is allocated. */
static exchange enter(void)
{
    exchange e = {.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    e.before = e.plain != (locale_t)0 ? uselocale(e.plain) : (locale_t)0;
    return e;
}

static void leave(exchange e)
{
    if (e.plain != (locale_t)0) {
        (void)uselocale(e.before);
        freelocale(e.plain);
    }
}

double strake_number_read(const char *text, char **end)
{
    const exchange e = enter();
    const double value = strtod(text, end);
    leave(e);
    return value;
}

const char *strake_number_list(const char *text, char separator, int count, double *out)
{
    for (int k = 0; k < count; k++) {
        char *end = NULL;
        if (k > 0 && *text++ != separator) {
            return NULL;
        }
        out[k] = strake_number_read(text, &end);
        if (end == text) {
            return NULL;
        }
        text = end;
    }
    return text;
}

int strake_number_vprint(char *text, size_t size, const char *format, va_list list)
{
    const exchange e = enter();
    const int length = vsnprintf(text, size, format, list);
    leave(e);
    return length;
}

int strake_number_print(char *text, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = strake_number_vprint(text, size, format, list);
    va_end(list);
    return length;
}

int strake_number_write(FILE *stream, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const exchange e = enter();
    const int length = vfprintf(stream, format, list);
    leave(e);
    va_end(list);
    return length;
}
