#include "case/groups.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number of work-items; 0 where there is none. */
static int read_number(const char **at)
{
    char *end = NULL;
    const long number = isdigit((unsigned char)**at) != 0 ? strtol(*at, &end, 10) : 0;
    *at = end != NULL ? end : *at;
    return number >= 1 && number <= STRAKE_GROUP_MOST ? (int)number : 0;
}

int strake_groups_read(const char *text, strake_group out[STRAKE_MOST_GROUPS])
{
    const char *at = text;
    for (int count = 0; count < STRAKE_MOST_GROUPS; at++) {
        strake_group group = {0, 0};
        if (strncmp(at, "auto", 4) == 0) {
            at += 4;
        } else {
            group.width = read_number(&at);
            const char sign = *at;
            at += sign == 'x' ? 1 : 0;
            group.height = sign == 'x' ? read_number(&at) : 0;
            if (group.width == 0 || group.height == 0) {
                return -1;
            }
        }
        out[count++] = group;
        if (*at == '\0') {
            return count;
        }
        if (*at != '/') {
            return -1;
        }
    }
    return -1;
}

const char *strake_groups_print(int count, const strake_group *group,
                                char buffer[STRAKE_GROUPS_TEXT])
{
    size_t used = 0;
    buffer[0] = '\0';
    count = count < STRAKE_MOST_GROUPS ? count : STRAKE_MOST_GROUPS;
    while (count > 0 && group[count - 1].width == 0) {
        count--;
    }
    for (int k = 0; k < count; k++) {
        const char *const sign = k > 0 ? "/" : "";
        (void)(group[k].width > 0
                   ? snprintf(buffer + used, STRAKE_GROUPS_TEXT - used, "%s%dx%d", sign,
                              group[k].width, group[k].height)
                   : snprintf(buffer + used, STRAKE_GROUPS_TEXT - used, "%sauto", sign));
        used += strlen(buffer + used);
    }
    return buffer;
}
