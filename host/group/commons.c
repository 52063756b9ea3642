#include "group/commons.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grid/arrays.h"

/* What every rank tells the others. */
typedef struct facts {
    int64_t process;
    int machine, file; /* file: descriptor of the first rank of a machine; -1: it has none */
} facts;

/* Bytes [first, end) of an array, whole pages. */
typedef struct pages {
    size_t first, end;
} pages;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int count_states(const strake_rank_group *group)
{
    int states = 0;
    for (int v = 0; v < group->grid->graph.values; v++) {
        states += group->grid->graph.value[v].next >= 0 ? 1 : 0;
    }
    return states;
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
    const int count = strake_ranks_count(group->grid->domain.ranks);
    const int self = strake_ranks_self(group->grid->domain.ranks);
    const int machine = strake_ranks_machine(group->grid->domain.ranks);
    const bool alone = strake_ranks_local_count(group->grid->domain.ranks) == 1;
    bool mine = false;
    facts own = {.process = (int64_t)getpid(), .machine = machine, .file = -1};
    facts *all = calloc((size_t)count, sizeof *all);
    bool *has = calloc((size_t)count, sizeof *has);
    if (machine == self && !alone) {
        own.file = *file = new_file(bytes);
    }
    STRAKE_TRY(strake_ranks_agree(
        group->grid->domain.ranks,
        all != NULL && has != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(strake_ranks_collect(group->grid->domain.ranks, &own, sizeof own, all, error));
    if (machine != self) {
        *file = open_file(&all[machine]);
    }
    mine = *file >= 0;
    STRAKE_TRY(strake_ranks_collect(group->grid->domain.ranks, &mine, sizeof mine, has, error));
    for (int k = 0; k < count; k++) {
        opened[k] = mine && has[k] && all[k].machine == machine;
    }
cleanup:
    free(all);
    free(has);
    return status;
}

static pages pages_of(const strake_rank_group *group, int64_t first, int64_t end)
{
    const size_t page = page_size();
    return (pages){strake_layout_offset(&group->grid->layout, first) / page * page,
                   (strake_layout_offset(&group->grid->layout, end) + page - 1) / page * page};
}

/*
 * The pages of slabs that this rank and the one on a side read of each other: its own first or last
 * ones, and the other's.
 */
static void find_pieces(const strake_rank_group *group, int side, int other, const int64_t depth[2],
                        pages out[2])
{
    const strake_range own = group->grid->domain.own;
    const strake_range its = group->owned[other];
    if (side == 0) {
        out[0] = pages_of(group, own.first, own.first + depth[1]);
        out[1] = pages_of(group, its.end - depth[0], its.end);
    } else {
        out[0] = pages_of(group, own.end - depth[0], own.end);
        out[1] = pages_of(group, its.first, its.first + depth[1]);
    }
}

/* Whether a piece has slabs of these two ranks only: a third one's could come by messages. */
static bool is_between(const strake_rank_group *group, int other, const pages *piece)
{
    const strake_range own = group->grid->domain.own;
    const strake_range its = group->owned[other];
    for (int64_t k = 0; k < group->grid->layout.n[0]; k++) {
        const bool is_in = strake_layout_offset(&group->grid->layout, k) < piece->end &&
                           strake_layout_offset(&group->grid->layout, k + 1) > piece->first;
        if (is_in && (k < own.first || k >= own.end) && (k < its.first || k >= its.end)) {
            return false;
        }
    }
    return true;
}

/*
 * Maps pages of an array, which begin at @p offset of the file, or without a file ones of this rank alone,
 * and puts its own slabs back.
 */
static strake_status map(const strake_rank_group *group, char *array, const pages *piece, int file,
                         size_t offset, strake_error *error)
{
    strake_status status = STRAKE_OK;
    const pages all = *piece;
    const size_t bytes = all.end - all.first;
    const size_t own_first =
        strake_layout_offset(&group->grid->layout, group->grid->domain.own.first);
    const size_t own_end = strake_layout_offset(&group->grid->layout, group->grid->domain.own.end);
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

/* The same pages of every array of states. */
static strake_status map_all(const strake_rank_group *group, const pages *piece, int file,
                             strake_error *error)
{
    strake_status status = STRAKE_OK;
    size_t offset = 0;
    for (int v = 0; v < group->grid->graph.values; v++) {
        for (int p = 0; p < 2 && group->grid->graph.value[v].next >= 0; p++) {
            STRAKE_TRY(map(group, group->grid->array[p][v], piece, file, offset, error));
            offset += strake_arrays_bytes(group->grid);
        }
    }
cleanup:
    return status;
}

static int by_place(const void *a, const void *b)
{
    const pages *one = a;
    const pages *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

strake_status strake_commons_map(strake_rank_group *group, const int neighbour[2],
                                 const int64_t depth[2], bool common[2], strake_error *error)
{
    strake_status status = STRAKE_OK;
    int file = -1, pieces = 0;
    pages piece[STRAKE_MOST_COMMONS];
    const int count = strake_ranks_count(group->grid->domain.ranks);
    const bool all_here = strake_ranks_local_count(group->grid->domain.ranks) == count;
    bool *opened = calloc((size_t)count, sizeof *opened);
    common[0] = common[1] = false;
    STRAKE_TRY(strake_ranks_agree(
        group->grid->domain.ranks,
        opened != NULL ? STRAKE_OK
                       : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    STRAKE_TRY(find_file(group, 2 * (size_t)count_states(group) * strake_arrays_bytes(group->grid),
                         &file, opened, error));
    for (int side = 0; side < 2; side++) {
        pages found[2];
        if (neighbour[side] < 0 || !opened[neighbour[side]]) {
            continue;
        }
        find_pieces(group, side, neighbour[side], depth, found);
        common[side] = all_here || (is_between(group, neighbour[side], &found[0]) &&
                                    is_between(group, neighbour[side], &found[1]));
        for (int k = 0; k < 2 && common[side]; k++) {
            piece[pieces] = found[k];
            pieces += found[k].first < found[k].end ? 1 : 0;
        }
    }
    qsort(piece, (size_t)pieces, sizeof *piece, by_place);
    for (int k = 0; k < pieces; k++) {
        /* Pieces that meet are mapped as one, so that none hides what another has put back. */
        pages all = piece[k];
        while (k + 1 < pieces && piece[k + 1].first <= all.end) {
            k++;
            all.end = piece[k].end > all.end ? piece[k].end : all.end;
        }
        group->common[group->commons].first = all.first;
        group->common[group->commons++].end = all.end;
        STRAKE_TRY(map_all(group, &all, file, error));
    }
cleanup:
    if (file >= 0) {
        (void)close(file);
    }
    free(opened);
    return status;
}

strake_status strake_commons_unmap(strake_rank_group *group, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (; group->commons > 0; group->commons--) {
        const pages piece = {group->common[group->commons - 1].first,
                             group->common[group->commons - 1].end};
        STRAKE_TRY(map_all(group, &piece, -1, error));
    }
cleanup:
    return status;
}
