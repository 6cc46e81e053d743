#pragma once

#include <algorithm>

#include "taper/kernels/cpu/cpu.h"

// A list of tensors walked as one long row, so that many small ones share a piece of work and a
// large one is cut into several.

TAPER_CPU_BEGIN

class TensorList {
 public:
  /// Cuts every tensor into units of `unit` elements, the last of each being shorter.
  TensorList(const OptimizerArgs& args, int64_t unit, const Stream& stream)
      : args_(args), unit_(unit), starts_(stream, args.count + 1) {
    if (!starts_.get()) return;
    int64_t total = 0;
    for (int64_t i = 0; i < args.count; ++i) {
      starts_[i] = total;
      total += (args.tensors[i].numel + unit - 1) / unit;
    }
    starts_[args.count] = total;
  }

  bool ok() const { return starts_.get() != nullptr; }
  Status failure() const { return starts_.failure(); }
  int64_t units() const { return starts_[args_.count]; }
  /// The number of the first unit of a tensor; of the last tensor + 1: units().
  int64_t start(int64_t tensor) const { return starts_[tensor]; }

  /// Calls body(tensor, first, last) for the runs of elements that units [begin, end) stand for.
  template <class Body>
  void walk(int64_t begin, int64_t end, const Body& body) const {
    const int64_t* starts = starts_.get();
    int64_t i = std::upper_bound(starts, starts + args_.count + 1, begin) - starts - 1;
    for (; begin < end; ++i) {
      const int64_t stop = std::min(end, starts[i + 1]);
      if (begin == stop) continue;
      const TensorRef& tensor = args_.tensors[i];
      body(tensor, (begin - starts[i]) * unit_, std::min((stop - starts[i]) * unit_, tensor.numel));
      begin = stop;
    }
  }

 private:
  const OptimizerArgs& args_;
  int64_t unit_;
  Scratch<int64_t> starts_;
};

constexpr int64_t kOptimizerGrain = 16 * 1024;  // elements worth a thread

/// Calls body(tensor, first, last) over all elements of all tensors, in parallel.
template <class Body>
Status for_elements(const OptimizerArgs& args, const Stream& stream, const Body& body) {
  const TensorList list(args, 1, stream);
  if (!list.ok()) return list.failure();
  parallel_for(stream, list.units(), kOptimizerGrain,
               [&](int64_t begin, int64_t end) { list.walk(begin, end, body); });
  return {};
}

TAPER_CPU_END
