#pragma once

#include "taper/kernels/cpu/cpu.h"

TAPER_CPU_BEGIN

// The reductions of one dtype; each file instantiates its share, to keep compile times short.
template <class T>
Status reduce_dtype(const ReduceArgs& args, const Stream& stream);

extern template Status reduce_dtype<float>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<double>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<Half>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<BFloat16>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<int64_t>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<int32_t>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<int16_t>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<int8_t>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<uint8_t>(const ReduceArgs&, const Stream&);
extern template Status reduce_dtype<bool>(const ReduceArgs&, const Stream&);

TAPER_CPU_END
