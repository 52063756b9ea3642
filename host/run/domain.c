#include "run/domain.h"

strake_stretch strake_domain_stretch(const strake_domain *domain, int item, strake_range slabs)
{
    const strake_stretch first = domain->ops->piece(domain, item, slabs.first);
    const bool is_empty = slabs.first >= slabs.end;
    const strake_stretch last = is_empty ? first : domain->ops->piece(domain, item, slabs.end - 1);
    return (strake_stretch){first.data,
                            is_empty ? 0 : (size_t)(last.data - first.data) + last.bytes};
}

void strake_domain_depth(const strake_domain *domain, int steps, int64_t depth[2])
{
    const int64_t again = (steps - 1) * domain->again;
    depth[0] = domain->reach[0] + again;
    depth[1] = domain->reach[1] + again;
}

void strake_domain_reads(const strake_domain *domain, int steps, int64_t depth[2])
{
    strake_domain_depth(domain, steps, depth);
    if (domain->one_way) {
        depth[1] += depth[0];
        depth[0] = 0;
    }
}

int64_t strake_domain_least(const strake_domain *domain, int steps)
{
    int64_t depth[2];
    strake_domain_reads(domain, steps, depth);
    const int64_t most = depth[0] > depth[1] ? depth[0] : depth[1];
    return most > 0 || domain->one_way ? most : 1;
}

int64_t strake_domain_shift(const strake_domain *domain, int64_t steps)
{
    int64_t depth[2];
    strake_domain_depth(domain, (int)steps, depth);
    return domain->one_way ? depth[0] : 0;
}

double strake_domain_work(const strake_domain *domain, strake_range slabs)
{
    double sum = 0.0;
    for (int64_t slab = slabs.first; slab < slabs.end; slab++) {
        sum += domain->work[slab];
    }
    return sum;
}

void strake_domain_sum_work(const strake_domain *domain, strake_range slabs, double *before)
{
    before[0] = 0.0;
    for (int64_t k = 0; k < slabs.end - slabs.first; k++) {
        before[k + 1] = before[k] + domain->work[slabs.first + k];
    }
}

void strake_domain_size(const strake_domain *domain, strake_range slabs, int64_t n[STRAKE_AXES])
{
    for (int axis = 0; axis < STRAKE_AXES; axis++) {
        n[axis] = domain->n[axis];
    }
    /* Slabs of a grid are planes of its slowest axis; others are taken to be alike. */
    const bool is_grid = n[0] == domain->slabs;
    const double share = (double)(slabs.end - slabs.first) / (double)domain->slabs;
    n[0] = is_grid ? slabs.end - slabs.first : n[0];
    n[2] = is_grid ? n[2] : (int64_t)((double)n[2] * share);
}

strake_range strake_range_cut(strake_range a, strake_range b)
{
    strake_range both = {a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
    both.end = both.end < both.first ? both.first : both.end;
    return both;
}
