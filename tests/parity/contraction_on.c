/* The point functions compiled wrongly on purpose: contracted, with fma; see contraction_body.h.
 * The settings stand here and not in the Makefile so that no flag of a build can undo them. */
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("fma"))), apply_to = function)
#pragma clang fp contract(fast)
#elif defined(__x86_64__) && defined(__GNUC__)
#pragma GCC target("fma")
#pragma GCC optimize("O2", "fp-contract=fast")
#endif

#define NAME(x) strake_test_fused_##x
#include "tests/parity/contraction_body.h"

#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
