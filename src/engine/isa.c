#include "engine/isa.h"

bool strake_isa_is_there(strake_isa isa)
{
#if defined(STRAKE_ROWS_X86) && (defined(__x86_64__) || defined(__i386__))
    __builtin_cpu_init();
    if (isa == STRAKE_ISA_AVX512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    }
    if (isa == STRAKE_ISA_AVX2) {
        return __builtin_cpu_supports("avx2");
    }
#endif
    return isa == STRAKE_ISA_SCALAR || isa == STRAKE_ISA_BASE;
}

strake_isa strake_isa_best(void)
{
    int isa = STRAKE_ISAS - 1;
    while (!strake_isa_is_there((strake_isa)isa)) {
        isa--;
    }
    return (strake_isa)isa;
}

const char *strake_isa_name(strake_isa isa)
{
    static const char *const name[STRAKE_ISAS] = {"scalar", "base", "avx2", "avx512"};
    return name[isa];
}
