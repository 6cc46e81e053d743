#include "taper/kernels/cpu/index.h"

TAPER_CPU_BEGIN

namespace {

// Operands: values, self, the index tensors.
using IndexPositions = Positions<2 + kMaxIndexTensors>;

IndexPositions positions_of(const AdvancedIndexArgs& args) {
  IndexPositions positions(args.plan, {args.plan.strides[0], args.plan.strides[1]});
  for (int k = 0; k < args.count; ++k) positions.strides[positions.count++] = args.index_strides[k];
  return positions;
}

// Each index tensor on its own, along the dimensions in which it varies.
Status check_all(const AdvancedIndexArgs& args) {
  for (int k = 0; k < args.count; ++k) {
    Positions<1> positions(args.plan, {args.index_strides[k]});
    for (int d = 0; d < positions.rank; ++d) {
      if (args.index_strides[k][d] == 0) positions.sizes[d] = 1;
    }
    Status status;
    positions.for_each_run(0, positions.numel(), [&](const int64_t* at, int64_t length) {
      if (!status.ok()) return;
      status = check_indices(args.indices[k] + at[0], length, positions.run_stride(0),
                             {args.self_sizes[k], true});
    });
    if (!status.ok()) return status;
  }
  return {};
}

// No index tensor varies along dimension d: its positions in self differ.
bool is_separate(const AdvancedIndexArgs& args, int d) {
  for (int k = 0; k < args.count; ++k) {
    if (args.index_strides[k][d] != 0) return false;
  }
  return args.plan.strides[1][d] != 0;
}

// The place in self that element i of a run goes to.
class Target {
 public:
  Target(const AdvancedIndexArgs& args, const IndexPositions& positions) : args_(args) {
    self_step_ = positions.run_stride(1);
    for (int k = 0; k < args.count; ++k) {
      steps_[k] = positions.run_stride(2 + k);
      constant_ &= steps_[k] == 0;
    }
  }

  /// True when the index tensors do not vary within a run: its elements are evenly spaced.
  bool even() const { return constant_; }

  TAPER_INLINE int64_t operator()(const int64_t* at, int64_t i) const {
    int64_t offset = at[1] + i * self_step_;
    for (int k = 0; k < args_.count; ++k) {
      int64_t index = args_.indices[k][at[2 + k] + i * steps_[k]];
      index += index < 0 ? args_.self_sizes[k] : 0;
      offset += index * args_.self_strides[k];
    }
    return offset;
  }

 private:
  const AdvancedIndexArgs& args_;
  int64_t self_step_;
  int64_t steps_[kMaxIndexTensors];
  bool constant_ = true;
};

template <class U>
TAPER_INLINE void copy_run(U* to, int64_t to_step, const U* from, int64_t from_step, int64_t n) {
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(U));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

template <class U>
void get_runs(const AdvancedIndexArgs& args, const Stream& stream) {
  const IndexPositions positions = positions_of(args);
  const Target target(args, positions);
  const int64_t value_step = positions.run_stride(0), self_step = positions.run_stride(1);
  const U* const self = static_cast<const U*>(args.self);
  parallel_for(stream, args.plan.numel, kIndexGrain, [&](int64_t begin, int64_t end) {
    positions.for_each_run(begin, end, [&](const int64_t* at, int64_t length) {
      U* const values = static_cast<U*>(args.values) + at[0];
      if (target.even()) {
        copy_run(values, value_step, self + target(at, 0), self_step, length);
      } else {
        for (int64_t i = 0; i < length; ++i) values[i * value_step] = self[target(at, i)];
      }
    });
  });
}

// Writes in the order of positions, the last of equal ones winning. `store(to, from, n)` for even
// runs.
template <class T, bool kAccumulate>
void put_runs(const AdvancedIndexArgs& args, const Stream& stream) {
  const IndexPositions positions = positions_of(args);
  const Target target(args, positions);
  const int64_t value_step = positions.run_stride(0), self_step = positions.run_stride(1);
  const auto separate = [&](int d) { return is_separate(args, d); };
  for_separate_pieces(
      stream, positions, separate, [&](const IndexPositions& piece, const int64_t* first) {
        T* const self = static_cast<T*>(args.self) + first[1];
        const T* const all_values = static_cast<const T*>(args.values) + first[0];
        piece.for_each_run(0, piece.numel(), [&](const int64_t* at, int64_t length) {
          const T* const values = all_values + at[0];
          if constexpr (kAccumulate) {
            for (int64_t i = 0; i < length; ++i) {
              T& to = self[target(at, i)];
              to = combine<T>(ScatterOp::kAdd, to, values[i * value_step]);
            }
          } else if (target.even()) {
            copy_run(self + target(at, 0), self_step, values, value_step, length);
          } else {
            for (int64_t i = 0; i < length; ++i) self[target(at, i)] = values[i * value_step];
          }
        });
      });
}

template <class T>
Status add_halves(const AdvancedIndexArgs& args, const Stream& stream) {
  const IndexPositions positions = positions_of(args);
  const Target target(args, positions);
  const int64_t value_step = positions.run_stride(0), self_step = positions.run_stride(1);
  // Even runs are added as wholes, others element by element.
  const int64_t unit = target.even() ? positions.run_length() : 1;
  const Scratch<WideItem> updates(stream, 2 * (args.plan.numel / unit));
  if (updates.get() == nullptr) return updates.failure();
  int64_t count = 0;
  positions.for_each_run(0, args.plan.numel, [&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; i += unit) {
      updates[count++] =
          WideItem::make(static_cast<uint64_t>(target(at, i)), at[0] + i * value_step);
    }
  });
  combine_grouped(ScatterOp::kAdd, stream, static_cast<T*>(args.self), self_step,
                  static_cast<const T*>(args.values), value_step, 1.f, updates.get(), count, unit);
  return {};
}

}  // namespace

Status index_get(const AdvancedIndexArgs& args, Stream stream) {
  if (args.plan.numel == 0) return {};
  const Status status = check_all(args);
  if (!status.ok()) return status;
  return for_element_size(args.dtype, [&]<class U>(U) {
    get_runs<U>(args, stream);
    return Status{};
  });
}

Status index_put(const AdvancedIndexArgs& args, bool accumulate, Stream stream) {
  if (args.plan.numel == 0) return {};
  const Status status = check_all(args);
  if (!status.ok()) return status;
  if (!accumulate) {
    return for_element_size(args.dtype, [&]<class U>(U) {
      put_runs<U, false>(args, stream);
      return Status{};
    });
  }
  return for_any(args.dtype, [&]<class T>(T) {
    if constexpr (is_half<T>) return add_halves<T>(args, stream);
    put_runs<T, true>(args, stream);
    return Status{};
  });
}

TAPER_CPU_END
