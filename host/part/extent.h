/** @file extent.h What is said of a domain and its fields to those who read them (team/kind.h). */
#ifndef STRAKE_EXTENT_H
#define STRAKE_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How large a field is, as users see it and as it is read in pieces. */
typedef struct strake_extent {
    int dims;         /**< 1 to 3 */
    int64_t shape[3]; /**< slowest first; unused ones 1 */
    int64_t slabs;    /**< that it consists of */
    size_t bytes;     /**< of a slab */
} strake_extent;

/** Something that is counted of a domain. */
typedef struct strake_domain_number {
    const char *name, *text; /**< static; the name is one word */
    double value;
    bool is_work; /**< done in this run: also of interest per second */
} strake_domain_number;

enum { STRAKE_DOMAIN_NUMBERS = 8 };

/** What a domain is, for reports. */
typedef struct strake_domain_report {
    double items;     /**< cells, or particles, that a step updates */
    const char *item; /**< one of them in words */
    const char *rate; /**< name of their number per second, ... */
    double rate_unit; /**< ... in so many */
    int64_t slabs;
    int bytes; /**< of a grid: strake_solver_bytes_per_cell() and what follows it */
    int flops, divisions, arrays;
    int numbers;
    strake_domain_number number[STRAKE_DOMAIN_NUMBERS];
} strake_domain_report;

#endif
