/** @file balance_impl.h What the two halves of the balancer have in common. */
#ifndef STRAKE_BALANCE_IMPL_H
#define STRAKE_BALANCE_IMPL_H

#include "engine/balance.h"

/* Steps after which a move must have paid; it must promise so many standard deviations of what is promised. */
enum { STRAKE_BALANCE_HORIZON = 500 };
static const double strake_balance_sure = 1.5;

#endif
