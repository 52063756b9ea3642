#include "run/commons.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHORT_SWEEP = 2 * 1024 * 1024 /* bytes of a state that its steps write: some 0.5 ms */ };

/* What every rank tells the others. */
typedef struct facts {
    int64_t process;
    int machine, file; /* file: descriptor of the first rank of a machine; -1: it has none */
} facts;

/* Bytes [first, end) of an item, whole pages, counted from the page that its first slab begins in. */
typedef struct pages {
    size_t first, end;
} pages;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Where an item's pages begin: each rank has it elsewhere, but at the same place of a page. */
static char *origin_of(const strake_rank_group *group, int item)
{
    char *const data = strake_domain_stretch(group->domain, item, (strake_range){0, 1}).data;
    return data - (uintptr_t)data % page_size();
}

static pages pages_of(const strake_rank_group *group, int item, strake_range slabs)
{
    const size_t page = page_size();
    const strake_stretch piece = strake_domain_stretch(group->domain, item, slabs);
    const size_t first = (size_t)(piece.data - origin_of(group, item));
    return (pages){first / page * page, (first + piece.bytes + page - 1) / page * page};
}

static size_t bytes_of(const strake_rank_group *group, int item)
{
    return pages_of(group, item, (strake_range){0, group->domain->slabs}).end;
}

/* Items that ranks may have in common: the states of either parity, ... */
static int count_items(const strake_rank_group *group)
{
    return 2 * group->domain->states;
}

/* ... but for those that each has and advances by itself. */
static bool is_common(const strake_rank_group *group, int item)
{
    return strake_domain_travels(group->domain, item % group->domain->states);
}

/* A file without a name that ends with the last process that has it; -1 where there can be none. */
static int new_file(size_t bytes)
{
    const int file = memfd_create("strake", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        (void)close(file);
        return -1;
    }
    return file;
}

/* The file of another process. */
static int open_file(const facts *owner)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)owner->process, owner->file);
    return owner->file >= 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

/*
 * The file of this machine, and which ranks have opened it: those can have slabs in common. Every rank
 * has its array at the same place of it.
 */
static strake_status find_file(strake_rank_group *group, size_t bytes, int *file, bool *opened,
                               strake_error *error)
{
    strake_status status = STRAKE_OK;
    const int count = strake_ranks_count(group->domain->ranks);
    const int self = strake_ranks_self(group->domain->ranks);
    const int machine = strake_ranks_machine(group->domain->ranks);
    const bool alone = strake_ranks_local_count(group->domain->ranks) == 1;
    bool mine = false;
    facts own = {.process = (int64_t)getpid(), .machine = machine, .file = -1};
    facts *all = calloc((size_t)count, sizeof *all);
    bool *has = calloc((size_t)count, sizeof *has);
    if (machine == self && !alone) {
        own.file = *file = new_file(bytes);
    }
    STRAKE_TRY(strake_ranks_agree(
        group->domain->ranks,
        all != NULL && has != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &own, sizeof own, all, error));
    if (machine != self) {
        *file = open_file(&all[machine]);
    }
    mine = *file >= 0;
    STRAKE_TRY(strake_ranks_collect(group->domain->ranks, &mine, sizeof mine, has, error));
    for (int k = 0; k < count; k++) {
        opened[k] = mine && has[k] && all[k].machine == machine;
    }
cleanup:
    free(all);
    free(has);
    return status;
}

/* The slabs that this rank and the one on a side read of each other: its own first or last ones, and the other's. */
static void find_slabs(const strake_rank_group *group, int side, int other, const int64_t depth[2],
                       strake_range out[2])
{
    const strake_range own = group->domain->own;
    const strake_range its = group->owned[other];
    if (side == 0) {
        out[0] = (strake_range){own.first, own.first + depth[1]};
        out[1] = (strake_range){its.end - depth[0], its.end};
    } else {
        out[0] = (strake_range){own.end - depth[0], own.end};
        out[1] = (strake_range){its.first, its.first + depth[1]};
    }
}

/* Whether a slab has bytes on some pages. */
static bool is_on(const strake_rank_group *group, int item, int64_t slab, const pages *on)
{
    if (slab < 0 || slab >= group->domain->slabs) {
        return false;
    }
    const strake_stretch piece = group->domain->ops->piece(group->domain, item, slab);
    const size_t first = (size_t)(piece.data - origin_of(group, item));
    return first < on->end && first + piece.bytes > on->first;
}

/* Whether the pages of some slabs have others of these two ranks only: a third one's could come by messages. */
static bool is_between(const strake_rank_group *group, int other, strake_range slabs)
{
    const strake_range own = group->domain->own;
    const strake_range its = group->owned[other];
    for (int item = 0; item < count_items(group) && slabs.first < slabs.end; item++) {
        if (!is_common(group, item)) {
            continue;
        }
        const pages on = pages_of(group, item, slabs);
        strake_range beside = {slabs.first - 1, slabs.end};
        while (is_on(group, item, beside.first, &on)) {
            beside.first--;
        }
        while (is_on(group, item, beside.end, &on)) {
            beside.end++;
        }
        for (int64_t k = beside.first + 1; k < beside.end; k++) {
            if ((k < own.first || k >= own.end) && (k < its.first || k >= its.end)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Maps pages of an item, which begin at @p offset of the file, or without a file ones of this rank alone,
 * and puts its own slabs back.
 */
static strake_status map(const strake_rank_group *group, int item, const pages *piece, int file,
                         size_t offset, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const pages all = *piece;
    const size_t bytes = all.end - all.first;
    char *const array = origin_of(group, item);
    const strake_stretch own = strake_domain_stretch(group->domain, item, group->domain->own);
    const size_t own_first = (size_t)(own.data - array);
    const size_t own_end = own_first + own.bytes;
    const size_t first = own_first > all.first ? own_first : all.first;
    const size_t end = own_end < all.end ? own_end : all.end;
    char *const kept = malloc(bytes);
    STRAKE_CHECK(kept != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    memcpy(kept, array + all.first, bytes);
    STRAKE_CHECK(
        mmap(array + all.first, bytes, PROT_READ | PROT_WRITE,
             MAP_FIXED | (file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE),
             file, file >= 0 ? (off_t)(offset + all.first) : 0) != MAP_FAILED,
        error, STRAKE_ERR_MEMORY,
        "out of memory: %zu bytes that the ranks of this machine have in common", bytes);
    if (first < end) {
        memcpy(array + first, kept + (first - all.first), end - first);
    }
cleanup:
    free(kept);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const pages *one = a;
    const pages *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* The slabs in common, of every item. */
static strake_status map_all(const strake_rank_group *group, int file, strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t offset = 0;
    for (int item = 0; item < count_items(group); item++) {
        if (!is_common(group, item)) {
            continue;
        }
        pages piece[STRAKE_MOST_COMMONS];
        for (int k = 0; k < group->commons; k++) {
            piece[k] = pages_of(group, item, group->common[k]);
        }
        qsort(piece, (size_t)group->commons, sizeof *piece, by_place);
        for (int k = 0; k < group->commons; k++) {
            /* Pieces that meet are mapped as one, so that none hides what another has put back. */
            pages all = piece[k];
            while (k + 1 < group->commons && piece[k + 1].first <= all.end) {
                k++;
                all.end = piece[k].end > all.end ? piece[k].end : all.end;
            }
            STRAKE_TRY(map(group, item, &all, file, offset, error));
        }
        offset += bytes_of(group, item);
    }
cleanup:
    return status;
}

strake_status strake_commons_map(strake_rank_group *group, const int neighbour[2],
                                 const int64_t depth[2], bool common[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    int file = -1;
    size_t bytes = 0;
    const int count = strake_ranks_count(group->domain->ranks);
    const bool all_here = strake_ranks_local_count(group->domain->ranks) == count;
    bool *opened = calloc((size_t)count, sizeof *opened);
    common[0] = common[1] = false;
    STRAKE_TRY(strake_ranks_agree(
        group->domain->ranks,
        opened != NULL ? STRAKE_OK
                       : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    for (int item = 0; item < count_items(group); item++) {
        bytes += is_common(group, item) ? bytes_of(group, item) : 0;
    }
    STRAKE_TRY(find_file(group, bytes, &file, opened, error));
    for (int side = 0; side < 2; side++) {
        strake_range found[2];
        if (neighbour[side] < 0 || !opened[neighbour[side]]) {
            continue;
        }
        find_slabs(group, side, neighbour[side], depth, found);
        common[side] = all_here || (is_between(group, neighbour[side], found[0]) &&
                                    is_between(group, neighbour[side], found[1]));
        for (int k = 0; k < 2 && common[side]; k++) {
            group->common[group->commons] = found[k];
            group->commons += found[k].first < found[k].end ? 1 : 0;
        }
    }
    STRAKE_TRY(map_all(group, file, error));
cleanup:
    if (file >= 0) {
        (void)close(file);
    }
    free(opened);
    return status;
}

strake_status strake_commons_unmap(strake_rank_group *group, strake_error *error)
{
    const strake_status status = map_all(group, -1, error);
    group->commons = status == STRAKE_OK ? 0 : group->commons;
    return status;
}

bool strake_commons_hide(const strake_rank_group *group, int steps)
{
    const strake_domain *const d = group->domain;
    return strake_ranks_local_count(group->ranks) < strake_ranks_count(group->ranks) ||
           !strake_workers_are_crowded(group->team, 1) ||
           (double)(d->own.end - d->own.first) * d->slab_bytes * steps >= SHORT_SWEEP;
}
