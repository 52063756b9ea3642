#include "team/bell.h"

/*
 * Pauses before a thread sleeps. One takes 10 to 40 ns on processors of the last years, so that is some
 * tens of microseconds: what sleeping and waking cost on a virtual machine. In a crowd the one waited
 * for may well need this very processor.
 */
enum { SPINS = 1500, SPINS_IN_A_CROWD = 16 };

bool strake_bell_open(strake_bell *bell)
{
    atomic_init(&bell->reached, 0);
    atomic_init(&bell->sleepers, 0);
    if (pthread_mutex_init(&bell->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&bell->rung, NULL) != 0) {
        (void)pthread_mutex_destroy(&bell->mutex);
        return false;
    }
    return true;
}

void strake_bell_close(strake_bell *bell)
{
    (void)pthread_cond_destroy(&bell->rung);
    (void)pthread_mutex_destroy(&bell->mutex);
}

/*
 * A sleeper counts itself before it looks, and who rings stores before it looks for sleepers; in the one
 * order of sequentially consistent operations one of them sees the other.
 */
void strake_bell_wake(strake_bell *bell)
{
    if (atomic_load(&bell->sleepers) > 0) {
        (void)pthread_mutex_lock(&bell->mutex);
        (void)pthread_cond_broadcast(&bell->rung);
        (void)pthread_mutex_unlock(&bell->mutex);
    }
}

void strake_bell_ring(strake_bell *bell, int64_t reached)
{
    atomic_store(&bell->reached, reached);
    strake_bell_wake(bell);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool is_over(const strake_bell *bell, int64_t wanted, const _Atomic int64_t *stop)
{
    return atomic_load(&bell->reached) >= wanted || atomic_load(stop) < wanted;
}

bool strake_bell_wait(strake_bell *bell, int64_t wanted, const _Atomic int64_t *stop,
                      bool is_crowded)
{
    const int spins = is_crowded ? SPINS_IN_A_CROWD : SPINS;
    for (int spin = 0; spin < spins && !is_over(bell, wanted, stop); spin++) {
        relax();
    }
    if (!is_over(bell, wanted, stop)) {
        (void)pthread_mutex_lock(&bell->mutex);
        atomic_fetch_add(&bell->sleepers, 1);
        while (!is_over(bell, wanted, stop)) {
            (void)pthread_cond_wait(&bell->rung, &bell->mutex);
        }
        atomic_fetch_sub(&bell->sleepers, 1);
        (void)pthread_mutex_unlock(&bell->mutex);
    }
    return atomic_load(stop) >= wanted;
}
