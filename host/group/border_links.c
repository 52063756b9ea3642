/* What ranks send each other of border slabs: words, slabs, or lines of them. */
#include <stdlib.h>

#include "group/border_impl.h"

enum { TAG_DOWN = 0, TAG_UP = 1, TAG_WORD = 960 };

int strake_border_neighbour(const strake_rank_group *group, int side)
{
    const int count = strake_ranks_count(group->domain->ranks);
    const int other = strake_ranks_self(group->domain->ranks) + (side == 0 ? -1 : 1);
    if (other >= 0 && other < count) {
        return other;
    }
    return group->domain->ends == STRAKE_PERIODIC ? (other + count) % count : -1;
}

/* A word instead of slabs; the tag as of messages down or up. */
static strake_transfer word(strake_rank_group *group, int side, bool sends, int peer)
{
    return (strake_transfer){.peer = peer,
                             .tag = TAG_WORD + (side == 0 ? !sends : sends),
                             .data = &group->border->word[side][sends ? 0 : 1],
                             .bytes = 1};
}

/* The lines of these slabs. */
static void add_lines(const strake_rank_group *group, int item, const strake_transfer *like,
                      strake_range slabs, strake_transfer *list, int *count)
{
    const strake_domain *const d = group->domain;
    for (int64_t i = slabs.first; i < slabs.end; i++) {
        for (int64_t m = 0; m < d->lines; m++) {
            const strake_stretch line = d->ops->line(d, item, i, m);
            list[(*count)++] = (strake_transfer){
                .peer = like->peer, .tag = like->tag, .data = line.data, .bytes = line.bytes};
        }
    }
}

/*
 * Adds messages with the neighbour on a side: own slabs to it, or its slabs, of the states that travel after every sweep, or
 * of those that do not. Together they are one message, as far as messages go.
 */
static void add_messages(const strake_rank_group *group, int parity, bool travels, int side,
                         const strake_transfer *like, strake_range slabs, strake_transfer *list,
                         int *count)
{
    const strake_domain *const d = group->domain;
    for (int v = 0; v < d->states && like->peer >= 0 && slabs.first < slabs.end; v++) {
        const int item = parity * d->states + v;
        if (strake_domain_travels(d, v) != travels) {
            continue;
        }
        if (group->border->narrow[side]) {
            add_lines(group, item, like, slabs, list, count);
        } else {
            const strake_stretch piece = strake_domain_stretch(d, item, slabs);
            list[(*count)++] = (strake_transfer){
                .peer = like->peer, .tag = like->tag, .data = piece.data, .bytes = piece.bytes};
        }
    }
}

/* Where messages are cut in pieces these are copied anyway, and leave out what the other rank makes of the rest. */
static bool is_narrow(const strake_rank_group *group, int peer)
{
    return strake_border_is_narrow(group) && !strake_ranks_is_here(group->ranks, peer);
}

bool strake_border_is_narrow(const strake_rank_group *group)
{
    return group->domain->ops->line != NULL && group->exchange.figures != NULL &&
           group->exchange.figures->piece > 0.0;
}

void strake_border_complete(const strake_rank_group *group, int parity, bool travels)
{
    const strake_domain *const d = group->domain;
    const strake_border *const border = group->border;
    for (int k = 0; k < 2 * d->states; k++) {
        const int side = k % 2, state = k / 2;
        if (border->narrow[side] && strake_domain_travels(d, state) == travels) {
            d->ops->complete(d, parity * d->states + state, border->come[side]);
        }
    }
}

/*
 * Messages down carry a rank's first slabs, messages up its last ones; with two ranks in a ring both go
 * to the same neighbour, and the tag tells them apart. Where slabs are common only words travel, both
 * ways whatever is read: who has one may overwrite what the other has read. States that do not travel are
 * common nowhere (@p travels is false).
 */
strake_status strake_border_link(strake_rank_group *group, int parity, bool travels,
                                 const int64_t depth[2], strake_link **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int sends = 0, receives = 0;
    const strake_domain *d = group->domain;
    strake_border *const border = group->border;
    const size_t slabs = strake_border_is_narrow(group) ? (size_t)((depth[0] + depth[1]) * d->lines)
                                                        : 2; /* both sides */
    const size_t most = slabs * (size_t)d->states + 2;
    strake_transfer *const send = calloc(most, sizeof *send);
    strake_transfer *const receive = calloc(most, sizeof *receive);
    const bool *common = border->common;
    const int before = travels && common[0] ? -1 : strake_border_neighbour(group, 0);
    const int after = travels && common[1] ? -1 : strake_border_neighbour(group, 1);
    const strake_transfer with[2][2] = {
        {{.peer = before, .tag = TAG_DOWN}, {.peer = before, .tag = TAG_UP}},
        {{.peer = after, .tag = TAG_DOWN}, {.peer = after, .tag = TAG_UP}}};
    const strake_range down = {d->own.first, d->own.first + depth[1]};
    const strake_range up = {d->own.end - depth[0], d->own.end};
    STRAKE_TRY(strake_ranks_agree(
        d->ranks,
        send != NULL && receive != NULL
            ? STRAKE_OK
            : strake_fail(error, STRAKE_ERR_MEMORY, "out of memory for the ranks"),
        error));
    for (int side = 0; side < 2; side++) {
        if (travels && common[side]) {
            send[sends++] = word(group, side, true, strake_border_neighbour(group, side));
            receive[receives++] = word(group, side, false, strake_border_neighbour(group, side));
        }
    }
    border->narrow[0] = before >= 0 && is_narrow(group, before);
    border->narrow[1] = after >= 0 && is_narrow(group, after);
    add_messages(group, parity, travels, 0, &with[0][0], down, send, &sends);
    add_messages(group, parity, travels, 1, &with[1][1], up, send, &sends);
    if (after >= 0) {
        const int64_t first = group->owned[after].first;
        border->come[1] = (strake_range){first, first + depth[1]};
        add_messages(group, parity, travels, 1, &with[1][0], border->come[1], receive, &receives);
    }
    if (before >= 0) {
        const int64_t end = group->owned[before].end;
        border->come[0] = (strake_range){end - depth[0], end};
        add_messages(group, parity, travels, 0, &with[0][1], border->come[0], receive, &receives);
    }
    status = strake_link_create(d->ranks, send, sends, receive, receives, out, error);
    if (travels && status == STRAKE_OK) { /* what a sweep sends */
        group->team->outside.messages = strake_link_messages(*out);
        group->team->outside.bytes = 0;
        for (int k = 0; k < sends; k++) {
            group->team->outside.bytes += (int64_t)send[k].bytes;
        }
    }
cleanup:
    free(send);
    free(receive);
    return status;
}
