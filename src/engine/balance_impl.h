/** @file balance_impl.h What the two halves of the balancer have in common. */
#ifndef STRAKE_BALANCE_IMPL_H
#define STRAKE_BALANCE_IMPL_H

#include "engine/balance.h"

/* Steps after which a move must have paid; it must promise so many standard deviations of what is promised. */
enum { STRAKE_BALANCE_HORIZON = 500 };
static const double strake_balance_sure = 1.5;

/** Slabs that change their owner. */
int64_t strake_balancer_count(const strake_balancer *b, const int64_t *owned);

/** Seconds to move so many slabs. */
double strake_balancer_cost(const strake_balancer *b, int64_t moved);

/** strake_balancer_decide() by the model where slabs differ. */
bool strake_balancer_decide_work(strake_balancer *b, const double *seconds, int64_t ahead,
                                 int64_t *owned, char *why, size_t size);

/** Parts were switched on or off, which took so long. */
void strake_balancer_switched(strake_balancer *b, const int64_t *owned, double seconds);

#endif
