/* The table of run.* keys, and their values as texts. */
#include "case/settings.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "engine/layout.h"

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

enum { PREFIX = 4, MOST_DIGITS = 4 };

bool strake_where_is_device(const char *word)
{
    return strncmp(word, "ocl:", PREFIX) == 0 || strncmp(word, "gpu:", PREFIX) == 0;
}

int strake_where_device(const char *word, bool *is_gpu)
{
    *is_gpu = word[0] == 'g';
    if (!strake_where_is_device(word)) {
        return -1;
    }
    const size_t digits = strspn(word + PREFIX, "0123456789");
    const bool good = digits > 0 && digits <= MOST_DIGITS && word[PREFIX + digits] == '\0';
    return good ? (int)strtol(word + PREFIX, NULL, 10) : -1;
}

enum {
    TEAM = STRAKE_FOR_TEAM,
    SLICES = STRAKE_FOR_SLICES,
    CPU = STRAKE_FOR_CPU,
    OPENCL = STRAKE_FOR_OPENCL,
    PARTICLES = STRAKE_FOR_PARTICLES,
    SWARMS = STRAKE_FOR_SWARMS,
    RANKS = STRAKE_FOR_RANKS,
    BORDERS = STRAKE_FOR_BORDERS,
    SEVERAL = STRAKE_FOR_SEVERAL,
    BLOCKS = STRAKE_FOR_BLOCKS,
    MARCHING = STRAKE_FOR_MARCHING,
    TILED = STRAKE_FOR_TILED,
    UNTILED = STRAKE_FOR_UNTILED,
    LIMITS = STRAKE_FOR_LIMITS,
    KERNELS = STRAKE_FOR_KERNELS,
    TUNER = STRAKE_FOR_TUNER
};

#define ANY .range = {-INFINITY, INFINITY, false, NULL}
#define UP_TO(most, unit) .range = {0.0, most, false, unit}
#define ABOVE_ZERO(unit) .range = {0.0, INFINITY, true, unit}
#define WORDS(list) .words = list

const strake_setting strake_setting_table[] = {
#define SETTING(key, member, legal, usual, in_words, bits, help)                                   \
    {.path = "run." #member,                                                                       \
     .name = #member,                                                                              \
     .kind = STRAKE_SETTING_##key,                                                                 \
     .offset = offsetof(strake_settings, member),                                                  \
     .fallback = usual,                                                                            \
     .otherwise = in_words,                                                                        \
     .applies = bits,                                                                              \
     .text = help,                                                                                 \
     legal},
#include "case/settings.inc"
#undef SETTING
    {.path = NULL}};

const strake_setting *strake_setting_find(const char *path)
{
    const strake_setting *setting = strake_setting_table;
    while (setting->path != NULL && strcmp(setting->path, path) != 0) {
        setting++;
    }
    return setting->path != NULL ? setting : NULL;
}

static const strake_setting *find_tunable(const char *path)
{
    const strake_setting *const setting = strake_setting_find(path);
    return setting != NULL && (setting->applies & TUNER) != 0 ? setting : NULL;
}

bool strake_setting_is_tunable(const char *path)
{
    return find_tunable(path) != NULL;
}

/* The number that stands for a value of a key that may be tuned; -1 where it is not legal. */
static int number_of(const strake_setting *setting, const char *value)
{
    char *end = NULL;
    if (setting->kind == STRAKE_SETTING_WORD) {
        strake_words words = {0};
        int k = 0;
        strake_words_add_choices(&words, setting->words);
        while (k < words.count && strcmp(words.word[k], value) != 0) {
            k++;
        }
        return k < words.count ? k : -1;
    }
    const long number = strtol(value, &end, 10);
    const bool good = end != value && *end == '\0' && number >= 0 &&
                      (double)number <= setting->range.maximum && number <= INT32_MAX &&
                      (setting->kind != STRAKE_SETTING_WIDTH || number != 3) &&
                      (setting->kind != STRAKE_SETTING_EVEN || number <= 1 || number % 2 == 0);
    return good ? (int)number : -1;
}

bool strake_setting_is_legal(const char *path, const char *value)
{
    strake_settings ignored = {.on = NULL};
    return strake_setting_set(&ignored, path, value);
}

bool strake_setting_set(strake_settings *settings, const char *path, const char *value)
{
    const strake_setting *const setting = find_tunable(path);
    if (setting == NULL) {
        return false;
    }
    void *const member = (char *)settings + setting->offset;
    if (setting->kind == STRAKE_SETTING_GROUPS) {
        strake_group group[STRAKE_MOST_GROUPS];
        const int count = strake_groups_read(value, group);
        if (count >= 0) {
            (void)strake_groups_print(count, group, member);
        }
        return count >= 0;
    }
    const int number = number_of(setting, value);
    if (number >= 0) {
        *(int *)member = number;
    }
    return number >= 0;
}

/* The value of a key that is no text. */
static double value_of(const strake_settings *settings, const strake_setting *setting)
{
    const void *const member = (const char *)settings + setting->offset;
    switch (setting->kind) {
    case STRAKE_SETTING_BOOLEAN:
        return *(const bool *)member ? 1.0 : 0.0;
    case STRAKE_SETTING_REAL:
        return *(const double *)member;
    case STRAKE_SETTING_BYTES:
        return (double)*(const int64_t *)member;
    default:
        return *(const int *)member;
    }
}

static bool is_owned_text(const strake_setting *setting)
{
    return setting->kind == STRAKE_SETTING_WHERE || setting->kind == STRAKE_SETTING_WEIGHTS ||
           setting->kind == STRAKE_SETTING_FOLDER;
}

/* The text of a key that has one; NULL: it is not given. */
static const char *text_of(const strake_settings *settings, const strake_setting *setting)
{
    const char *const member = (const char *)settings + setting->offset;
    return is_owned_text(setting) ? *(char *const *)(const void *)member
           : *member != '\0'      ? member
                                  : NULL;
}

bool strake_setting_is_number(const strake_setting *setting)
{
    return !is_owned_text(setting) && setting->kind != STRAKE_SETTING_GROUPS &&
           setting->kind != STRAKE_SETTING_WORD && setting->kind != STRAKE_SETTING_BOOLEAN;
}

bool strake_setting_is_given(const strake_settings *settings, const strake_setting *setting)
{
    return is_owned_text(setting) || setting->kind == STRAKE_SETTING_GROUPS
               ? text_of(settings, setting) != NULL
               : value_of(settings, setting) < setting->fallback ||
                     value_of(settings, setting) > setting->fallback;
}

const char *strake_setting_text(const strake_settings *settings, const strake_setting *setting,
                                char *buffer, size_t size)
{
    if (is_owned_text(setting) || setting->kind == STRAKE_SETTING_GROUPS) {
        const char *const text = text_of(settings, setting);
        (void)snprintf(buffer, size, "%s", text != NULL ? text : "");
    } else if (setting->kind == STRAKE_SETTING_WORD) {
        strake_words words = {0};
        const int index = (int)value_of(settings, setting);
        strake_words_add_choices(&words, setting->words);
        (void)snprintf(buffer, size, "%s", index < words.count ? words.word[index] : "");
    } else if (setting->kind == STRAKE_SETTING_BOOLEAN) {
        (void)snprintf(buffer, size, "%s", value_of(settings, setting) > 0.0 ? "true" : "false");
    } else {
        (void)strake_number_print(buffer, size, "%.15g", value_of(settings, setting));
    }
    return buffer;
}

const char *strake_setting_type(const strake_setting *setting, char *buffer, size_t size)
{
    strake_words words = {0};
    switch (setting->kind) {
    case STRAKE_SETTING_WHERE:
    case STRAKE_SETTING_FOLDER:
        (void)snprintf(buffer, size, "text");
        break;
    case STRAKE_SETTING_WEIGHTS:
        (void)snprintf(buffer, size, "list of numbers, or text");
        break;
    case STRAKE_SETTING_BOOLEAN:
        (void)snprintf(buffer, size, "true or false");
        break;
    case STRAKE_SETTING_WORD:
        strake_words_add_choices(&words, setting->words);
        (void)snprintf(buffer, size, "%s", words.list);
        break;
    case STRAKE_SETTING_EVEN:
        (void)snprintf(buffer, size, STRAKE_EVEN_EXPECTED, setting->range.maximum,
                       setting->range.unit);
        break;
    case STRAKE_SETTING_WIDTH:
        (void)snprintf(buffer, size, "0, 1, 2 or 4 %s", setting->range.unit);
        break;
    case STRAKE_SETTING_GROUPS:
        (void)snprintf(buffer, size, STRAKE_GROUPS_EXPECTED);
        break;
    case STRAKE_SETTING_BYTES:
        (void)snprintf(buffer, size, STRAKE_BYTES_EXPECTED);
        break;
    case STRAKE_SETTING_REAL:
    case STRAKE_SETTING_NUMBER:
        (void)strake_limits_text(&setting->range, setting->kind == STRAKE_SETTING_NUMBER, buffer,
                                 size);
        break;
    }
    return buffer;
}

/* The members that are texts of their own: frees them, if wanted, and forgets them. */
static void drop_texts(strake_settings *settings, bool owned)
{
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        if (is_owned_text(at)) {
            char **const text = (char **)(void *)((char *)settings + at->offset);
            if (owned) {
                free(*text);
            }
            *text = NULL;
        }
    }
}

void strake_settings_detach(strake_settings *copy)
{
    drop_texts(copy, false);
}

void strake_settings_free(strake_settings *settings)
{
    drop_texts(settings, true);
}
