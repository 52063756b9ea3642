/** @file page.h Where things are on the page of a benchmark, and their colours; only for host/bench/. */
#ifndef STRAKE_PAGE_H
#define STRAKE_PAGE_H

enum {
    STRAKE_PAGE_BAR_X = 190,     /**< left edge of all bars */
    STRAKE_PAGE_BAR_WIDTH = 540, /**< of the longest */
    STRAKE_PAGE_LINE = 24,       /**< from one bar to the next */
    STRAKE_PAGE_BAR = 16         /**< height of a bar */
};

static const char *const strake_page_compute = "#2f6db3";
static const char *const strake_page_edge = "#173f6e";
static const char *const strake_page_order = "#4b9b78";
static const char *const strake_page_transfer = "#e08a1e";
static const char *const strake_page_wait = "#b8aacb";
static const char *const strake_page_idle = "#e3e6e9";

#endif
