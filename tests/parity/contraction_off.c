/* The point functions as the product compiles them; see contraction_body.h. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define NAME(x) strake_test_plain_##x
#include "tests/parity/contraction_body.h"
