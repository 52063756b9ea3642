#include "cpu/spread.h"

int strake_spread_parts(int threads, int64_t numbers)
{
    enum { LEAST = 1 << 16 /* below this a thread costs more than it brings */ };
    const int64_t most = numbers / LEAST + 1;
    return most < threads ? (int)most : threads;
}

strake_range strake_spread_part(strake_range slabs, int parts, int part)
{
    const int64_t count = slabs.end - slabs.first;
    return (strake_range){slabs.first + count * part / parts,
                          slabs.first + count * (part + 1) / parts};
}

void strake_spread(strake_range slabs, int parts, strake_spread_work *work, void *user)
{
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        work(user, part, strake_spread_part(slabs, parts, part));
    }
}
