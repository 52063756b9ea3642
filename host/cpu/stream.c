#include "cpu/stream.h"

#include <string.h>
#include <unistd.h>

#include "cpu/topology.h"

#ifdef __SSE2__
#include <immintrin.h>

bool strake_stream_is_there(void)
{
    return true;
}

__attribute__((target("avx512f"))) static void copy_avx512(char *to, const char *from,
                                                           int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += 64) {
        _mm512_stream_si512((__m512i *)(void *)(to + k), _mm512_loadu_si512(from + k));
    }
}

__attribute__((target("avx2"))) static void copy_avx2(char *to, const char *from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += 32) {
        _mm256_stream_si256((__m256i *)(void *)(to + k),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + k)));
    }
}

void strake_stream_copy(strake_isa isa, void *to, const void *from, int64_t bytes)
{
    if (isa == STRAKE_ISA_AVX512) {
        copy_avx512(to, from, bytes);
        return;
    }
    if (isa == STRAKE_ISA_AVX2) {
        copy_avx2(to, from, bytes);
        return;
    }
    for (int64_t k = 0; k < bytes; k += 16) {
        _mm_stream_si128((__m128i *)(void *)((char *)to + k),
                         _mm_loadu_si128((const __m128i *)(const void *)((const char *)from + k)));
    }
}

void strake_stream_fence(void)
{
    _mm_sfence();
}

#else

bool strake_stream_is_there(void)
{
    return false;
}

void strake_stream_copy(strake_isa isa, void *to, const void *from, int64_t bytes)
{
    (void)isa;
    memcpy(to, from, (size_t)bytes);
}

void strake_stream_fence(void)
{
}

#endif

bool strake_stream_pays(int64_t bytes)
{
    const int64_t cache =
        strake_topology_cache("/sys/devices/system", (int)sysconf(_SC_NPROCESSORS_ONLN));
    return cache > 0 && bytes > cache && strake_stream_is_there();
}
