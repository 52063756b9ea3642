#include "case/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/keys.h"

static bool is_tunable(const strake_common *common)
{
    return (common->kind == STRAKE_COMMON_SMALL || common->kind == STRAKE_COMMON_WIDTH ||
            common->kind == STRAKE_COMMON_EVEN || common->kind == STRAKE_COMMON_GROUPS ||
            strake_common_words(common->kind) != NULL) &&
           strncmp(common->path, "run.", 4) == 0 && common->fallback == 0.0 &&
           common->range.minimum <= 0.0;
}

static const strake_common *find(const char *path)
{
    for (int k = 0; k < strake_common_count; k++) {
        if (is_tunable(&strake_commons[k]) && strcmp(strake_commons[k].path, path) == 0) {
            return &strake_commons[k];
        }
    }
    return NULL;
}

/* The number that stands for a value; -1 where it is not legal. */
static int number_of(const strake_common *common, const char *value)
{
    char *end = NULL;
    const char *const choices = strake_common_words(common->kind);
    if (choices != NULL) {
        strake_words words = {0};
        strake_words_add_choices(&words, choices);
        for (int k = 0; k < words.count; k++) {
            if (strcmp(words.word[k], value) == 0) {
                return k;
            }
        }
        return -1;
    }
    const long number = strtol(value, &end, 10);
    const bool good = end != value && *end == '\0' && number >= 0 &&
                      (double)number <= common->range.maximum && number <= INT32_MAX &&
                      (common->kind != STRAKE_COMMON_WIDTH || number != 3) &&
                      (common->kind != STRAKE_COMMON_EVEN || number <= 1 || number % 2 == 0);
    return good ? (int)number : -1;
}

bool strake_setting_is_tunable(const char *path)
{
    return find(path) != NULL;
}

bool strake_setting_is_legal(const char *path, const char *value)
{
    const strake_common *const common = find(path);
    strake_group group[STRAKE_MOST_GROUPS];
    if (common != NULL && common->kind == STRAKE_COMMON_GROUPS) {
        return strake_groups_read(value, group) >= 0;
    }
    return common != NULL && number_of(common, value) >= 0;
}

/* The number, or of a text whether there is one. */
static int stored(const strake_case *which, const strake_common *common)
{
    int number = 0;
    if (common->kind == STRAKE_COMMON_GROUPS) {
        return which->groups[0] != '\0';
    }
    memcpy(&number, (const char *)which + common->offset, sizeof number);
    return number;
}

bool strake_setting_is_given(const strake_case *which, const char *path)
{
    const strake_common *const common = find(path);
    return common != NULL && stored(which, common) != 0;
}

const char *strake_setting_text(const strake_case *which, const char *path, char *buffer,
                                size_t size)
{
    const strake_common *const common = find(path);
    const int number = common != NULL ? stored(which, common) : 0;
    const char *const choices = common != NULL ? strake_common_words(common->kind) : NULL;
    if (common != NULL && common->kind == STRAKE_COMMON_GROUPS) {
        (void)snprintf(buffer, size, "%s", which->groups);
    } else if (choices != NULL) {
        strake_words words = {0};
        strake_words_add_choices(&words, choices);
        (void)snprintf(buffer, size, "%s", number < words.count ? words.word[number] : "");
    } else {
        (void)snprintf(buffer, size, "%d", number);
    }
    return buffer;
}

bool strake_setting_set(strake_case *which, const char *path, const char *value)
{
    const strake_common *const common = find(path);
    strake_group group[STRAKE_MOST_GROUPS];
    if (common != NULL && common->kind == STRAKE_COMMON_GROUPS) {
        const int count = strake_groups_read(value, group);
        if (count >= 0) {
            (void)strake_groups_print(count, group, which->groups);
        }
        return count >= 0;
    }
    const int number = common != NULL ? number_of(common, value) : -1;
    if (number < 0) {
        return false;
    }
    memcpy((char *)which + common->offset, &number, sizeof number);
    return true;
}
