#include "taper/kernels/cpu/index.h"

TAPER_CPU_BEGIN

namespace {

using GatherPositions = Positions<3>;

// Operands: values, index, self.
GatherPositions positions_of(const GatherArgs& args) {
  const auto& strides = args.plan.strides;
  return GatherPositions(args.plan, {strides[0], strides[1], strides[2]});
}

// Keeps one of the errors that threads find.
class FirstError {
 public:
  void add(const Status& status) {
    if (TAPER_UNLIKELY(!status.ok()) && !__atomic_test_and_set(&found_, __ATOMIC_ACQ_REL)) {
      error_ = status;
    }
  }
  /// After all threads have ended.
  const Status& status() const { return error_; }

 private:
  bool found_ = false;
  Status error_;
};

Status check_all(const GatherArgs& args, const Stream& stream) {
  const GatherPositions positions = positions_of(args);
  const int64_t step = positions.run_stride(1);
  FirstError error;
  parallel_for(stream, args.plan.numel, 4 * kIndexGrain, [&](int64_t begin, int64_t end) {
    positions.for_each_run(begin, end, [&](const int64_t* at, int64_t length) {
      error.add(check_indices(args.index + at[1], length, step, {args.size, false}));
    });
  });
  return error.status();
}

// The output is new: indices are checked just before they are used, while they are in the cache.
template <class U>
Status gather_runs(const GatherArgs& args, const Stream& stream) {
  constexpr int64_t kBlock = 1024;
  const GatherPositions positions = positions_of(args);
  const int64_t value_step = positions.run_stride(0), index_step = positions.run_stride(1);
  const int64_t self_step = positions.run_stride(2), stride = args.stride;
  FirstError error;
  parallel_for(stream, args.plan.numel, kIndexGrain, [&](int64_t begin, int64_t end) {
    positions.for_each_run(begin, end, [&](const int64_t* at, int64_t length) {
      for (int64_t block = 0; block < length; block += kBlock) {
        const int64_t n = std::min(kBlock, length - block);
        U* const values = static_cast<U*>(args.values) + at[0] + block * value_step;
        const int64_t* const index = args.index + at[1] + block * index_step;
        const U* const self = static_cast<const U*>(args.self) + at[2] + block * self_step;
        const Status status = check_indices(index, n, index_step, {args.size, false});
        if (!status.ok()) return error.add(status);
        for (int64_t i = 0; i < n; ++i) {
          values[i * value_step] = self[i * self_step + index[i * index_step] * stride];
        }
      }
    });
  });
  return error.status();
}

// One number as source is read at stride 0.
template <class T, ScatterOp kOp>
void scatter_runs(const GatherArgs& args, const Stream& stream) {
  const GatherPositions positions = positions_of(args);
  const T number = number_of<T>(args.scalar);
  const bool scalar = args.scalar_source;
  const int64_t value_step = scalar ? 0 : positions.run_stride(0);
  const int64_t index_step = positions.run_stride(1), self_step = positions.run_stride(2);
  const int64_t stride = args.stride;
  const auto separate = [&](int d) { return positions.strides[2][d] != 0; };
  const auto walk_piece = [&](const GatherPositions& piece, const int64_t* first) {
    piece.for_each_run(0, piece.numel(), [&](const int64_t* at, int64_t length) {
      const T* const values =
          scalar ? &number : static_cast<const T*>(args.values) + first[0] + at[0];
      const int64_t* const index = args.index + first[1] + at[1];
      T* const self = static_cast<T*>(args.self) + first[2] + at[2];
      for (int64_t i = 0; i < length; ++i) {
        T& to = self[i * self_step + index[i * index_step] * stride];
        const T update = values[i * value_step];
        if constexpr (kOp == ScatterOp::kAssign)
          to = update;
        else
          to = combine<update_t<T>>(kOp, to, update);
      }
    });
  };
  for_separate_pieces(stream, positions, separate, walk_piece);
}

template <class T>
Status scatter_halves(const GatherArgs& args, const Stream& stream) {
  const GatherPositions positions = positions_of(args);
  const int64_t value_step = positions.run_stride(0), index_step = positions.run_stride(1);
  const int64_t self_step = positions.run_stride(2);
  const Scratch<WideItem> updates(stream, 2 * args.plan.numel);
  if (updates.get() == nullptr) return updates.failure();
  int64_t count = 0;
  positions.for_each_run(0, args.plan.numel, [&](const int64_t* at, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t index = args.index[at[1] + i * index_step];
      const int64_t target = at[2] + i * self_step + index * args.stride;
      const int64_t source = args.scalar_source ? 0 : at[0] + i * value_step;
      updates[count++] = WideItem::make(static_cast<uint64_t>(target), source);
    }
  });
  const T number = number_of<T>(args.scalar);
  const T* const source = args.scalar_source ? &number : static_cast<const T*>(args.values);
  combine_grouped(args.op, stream, static_cast<T*>(args.self), 1, source, 1, 1.f, updates.get(),
                  count, 1);
  return {};
}

}  // namespace

Status gather(const GatherArgs& args, Stream stream) {
  if (args.plan.numel == 0) return {};
  return for_element_size(args.dtype, [&]<class U>(U) { return gather_runs<U>(args, stream); });
}

Status scatter(const GatherArgs& args, Stream stream) {
  if (args.plan.numel == 0) return {};
  const Status status = check_all(args, stream);
  if (!status.ok()) return status;
  return for_any(args.dtype, [&]<class T>(T) {
    if constexpr (is_half<T>) {
      if (args.op == ScatterOp::kAdd || args.op == ScatterOp::kMul) {
        return scatter_halves<T>(args, stream);
      }
    }
    return for_scatter_op(args.op, [&](auto known) {
      scatter_runs<T, decltype(known)::value>(args, stream);
      return Status{};
    });
  });
}

TAPER_CPU_END
