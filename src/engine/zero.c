/* The zeros of cl/real.h, in a file of their own: the row loops' compiler must not see their values. */
#include "cl/real.h"

const double strake_zero_double = 0.0;
const float strake_zero_single = 0.0F;
