#include "taper/kernels/cpu/cpu.h"

#define TAPER_TEXT_(x) #x
#define TAPER_TEXT(x) TAPER_TEXT_(x)
#define TAPER_JOIN_(a, b) a##b
#define TAPER_JOIN(a, b) TAPER_JOIN_(a, b)

// The only symbol that leaves this level's objects.
extern "C" const taper::kernels::CpuModule TAPER_JOIN(taper_cpu_table_, TAPER_CPU_LEVEL);

using namespace taper::kernels;

extern "C" const CpuModule TAPER_JOIN(taper_cpu_table_, TAPER_CPU_LEVEL) = {
    TAPER_TEXT(TAPER_CPU_LEVEL),
    {
#define TAPER_ENTRY(name) .name = cpu::name,
        TAPER_KERNELS(TAPER_ENTRY)
#undef TAPER_ENTRY
    },
};
