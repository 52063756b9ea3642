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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Short decimal numbers, of which grids have millions: a whole number below 2^53 and a power of ten up to 10^22 are
 * doubles, so one operation on them rounds as strtod() does. @return false for everything else
 */
static bool read_short(const char *text, char **end, double *out)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text + (*text == '-' ? 1 : 0);
    int64_t digits = 0;
    int count = 0, places = 0;
    for (; is_digit(*at) && count <= 15; at++, count++) {
        digits = 10 * digits + (*at - '0');
    }
    if (*at == '.' && count > 0) {
        for (at++; is_digit(*at) && count <= 15; at++, count++, places++) {
            digits = 10 * digits + (*at - '0');
        }
    }
    /* An exponent, a hexadecimal number, more digits or a second point: somebody else knows. */
    if (count == 0 || count > 15 || is_digit(*at) || *at == 'e' || *at == 'E' || *at == 'x' ||
        *at == 'X') {
        return false;
    }
    *out = (double)digits / power[places];
    *out = *text == '-' ? -*out : *out;
    if (end != NULL) {
        *end = (char *)at; /* as strtod() */
    }
    return true;
}

double strake_number_read(const char *text, char **end)
{
    double number = 0.0;
    if (read_short(text, end, &number)) {
        return number;
    }
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
