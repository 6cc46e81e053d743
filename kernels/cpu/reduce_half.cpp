#include "taper/kernels/cpu/reduce_floating.h"

TAPER_CPU_BEGIN

template Status reduce_dtype<Half>(const ReduceArgs&, const Stream&);

TAPER_CPU_END
