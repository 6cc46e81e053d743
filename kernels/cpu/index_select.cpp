#include "taper/kernels/cpu/index.h"

TAPER_CPU_BEGIN

namespace {

template <class Visit>
Status for_index_type(ScalarType dtype, const Visit& visit) {
  return for_dtype<int64_t, int32_t>(dtype, visit);
}

// Copies a row: short ones with a length that the compiler knows.
template <size_t kBytes>
struct FixedRow {
  TAPER_INLINE void operator()(char* to, const char* from) const { std::memcpy(to, from, kBytes); }
};
struct AnyRow {
  size_t bytes;
  TAPER_INLINE void operator()(char* to, const char* from) const { std::memcpy(to, from, bytes); }
};

template <class Index, class CopyRow>
void select_rows(char* out, const char* self, const IndexAxisArgs& args, int64_t row_bytes,
                 const Stream& stream, const CopyRow& copy_row) {
  const Index* const index = static_cast<const Index*>(args.index);
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(8, row_bytes));
  parallel_for(stream, args.outer * args.count, grain, [&](int64_t begin, int64_t end) {
    int64_t outer = begin / args.count, j = begin % args.count;
    char* to = out + begin * row_bytes;
    for (int64_t row = begin; row < end; ++outer, j = 0) {
      const char* const plane = self + outer * args.size * row_bytes;
      for (; j < args.count && row < end; ++j, ++row, to += row_bytes) {
        copy_row(to, plane + index[j] * row_bytes);
      }
    }
  });
}

// self[outer, index[j], :] = op(., alpha * src[outer, j, :]) for ascending j. A thread owns a range
// of target rows and passes over the updates of others: no order depends on the number of threads.
template <class T, class Index, ScatterOp kOp>
void update_rows(T* self, const T* src, const IndexAxisArgs& args, T alpha, int64_t padding,
                 const Stream& stream) {
  const Index* const index = static_cast<const Index*>(args.index);
  const int64_t rows = args.outer * args.size, inner = args.inner;
  const int64_t work = args.outer * args.count * inner;
  const int64_t threads = std::clamp<int64_t>(work / kIndexGrain, 1, stream.host->num_threads());
  const int64_t grain = std::max<int64_t>(1, (rows + threads - 1) / threads);
  parallel_for(stream, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t outer = begin / args.size; outer * args.size < end; ++outer) {
      const int64_t low = std::max<int64_t>(0, begin - outer * args.size);
      const int64_t high = std::min(args.size, end - outer * args.size);
      for (int64_t j = 0; j < args.count; ++j) {
        const int64_t target = index[j];
        if (target < low || target >= high || target == padding) continue;
        T* const to = self + (outer * args.size + target) * inner;
        const T* const from = src + (outer * args.count + j) * inner;
        for (int64_t i = 0; i < inner; ++i) {
          T update = from[i];
          if constexpr (kOp == ScatterOp::kAdd) update = combine<T>(ScatterOp::kMul, update, alpha);
          to[i] = combine<update_t<T>>(kOp, to[i], update);
        }
      }
    }
  });
}

template <class T, class Index>
Status update_halves(ScatterOp op, T* self, const T* src, const IndexAxisArgs& args, float alpha,
                     int64_t padding, const Stream& stream) {
  const Index* const index = static_cast<const Index*>(args.index);
  const Scratch<WideItem> updates(stream, 2 * args.outer * args.count);
  if (updates.get() == nullptr) return updates.failure();
  int64_t count = 0;
  for (int64_t outer = 0; outer < args.outer; ++outer) {
    for (int64_t j = 0; j < args.count; ++j) {
      if (index[j] == padding) continue;
      const int64_t target = (outer * args.size + index[j]) * args.inner;
      updates[count++] =
          WideItem::make(static_cast<uint64_t>(target), (outer * args.count + j) * args.inner);
    }
  }
  combine_grouped(op, stream, self, 1, src, 1, alpha, updates.get(), count, args.inner);
  return {};
}

}  // namespace

Status index_select(void* out, const void* self, const IndexAxisArgs& args, Stream stream) {
  return for_index_type(args.index_dtype, [&]<class Index>(Index) {
    const Index* const index = static_cast<const Index*>(args.index);
    const Status status = check_indices(index, args.count, 1, {args.size, false});
    if (!status.ok()) return status;
    const int64_t row_bytes = args.inner * static_cast<int64_t>(element_size(args.dtype));
    if (args.outer * args.count * row_bytes == 0) return Status{};
    char* const to = static_cast<char*>(out);
    const char* const from = static_cast<const char*>(self);
    const auto select = [&](const auto& copy_row) {
      select_rows<Index>(to, from, args, row_bytes, stream, copy_row);
    };
    switch (row_bytes) {
      case 1:
        select(FixedRow<1>{});
        break;
      case 2:
        select(FixedRow<2>{});
        break;
      case 4:
        select(FixedRow<4>{});
        break;
      case 8:
        select(FixedRow<8>{});
        break;
      case 16:
        select(FixedRow<16>{});
        break;
      default:
        select(AnyRow{static_cast<size_t>(row_bytes)});
    }
    return Status{};
  });
}

Status index_update(ScatterOp op, void* self, const void* src, const IndexAxisArgs& args,
                    Value alpha, int64_t padding, Stream stream) {
  return for_index_type(args.index_dtype, [&]<class Index>(Index) {
    const Index* const index = static_cast<const Index*>(args.index);
    const Status status = check_indices(index, args.count, 1, {args.size, false});
    if (!status.ok() || args.outer * args.count * args.inner == 0) return status;
    return for_any(args.dtype, [&]<class T>(T) {
      T* const to = static_cast<T*>(self);
      const T* const from = static_cast<const T*>(src);
      if constexpr (is_half<T>) {
        if (op == ScatterOp::kAdd || op == ScatterOp::kMul) {
          return update_halves<T, Index>(op, to, from, args, static_cast<float>(alpha.d), padding,
                                         stream);
        }
      }
      const T factor = number_of<T>(alpha);
      return for_scatter_op(op, [&](auto known) {
        update_rows<T, Index, decltype(known)::value>(to, from, args, factor, padding, stream);
        return Status{};
      });
    });
  });
}

TAPER_CPU_END
