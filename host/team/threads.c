#include "team/threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "team/bell.h"

/* All roles, and the bell that lets them begin. */
typedef struct company {
    void (*play)(void *user, int role);
    void *user;
    strake_bell begins;
    _Atomic int64_t stop;
} company;

typedef struct player {
    company *of;
    int role;
    pthread_t thread;
} player;

static void *run_player(void *user)
{
    const player *const p = user;
    if (strake_bell_wait(&p->of->begins, 1, &p->of->stop, true)) {
        p->of->play(p->of->user, p->role);
    }
    return NULL;
}

strake_status strake_threads_play(int roles, int own, void (*play)(void *user, int role),
                                  void *user, strake_error *error)
{
    strake_status status = STRAKE_OK;
    company all = {.play = play, .user = user};
    int made = 0;
    bool has_bell = false;
    player *const other = calloc((size_t)roles, sizeof *other);
    atomic_init(&all.stop, INT64_MAX);
    has_bell = other != NULL && strake_bell_open(&all.begins);
    STRAKE_CHECK(has_bell, error, STRAKE_ERR_MEMORY, "no memory for the threads of %d parts",
                 roles);
    for (int r = 0; r < roles; r++) {
        player *const p = &other[made];
        *p = (player){.of = &all, .role = r};
        if (r != own) {
            STRAKE_CHECK(pthread_create(&p->thread, NULL, run_player, p) == 0, error,
                         STRAKE_ERR_MEMORY, "the system has no thread for each of %d parts", roles);
            made++;
        }
    }
    strake_bell_ring(&all.begins, 1);
    play(user, own);
cleanup:
    if (status != STRAKE_OK && has_bell) {
        atomic_store(&all.stop, 0);
        strake_bell_wake(&all.begins);
    }
    for (int k = 0; k < made; k++) {
        (void)pthread_join(other[k].thread, NULL);
    }
    if (has_bell) {
        strake_bell_close(&all.begins);
    }
    free(other);
    return status;
}
