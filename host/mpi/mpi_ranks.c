/* The ranks of a launch, with MPI: joining and leaving, agreement and data for all. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "mpi/launch.h"
#include "mpi/mpi_wait.h"

static const double patience = 300.0;

enum { POST = 1001 /* tag of what is posted: above those of transfers */ };

/* What a rank tells the others on its machine. */
typedef struct local_facts {
    int64_t process;
    int64_t rank;
    uint64_t processors; /* hash of those that it may use */
} local_facts;

/* @return the hash of the processors that this rank may use, and their number */
static uint64_t hash_processors(int *count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    *count = CPU_COUNT(&set);
    return strake_fnv1a(STRAKE_FNV_SEED, &set, sizeof set);
}

/* Who else is on this machine. */
static strake_status look_around(strake_ranks *ranks, strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int processors = 0;
    const local_facts own = {(int64_t)getpid(), ranks->self, hash_processors(&processors)};
    local_facts *all = NULL;
    STRAKE_TRY(strake_mpi_check(
        ranks, "MPI_Comm_split_type",
        MPI_Comm_split_type(ranks->world, MPI_COMM_TYPE_SHARED, ranks->self, MPI_INFO_NULL, &local),
        error));
    (void)MPI_Comm_rank(local, &ranks->local_self);
    (void)MPI_Comm_size(local, &ranks->local_count);
    all = calloc((size_t)ranks->local_count, sizeof *all);
    ranks->process = calloc((size_t)ranks->local_count, sizeof *ranks->process);
    ranks->number = calloc((size_t)ranks->local_count, sizeof *ranks->number);
    STRAKE_CHECK(all != NULL && ranks->process != NULL && ranks->number != NULL, error,
                 STRAKE_ERR_MEMORY, "out of memory for the ranks");
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Iallgather",
                                MPI_Iallgather(&own, (int)sizeof own, MPI_BYTE, all,
                                               (int)sizeof own, MPI_BYTE, local, &request),
                                error));
    STRAKE_TRY(strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, "the ranks on its machine",
                               error));
    for (int k = 0; k < ranks->local_count; k++) {
        ranks->process[k] = (pid_t)all[k].process;
        ranks->number[k] = (int)all[k].rank;
        ranks->sharing += all[k].processors == own.processors ? 1 : 0;
    }
    ranks->is_crowded = ranks->sharing > processors;
cleanup:
    if (local != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&local);
    }
    free(all);
    return status;
}

/* "Open MPI v4.1.4": what MPI says of itself, up to the first comma or line. */
static void name_library(strake_ranks *ranks)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    (void)MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    (void)snprintf(ranks->library, sizeof ranks->library, "%.99s", text);
}

strake_status strake_ranks_open(strake_ranks **out, strake_error *error)
{
    strake_status status = STRAKE_OK;
    int provided = MPI_THREAD_SINGLE;
    strake_ranks *ranks = NULL;
    *out = NULL;
    ranks = calloc(1, sizeof *ranks);
    STRAKE_CHECK(ranks != NULL, error, STRAKE_ERR_MEMORY, "out of memory for the ranks");
    ranks->object.module = &strake_mpi_module;
    ranks->world = MPI_COMM_NULL;
    ranks->patience = patience;
    ranks->piece = STRAKE_MPI_PIECE;
    STRAKE_CHECK(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) == MPI_SUCCESS,
                 error, STRAKE_ERR_RANK,
                 "MPI cannot start; is it the one that Strake was built "
                 "with?");
    ranks->started = true;
    name_library(ranks);
    STRAKE_CHECK(provided >= MPI_THREAD_SERIALIZED, error, STRAKE_ERR_RANK,
                 "this MPI does not let threads use it in turn (MPI_THREAD_SERIALIZED); use "
                 "another one");
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &ranks->world);
    (void)MPI_Comm_set_errhandler(ranks->world, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(ranks->world, &ranks->self);
    (void)MPI_Comm_size(ranks->world, &ranks->count);
    STRAKE_CHECK(
        ranks->count > 1 || strake_launch_ranks() == 1, error, STRAKE_ERR_USAGE,
        "started as one of several ranks (%s=%s), but MPI finds this one alone; use the "
        "mpirun of the MPI that Strake was built with, or unset %s for one process by itself",
        strake_launch_variable(), getenv(strake_launch_variable()), strake_launch_variable());
    STRAKE_TRY(look_around(ranks, error));
    if (ranks->count > 1) {
        *out = ranks;
        ranks = NULL;
    }
cleanup:
    strake_ranks_close(&ranks);
    return status;
}

/* Frees the posts that have left; with @p waits waits for each first. */
static strake_status clear_posts(strake_ranks *ranks, bool waits, strake_error *error)
{
    strake_status status = STRAKE_OK;
    for (strake_mpi_post **at = &ranks->posts; *at != NULL;) {
        strake_mpi_post *const post = *at;
        int is_gone = 1;
        if (waits) {
            STRAKE_TRY(strake_mpi_wait(ranks, 1, &post->request, MPI_STATUSES_IGNORE,
                                       "a message to be taken", error));
        } else {
            STRAKE_TRY(strake_mpi_check(
                ranks, "MPI_Test", MPI_Test(&post->request, &is_gone, MPI_STATUS_IGNORE), error));
        }
        if (is_gone) {
            *at = post->next;
            free(post);
        } else {
            at = &post->next;
        }
    }
cleanup:
    return status;
}

strake_status strake_ranks_post(strake_ranks *ranks, int peer, const void *data, size_t bytes,
                                strake_error *error)
{
    strake_status status = STRAKE_OK;
    strake_mpi_post *post = malloc(sizeof *post + bytes);
    STRAKE_CHECK(post != NULL, error, STRAKE_ERR_MEMORY, "out of memory for messages");
    memcpy(post->data, data, bytes);
    STRAKE_TRY(clear_posts(ranks, false, error));
    STRAKE_TRY(strake_mpi_check(
        ranks, "MPI_Isend",
        MPI_Isend(post->data, (int)bytes, MPI_BYTE, peer, POST, ranks->world, &post->request),
        error));
    post->next = ranks->posts;
    ranks->posts = post;
    post = NULL;
cleanup:
    free(post);
    return status;
}

strake_status strake_ranks_fetch(strake_ranks *ranks, void *data, size_t bytes, int *peer,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    int is_there = 0;
    MPI_Status seen;
    *peer = -1;
    STRAKE_TRY(strake_mpi_look(ranks, error));
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Iprobe",
                                MPI_Iprobe(MPI_ANY_SOURCE, POST, ranks->world, &is_there, &seen),
                                error));
    if (is_there) {
        STRAKE_TRY(strake_mpi_check(ranks, "MPI_Recv",
                                    MPI_Recv(data, (int)bytes, MPI_BYTE, seen.MPI_SOURCE, POST,
                                             ranks->world, MPI_STATUS_IGNORE),
                                    error));
        *peer = seen.MPI_SOURCE;
    }
cleanup:
    return status;
}

void strake_ranks_close(strake_ranks **which)
{
    strake_ranks *ranks = *which;
    strake_error ignored;
    if (ranks == NULL) {
        return;
    }
    if (ranks->started && !ranks->lost) {
        (void)clear_posts(ranks, true, &ignored);
    }
    if (ranks->lost) {
        strake_mpi_linger();
    } else if (ranks->started) {
        if (ranks->world != MPI_COMM_NULL) {
            (void)MPI_Comm_free(&ranks->world);
        }
        (void)MPI_Finalize();
    }
    free(ranks->process);
    free(ranks->number);
    free(ranks);
    *which = NULL;
}

int strake_ranks_self(const strake_ranks *ranks)
{
    return ranks->self;
}

int strake_ranks_count(const strake_ranks *ranks)
{
    return ranks->count;
}

int strake_ranks_local_self(const strake_ranks *ranks)
{
    return ranks->local_self;
}

int strake_ranks_local_count(const strake_ranks *ranks)
{
    return ranks->local_count;
}

int strake_ranks_machine(const strake_ranks *ranks)
{
    return ranks->number[0];
}

int strake_ranks_sharing(const strake_ranks *ranks)
{
    return ranks->sharing;
}

const char *strake_ranks_library(const strake_ranks *ranks)
{
    return ranks->library;
}

bool strake_ranks_is_here(const strake_ranks *ranks, int rank)
{
    for (int k = 0; k < ranks->local_count; k++) {
        if (ranks->number[k] == rank) {
            return true;
        }
    }
    return false;
}

void strake_ranks_set_patience(strake_ranks *ranks, double seconds)
{
    ranks->patience = seconds;
}

void strake_ranks_set_piece(strake_ranks *ranks, size_t bytes)
{
    ranks->piece = bytes > 0 && bytes < STRAKE_MPI_PIECE ? bytes : STRAKE_MPI_PIECE;
}

void strake_ranks_set_crowded(strake_ranks *ranks, bool is_crowded)
{
    ranks->is_crowded = is_crowded;
}

void strake_ranks_set_awaited(strake_ranks *ranks, strake_is_awaited is_awaited, void *user)
{
    ranks->is_awaited = is_awaited;
    ranks->waiter = user;
}

/* The error of one rank on every rank. */
static strake_status share_error(strake_ranks *ranks, int origin, strake_status own,
                                 strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    strake_error first = {.status = STRAKE_OK};
    if (origin == ranks->self) {
        first = *error;
        first.status = own;
        first.text[sizeof first.text - 1] = '\0';
    }
    STRAKE_TRY(strake_mpi_check(
        ranks, "MPI_Ibcast",
        MPI_Ibcast(&first, (int)sizeof first, MPI_BYTE, origin, ranks->world, &request), error));
    STRAKE_TRY(
        strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, "the reason of a failure", error));
    if (origin == 0) {
        return strake_fail(error, first.status, "%s", first.text);
    }
    return strake_fail(error, first.status, "rank %d: %.1400s", origin, first.text);
cleanup:
    return status;
}

/* Whom a rank waits for where all meet: by number, if there is only one. */
static const char *others(const strake_ranks *ranks, char text[24])
{
    if (ranks->count != 2) {
        return "the other ranks";
    }
    (void)snprintf(text, 24, "rank %d", 1 - ranks->self);
    return text;
}

strake_status strake_ranks_agree(strake_ranks *ranks, strake_status own, strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    char name[24];
    if (ranks->lost) {
        return strake_fail(error, STRAKE_ERR_RANK, "%s", ranks->cause.text);
    }
    /* The least wins: causes before consequences before success, among equals the first rank. */
    const int mine = (own == STRAKE_OK         ? 2 * ranks->count
                      : own == STRAKE_ERR_RANK ? ranks->count
                                               : 0) +
                     ranks->self;
    int least = mine;
    STRAKE_TRY(strake_mpi_check(
        ranks, "MPI_Iallreduce",
        MPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, ranks->world, &request), error));
    STRAKE_TRY(
        strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, others(ranks, name), error));
    if (least < 2 * ranks->count) {
        return share_error(ranks, least % ranks->count, own, error);
    }
cleanup:
    return status;
}

strake_status strake_ranks_collect(strake_ranks *ranks, const void *own, size_t bytes, void *all,
                                   strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    char name[24];
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Iallgather",
                                MPI_Iallgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                               ranks->world, &request),
                                error));
    STRAKE_TRY(
        strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, others(ranks, name), error));
cleanup:
    return status;
}

strake_status strake_ranks_most(strake_ranks *ranks, double *value, int values, strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    char name[24];
    STRAKE_TRY(strake_mpi_check(
        ranks, "MPI_Iallreduce",
        MPI_Iallreduce(MPI_IN_PLACE, value, values, MPI_DOUBLE, MPI_MAX, ranks->world, &request),
        error));
    STRAKE_TRY(
        strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, others(ranks, name), error));
cleanup:
    return status;
}

strake_status strake_ranks_broadcast(strake_ranks *ranks, void *data, size_t bytes,
                                     strake_error *error)
{
    strake_status status = STRAKE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    STRAKE_TRY(strake_mpi_check(ranks, "MPI_Ibcast",
                                MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, ranks->world, &request),
                                error));
    STRAKE_TRY(strake_mpi_wait(ranks, 1, &request, MPI_STATUSES_IGNORE, "rank 0", error));
cleanup:
    return status;
}
