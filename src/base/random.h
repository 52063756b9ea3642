/**
 * @file random.h
 * Numbers that look random and are the same everywhere: SplitMix64 (Steele, Lea and Flood, Fast splittable
 * pseudorandom number generators, OOPSLA 2014).
 */
#ifndef STRAKE_RANDOM_H
#define STRAKE_RANDOM_H

#include <stdint.h>

/** Step of the state: 2^64 over the golden ratio. */
#define STRAKE_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/** Every bit of the result depends on every bit of @p z; different ones give different ones. */
static inline uint64_t strake_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** The next one of a sequence; any state begins one. */
static inline uint64_t strake_random_next(uint64_t *state)
{
    return strake_random_mix(*state += STRAKE_RANDOM_STEP);
}

/** A number from 0 to 1, 1 excluded, as the next one of a sequence. */
static inline double strake_random_unit(uint64_t *state)
{
    return (double)(strake_random_next(state) >> 11) * 0x1p-53;
}

#endif
