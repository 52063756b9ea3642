#include "base/clock.h"

const char *strake_clock_utc(time_t moment, char text[32])
{
    struct tm utc;
    text[0] = '\0';
    if (gmtime_r(&moment, &utc) != NULL) {
        (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    return text;
}
