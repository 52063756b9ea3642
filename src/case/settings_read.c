/* Reading the run.* keys of a case. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/settings.h"
#include "case/where.h"

static strake_status out_of_memory(const strake_node *node, strake_error *error)
{
    return strake_fail(error, STRAKE_ERR_MEMORY, "%s: no memory to read it", node->origin);
}

/* One entry of WHERE. */
static bool is_place(const char *word, bool alone)
{
    static const char *const single[] = {"serial", "gpu", "hybrid", "auto"};
    for (size_t k = 0; k < sizeof single / sizeof single[0]; ++k) {
        if (strcmp(word, single[k]) == 0) {
            return alone;
        }
    }
    bool is_gpu = false;
    return strcmp(word, "cpu") == 0 || strake_where_device(word, &is_gpu) >= 0;
}

/* The grammar of WHERE; which devices exist is found out when the case runs. Blanks are dropped. */
static strake_status read_where(const strake_node *node, char **out, strake_error *error)
{
    static const char expected[] =
        "serial, gpu, hybrid, auto, or a list of cpu, gpu:N and ocl:N such as cpu,gpu:0";
    strake_status status = STRAKE_OK;
    const char *text = NULL;
    char *copy = NULL;
    size_t used = 0;
    bool alone = false;
    STRAKE_TRY(strake_read_text(node, expected, &text, error));
    copy = strdup(text);
    STRAKE_CHECK(copy != NULL, error, STRAKE_ERR_MEMORY, "%s: no memory to read it", node->origin);
    for (const char *at = text; *at != '\0'; ++at) {
        if (*at != ' ' && *at != '\t') {
            copy[used++] = *at;
        }
    }
    copy[used] = '\0';
    alone = strchr(copy, ',') == NULL;
    for (const char *at = copy; at != NULL;) {
        const size_t length = strcspn(at, ",");
        char word[32];
        char hint[100];
        strake_words words = {0};
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (length >= sizeof word || !is_place(word, alone)) {
            strake_words_add_choices(&words, alone ? "serial|gpu|hybrid|auto|cpu|gpu:0|ocl:0"
                                                   : "cpu|gpu:0|ocl:0");
            status = strake_node_unlike(node, error, "%s%s", expected,
                                        strake_words_hint(&words, word, hint, sizeof hint));
            goto cleanup;
        }
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *out = copy;
    copy = NULL;

cleanup:
    free(copy);
    return status;
}

/* Appends one weight and its sum; false if it is none. */
static bool add_weight(const char *text, char *list, size_t size, double *sum)
{
    double weight = 0.0;
    size_t used = strlen(list);
    const size_t length = strlen(text);
    if (!strake_text_real(text, &weight) || weight < 0.0 || used + length + 2 > size) {
        return false;
    }
    if (used > 0) {
        list[used++] = ',';
    }
    memcpy(list + used, text, length + 1);
    *sum += weight;
    return true;
}

/* @param[in] each  what has a weight, in words */
static strake_status read_weights(const strake_node *node, const char *each, char **out,
                                  strake_error *error)
{
    char list[2000] = "";
    double sum = 0.0;
    bool good = node->kind == STRAKE_NODE_LIST || node->kind == STRAKE_NODE_SCALAR;
    if (node->kind == STRAKE_NODE_LIST) {
        for (const strake_node *item = node->child; item != NULL; item = item->next) {
            if (item->kind != STRAKE_NODE_SCALAR ||
                !add_weight(item->text, list, sizeof list, &sum)) {
                return strake_node_unlike(item, error, "a weight >= 0");
            }
        }
    } else if (good) {
        const char *at = node->text;
        while (good && at != NULL) {
            char weight[64];
            at += strspn(at, " ");
            const size_t length = strcspn(at, ", ");
            (void)snprintf(weight, sizeof weight, "%.*s", (int)length, at);
            good = length < sizeof weight && add_weight(weight, list, sizeof list, &sum);
            at += length;
            at += strspn(at, " ");
            good = good && (*at == ',' || *at == '\0');
            at = *at == ',' ? at + 1 : NULL;
        }
    }
    if (!good || !(sum > 0.0) || !isfinite(sum)) {
        char expected[120];
        (void)snprintf(expected, sizeof expected,
                       "weights >= 0 with a positive sum, one per %s: [1, 2] or \"1,2\"", each);
        return strake_node_unlike(node, error, "%s", expected);
    }
    *out = strdup(list);
    return *out != NULL ? STRAKE_OK : out_of_memory(node, error);
}

static strake_status read_groups(const strake_node *node, char *out, strake_error *error)
{
    strake_group group[STRAKE_MOST_GROUPS];
    const int count = node->kind == STRAKE_NODE_SCALAR ? strake_groups_read(node->text, group) : -1;
    if (count < 0) {
        return strake_node_unlike(node, error, STRAKE_GROUPS_EXPECTED);
    }
    (void)strake_groups_print(count, group, out);
    return STRAKE_OK;
}

static strake_status read_even(const strake_node *node, const strake_limits *range, int64_t *out,
                               strake_error *error)
{
    const strake_status status = strake_read_integer(node, range, out, error);
    if (status == STRAKE_OK && *out > 1 && *out % 2 != 0) {
        return strake_node_fail(node, error, "found %lld, expected " STRAKE_EVEN_EXPECTED,
                                (long long)*out, range->maximum, range->unit);
    }
    return status;
}

static strake_status read_folder(const strake_node *node, const char *folder, char **out,
                                 strake_error *error)
{
    const char *name = NULL;
    const strake_status status = strake_read_text(node, "the name of a folder", &name, error);
    if (status == STRAKE_OK) {
        *out = strake_path_from(folder, name);
        return *out != NULL ? STRAKE_OK : out_of_memory(node, error);
    }
    return status;
}

/* Reads a key that is there. */
static strake_status read_given(const strake_setting *setting, const strake_node *node,
                                const char *folder, void *to, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int64_t integer = 0;
    int choice = 0;
    switch (setting->kind) {
    case STRAKE_SETTING_WHERE:
        return read_where(node, to, error);
    case STRAKE_SETTING_WEIGHTS:
        return read_weights(
            node, setting->applies == STRAKE_FOR_RANKS ? "rank of mpirun" : "entry of run.on", to,
            error);
    case STRAKE_SETTING_FOLDER:
        return read_folder(node, folder, to, error);
    case STRAKE_SETTING_BOOLEAN:
        return strake_read_boolean(node, to, error);
    case STRAKE_SETTING_REAL:
        return strake_read_real(node, &setting->range, to, error);
    case STRAKE_SETTING_GROUPS:
        return read_groups(node, to, error);
    case STRAKE_SETTING_BYTES:
        return strake_read_bytes(node, to, error);
    case STRAKE_SETTING_WORD:
        return strake_read_choice(node, setting->words, to, error);
    case STRAKE_SETTING_WIDTH:
        STRAKE_TRY(strake_read_choice(node, "0|1|2|4", &choice, error));
        *(int *)to = choice == 3 ? 4 : choice;
        break;
    case STRAKE_SETTING_EVEN:
        STRAKE_TRY(read_even(node, &setting->range, &integer, error));
        *(int *)to = (int)integer;
        break;
    case STRAKE_SETTING_NUMBER:
        STRAKE_TRY(strake_read_integer(node, &setting->range, &integer, error));
        *(int *)to = (int)integer;
        break;
    }
cleanup:
    return status;
}

static void set_fallback(const strake_setting *setting, void *to)
{
    switch (setting->kind) {
    case STRAKE_SETTING_BOOLEAN:
        *(bool *)to = setting->fallback > 0.0;
        break;
    case STRAKE_SETTING_REAL:
        *(double *)to = setting->fallback;
        break;
    default:
        break; /* texts that are not given, and zeros */
    }
}

strake_status strake_settings_read(strake_node *root, const char *folder, strake_settings *out,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    memset(out, 0, sizeof *out);
    for (const strake_setting *at = strake_setting_table; at->path != NULL; at++) {
        const strake_node *const node = strake_node_find(root, at->path);
        void *const to = (char *)out + at->offset;
        set_fallback(at, to);
        if (node != NULL) {
            STRAKE_TRY(read_given(at, node, folder, to, error));
        }
    }
cleanup:
    return status;
}
