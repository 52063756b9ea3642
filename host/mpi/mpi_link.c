/* Data from rank to rank with MPI: once, or over and over with persistent requests. */
#include <stdio.h>
#include <stdlib.h>

#include "mpi/mpi_wait.h"

/* A repeated exchange: large transfers are cut in pieces that MPI can count, or that go to other machines at once. */
struct strake_link {
    strake_module_object object;
    strake_ranks *ranks;
    int sends, receives; /* pieces */
    MPI_Request *send, *receive;
    MPI_Status *seen;
    int *bytes; /* of each piece that is received */
    int *peer;  /* and where it comes from */
    int *to;    /* where each piece goes */
    int *tag;   /* and its tag */
    bool listens;
    double own,
        least; /* numbers of a round, of this rank and of all; their request is after the receives */
};

/* Bytes that a message to or from a peer has at most. */
static size_t most_of(const strake_ranks *ranks, int peer)
{
    return strake_ranks_is_here(ranks, peer) ? STRAKE_MPI_PIECE : ranks->piece;
}

static int pieces_of(const strake_ranks *ranks, const strake_transfer *transfer, int transfers)
{
    int pieces = 0;
    for (int k = 0; k < transfers; k++) {
        const size_t most = most_of(ranks, transfer[k].peer);
        pieces += (int)((transfer[k].bytes + most - 1) / most);
    }
    return pieces;
}

/* Transfers from this one on that are one message, of @p most bytes. @param[out] bytes  of all */
static int together(const strake_transfer *transfer, int transfers, size_t most, size_t *bytes)
{
    int count = 1;
    *bytes = transfer->bytes;
    while (count < transfers && transfer[count].peer == transfer->peer &&
           transfer[count].tag == transfer->tag && *bytes + transfer[count].bytes <= most) {
        *bytes += transfer[count++].bytes;
    }
    return count;
}

/* Where the bytes of some transfers lie, as a type of data at MPI_BOTTOM. */
static strake_status new_type(strake_ranks *ranks, const strake_transfer *transfer, int count,
                              MPI_Datatype *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int *const length = malloc((size_t)count * sizeof *length);
    MPI_Aint *const place = malloc((size_t)count * sizeof *place);
    STRAKE_CHECK(length != NULL && place != NULL, error, STRAKE_ERR_MEMORY,
                 "out of memory for messages");
    for (int k = 0; k < count; k++) {
        length[k] = (int)transfer[k].bytes;
        (void)MPI_Get_address(transfer[k].data, &place[k]);
    }
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Type_create_hindexed",
                                MPI_Type_create_hindexed(count, length, place, MPI_BYTE, out),
                                error));
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Type_commit", MPI_Type_commit(out), error));
cleanup:
    free(length);
    free(place);
    return status;
}

/* A message of several transfers, sent or received over and over. */
static strake_status join_transfers(strake_link *link, const strake_transfer *transfer, int count,
                                    bool sends, MPI_Request *out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_ranks *const ranks = link->ranks;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    STRAKE_TRY(new_type(ranks, transfer, count, &type, error));
    STRAKE_TRY(strake_mpi_check(
        ranks, sends ? "MPI_Send_init" : "MPI_Recv_init",
        sends
            ? MPI_Send_init(MPI_BOTTOM, 1, type, transfer->peer, transfer->tag, ranks->world, out)
            : MPI_Recv_init(MPI_BOTTOM, 1, type, transfer->peer, transfer->tag, ranks->world, out),
        error));
cleanup:
    if (type != MPI_DATATYPE_NULL) {
        (void)MPI_Type_free(&type); /* the request keeps it */
    }
    return status;
}

/* The next piece of a transfer. @return its bytes */
static int piece_at(const strake_transfer *transfer, size_t most, size_t at)
{
    const size_t left = transfer->bytes - at;
    return (int)(left < most ? left : most);
}

static void peers_text(const strake_link *link, char *text, size_t size)
{
    if (link->receives == 0) {
        (void)snprintf(text, size, "its messages to leave");
    } else if (link->peer[0] == link->peer[link->receives - 1]) {
        (void)snprintf(text, size, "rank %d", link->peer[0]);
    } else {
        (void)snprintf(text, size, "ranks %d and %d", link->peer[0],
                       link->peer[link->receives - 1]);
    }
}

static strake_status set_up(strake_link *link, const strake_transfer *send, int sends,
                            const strake_transfer *receive, int receives, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_ranks *ranks = link->ranks;
    for (int k = 0, joined = 0; k < receives; k += joined) {
        size_t all = 0;
        const size_t most = most_of(ranks, receive[k].peer);
        joined = together(&receive[k], receives - k, most, &all);
        if (joined > 1) {
            link->bytes[link->receives] = (int)all;
            link->peer[link->receives] = receive[k].peer;
            STRAKE_TRY(join_transfers(link, &receive[k], joined, false,
                                      &link->receive[link->receives], error));
            link->receives++;
            continue;
        }
        for (size_t at = 0; at < receive[k].bytes; at += most) {
            const int bytes = piece_at(&receive[k], most, at);
            link->bytes[link->receives] = bytes;
            link->peer[link->receives] = receive[k].peer;
            STRAKE_TRY(strake_mpi_check(ranks, "MPI_Recv_init",
                                        MPI_Recv_init((char *)receive[k].data + at, bytes, MPI_BYTE,
                                                      receive[k].peer, receive[k].tag, ranks->world,
                                                      &link->receive[link->receives]),
                                        error));
            link->receives++;
        }
    }
    for (int k = 0, joined = 0; k < sends; k += joined) {
        size_t all = 0;
        const size_t most = most_of(ranks, send[k].peer);
        joined = together(&send[k], sends - k, most, &all);
        if (joined > 1) {
            link->to[link->sends] = send[k].peer;
            link->tag[link->sends] = send[k].tag;
            STRAKE_TRY(
                join_transfers(link, &send[k], joined, true, &link->send[link->sends], error));
            link->sends++;
            continue;
        }
        for (size_t at = 0; at < send[k].bytes; at += most) {
            link->to[link->sends] = send[k].peer;
            link->tag[link->sends] = send[k].tag;
            STRAKE_TRY(strake_mpi_check(
                ranks, "MPI_Send_init",
                MPI_Send_init((char *)send[k].data + at, piece_at(&send[k], most, at), MPI_BYTE,
                              send[k].peer, send[k].tag, ranks->world, &link->send[link->sends]),
                error));
            link->sends++;
        }
    }
cleanup:
    return status;
}

strake_status strake_link_create(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_link **out,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    const size_t in = (size_t)pieces_of(ranks, receive, receives) + 1;
    const size_t away = (size_t)pieces_of(ranks, send, sends) + 1;
    strake_link *link = calloc(1, sizeof *link);
    STRAKE_CHECK(link != NULL, error, STRAKE_ERR_MEMORY, "out of memory for messages");
    link->object = ranks->object;
    link->ranks = ranks;
    link->send = calloc(away, sizeof(MPI_Request));
    link->to = calloc(away, sizeof *link->to);
    link->tag = calloc(away, sizeof *link->tag);
    link->receive = calloc(in, sizeof(MPI_Request));
    link->seen = calloc(in, sizeof(MPI_Status));
    link->bytes = calloc(in, sizeof *link->bytes);
    link->peer = calloc(in, sizeof *link->peer);
    STRAKE_CHECK(link->send != NULL && link->to != NULL && link->tag != NULL &&
                     link->receive != NULL && link->seen != NULL && link->bytes != NULL &&
                     link->peer != NULL,
                 error, STRAKE_ERR_MEMORY, "out of memory for messages");
    STRAKE_TRY(set_up(link, send, sends, receive, receives, error));
    *out = link;
    link = NULL;
cleanup:
    strake_link_destroy(&link);
    return status;
}

/* Receives that nobody will fill any more are taken back. */
static void take_back(strake_link *link)
{
    for (int k = 0; k < link->receives && link->listens; k++) {
        (void)MPI_Cancel(&link->receive[k]);
    }
    link->listens = false;
}

void strake_link_destroy(strake_link **which)
{
    strake_link *link = *which;
    if (link == NULL) {
        return;
    }
    if (!link->ranks->lost) {
        take_back(link);
        for (int k = 0; k < link->receives; k++) {
            (void)MPI_Request_free(&link->receive[k]);
        }
        for (int k = 0; k < link->sends; k++) {
            (void)MPI_Request_free(&link->send[k]);
        }
    }
    free(link->send);
    free(link->receive);
    free(link->seen);
    free(link->bytes);
    free(link->peer);
    free(link->to);
    free(link->tag);
    free(link);
    *which = NULL;
}

int strake_link_messages(const strake_link *link)
{
    return link->sends;
}

/* In their order, by which pieces with one tag find their places. */
static strake_status start(strake_link *link, int count, MPI_Request *request, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (int k = 0; k < count; k++) {
        STRAKE_TRY(strake_mpi_check(link->ranks, "MPI_Start", MPI_Start(&request[k]), error));
    }
cleanup:
    return status;
}

strake_status strake_link_listen(strake_link *link, strake_error *error)
{
    link->listens = link->receives > 0;
    return start(link, link->receives, link->receive, error);
}

strake_status strake_link_send(strake_link *link, strake_error *error)
{
    return start(link, link->sends, link->send, error);
}

void strake_link_stop(strake_link *link)
{
    static char nothing;
    for (int k = 0; k < link->sends && !link->ranks->lost; k++) {
        MPI_Request request = MPI_REQUEST_NULL;
        /* A message without data is gone at once. */
        if (MPI_Isend(&nothing, 0, MPI_BYTE, link->to[k], link->tag[k], link->ranks->world,
                      &request) == MPI_SUCCESS) {
            (void)MPI_Request_free(&request);
        }
    }
}

/* A peer that has stopped, by what came from it; -1: none has. */
static int find_stopped(const strake_link *link)
{
    for (int k = 0; k < link->receives; k++) {
        int bytes = 0;
        (void)MPI_Get_count(&link->seen[k], MPI_BYTE, &bytes);
        if (bytes != link->bytes[k]) {
            return link->peer[k];
        }
    }
    return -1;
}

/* Begins with this rank's number; then waits for all ranks', and for what has not come yet. */
static strake_status meet(strake_link *link, strake_least *least, bool here, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_ranks *const ranks = link->ranks;
    const int first = here ? link->receives : 0;
    (void)least->own(least->user, true, &link->own);
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Iallreduce",
                                MPI_Iallreduce(&link->own, &link->least, 1, MPI_DOUBLE, MPI_MIN,
                                               ranks->world, &link->receive[link->receives]),
                                error));
    STRAKE_TRY(strake_mpi_wait(ranks, link->receives - first + 1, link->receive + first,
                               here ? MPI_STATUSES_IGNORE : link->seen, "the other ranks", error));
    least->value = link->least;
cleanup:
    return status;
}

strake_status strake_link_received(strake_link *link, strake_least *least, strake_error *error)
{
    strake_status status = STRAKE_OK;
    char peers[64];
    int stopped = -1;
    bool here = false; /* before all ranks' numbers: what came is told only once */
    peers_text(link, peers, sizeof peers);
    STRAKE_TRY(strake_mpi_wait_or(link->ranks, link->receives, link->receive, link->seen, least,
                                  &here, peers, error));
    stopped = here ? find_stopped(link) : -1;
    STRAKE_TRY(least != NULL ? meet(link, least, here, error) : STRAKE_OK);
    stopped = here ? stopped : find_stopped(link);
    link->listens = false;
    STRAKE_CHECK(stopped < 0, error, STRAKE_ERR_RANK, "rank %d has stopped", stopped);
cleanup:
    return status;
}

strake_status strake_link_sent(strake_link *link, strake_error *error)
{
    char peers[64];
    peers_text(link, peers, sizeof peers);
    return strake_mpi_wait(link->ranks, link->sends, link->send, MPI_STATUSES_IGNORE, peers, error);
}

strake_status strake_ranks_trade(strake_ranks *ranks, const strake_transfer *send, int sends,
                                 const strake_transfer *receive, int receives, strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_link *link = NULL;
    STRAKE_TRY(strake_link_create(ranks, send, sends, receive, receives, &link, error));
    STRAKE_TRY(strake_link_listen(link, error));
    STRAKE_TRY(strake_link_send(link, error));
    STRAKE_TRY(strake_link_received(link, NULL, error));
    STRAKE_TRY(strake_link_sent(link, error));
cleanup:
    strake_link_destroy(&link);
    return status;
}
