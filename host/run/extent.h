/** @file extent.h What is said of a domain and its fields to those who read them (run/kind.h). */
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

/** A particle that left its domain. */
typedef struct strake_domain_loss {
    int64_t number, step; /**< steps done when it was missed */
    double time;          /**< [s] */
    const char *kind;     /**< one word */
    int kind_number;
    double at[3]; /**< along the axes that the domain has [m] */
} strake_domain_loss;

enum { STRAKE_DOMAIN_NUMBERS = 8 };

/** What a domain is, for reports. */
typedef struct strake_domain_report {
    double items;     /**< cells, or particles, that a step updates */
    const char *item; /**< one of them in words */
    const char *rate; /**< name of their number per second, ... */
    double rate_unit; /**< ... in so many */
    int64_t slabs;
    int slab_direction;          /**< of particles: along which slabs follow each other, ... */
    double slab_low, slab_width; /**< ... where the first begins and how wide they are [m] */
    int bytes; /**< an item and step: strake_solver_bytes_per_cell() and what follows it */
    int flops, divisions, arrays;
    double memory; /**< of everything, where there are no arrays of a grid [bytes] */
    /** Where work is counted: at least what an item in a step moves and computes, and each piece of work. */
    double item_bytes, work_bytes, item_flops, work_flops;
    int numbers;
    strake_domain_number number[STRAKE_DOMAIN_NUMBERS];
    int64_t losses;                 /**< in this run */
    const strake_domain_loss *loss; /**< by step and number; borrowed until the next step */
} strake_domain_report;

#endif
