/**
 * @file groups.h
 * run.groups: sizes of work-groups kernel by kernel, as text: "64x4/auto/128x1".
 */
#ifndef STRAKE_CASE_GROUPS_H
#define STRAKE_CASE_GROUPS_H

#include <stddef.h>

enum {
    STRAKE_MOST_GROUPS = 24,  /**< kernels that can have a size of their own */
    STRAKE_GROUP_MOST = 4096, /**< work-items along an axis */
    STRAKE_GROUPS_TEXT = 240  /**< room for the longest list, with its terminator */
};

/** Work-items of a kernel's groups; zeros ("auto"): what run.group_width and run.group_height say. */
typedef struct strake_group {
    int width, height;
} strake_group;

/** What a list looks like, for messages. */
#define STRAKE_GROUPS_EXPECTED                                                                     \
    "for each kernel in launch order WIDTHxHEIGHT (1 to 4096 each) or auto, such as "              \
    "64x4/auto/128x1, at most 24"

/** Reads a list. @return how many kernels it names; -1 where it is none. */
int strake_groups_read(const char *text, strake_group out[STRAKE_MOST_GROUPS]);

/** The text of @p count sizes, without those at the end that are auto. Returns @p buffer. */
const char *strake_groups_print(int count, const strake_group *group,
                                char buffer[STRAKE_GROUPS_TEXT]);

#endif
