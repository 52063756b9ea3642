/* Every test program under another locale, where STRAKE_TESTS_LOCALE names one (tests/unit/locale.t). */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void take_locale(void)
{
    const char *const name = getenv("STRAKE_TESTS_LOCALE");
    if (name != NULL && setlocale(LC_ALL, name) == NULL) {
        (void)fprintf(stderr, "there is no locale %s\n", name);
        exit(1);
    }
}
