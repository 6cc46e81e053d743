#include <algorithm>

#include "taper/kernels/cuda/device/sort_rows.cuh"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/radix_sort.h"

// Which way pays:
//   up to 2048 elements     in shared memory, device/sort_rows.cuh
//   the first few of more   selected first, if rows are many enough to fill the device with a block
//                           each, or short
//   all else                by digits, device/radix_sort.cuh

namespace taper::kernels::cuda {

namespace {

constexpr int kBlock = 256;
constexpr int64_t kMostSelected = kSortTile;
constexpr int64_t kLongForOneBlock = int64_t{1} << 17;
constexpr int64_t kMostElements = int64_t{1} << 27;  // sorted at a time: bounds the scratch memory
constexpr int64_t kLongestRow = (int64_t{1} << 31) - 1;

/// Keys and positions of all elements of rows `first_row` and on; a row for each blockIdx.y.
template <class U>
__global__ void __launch_bounds__(kBlock)
    make_keys(U* keys, int32_t* positions, const __grid_constant__ SortCall call,
              int64_t first_row) {
  const int64_t to = blockIdx.y * call.size;
  const U* const in =
      static_cast<const U*>(call.in) + call.start(first_row + blockIdx.y, call.size);
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < call.size;
       i += int64_t{gridDim.x} * kBlock) {
    keys[to + i] = sort_key(in[i * call.inner], call.rule);
    positions[to + i] = static_cast<int32_t>(i);
  }
}

/// The first k values and positions of these rows.
template <class U>
__global__ void __launch_bounds__(kBlock)
    put_rows(const int32_t* positions, const __grid_constant__ SortCall call, int64_t first_row) {
  const int64_t row = first_row + blockIdx.y;
  const U* const in = static_cast<const U*>(call.in) + call.start(row, call.size);
  const int64_t start = call.start(row, call.k);
  for (int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x; i < call.k;
       i += int64_t{gridDim.x} * kBlock) {
    const int64_t position = positions[blockIdx.y * call.size + i];
    const int64_t to = start + i * call.inner;
    call.indices[to] = position;
    static_cast<U*>(call.values)[to] = in[position * call.inner];
  }
}

KeyRule key_rule(ScalarType dtype, bool descending) {
  KeyRule rule{};
  switch (dtype) {
    case kFloat:
      rule.infinity = 0x7f800000u;
      break;
    case kDouble:
      rule.infinity = uint64_t{0x7ff0000000000000u};
      break;
    case kHalf:
      rule.infinity = 0x7c00u;
      break;
    case kBFloat16:
      rule.infinity = 0x7f80u;
      break;
    case kByte:
    case kBool:
      break;
    default:
      rule.sign = uint64_t{1} << (8 * element_size(dtype) - 1);
  }
  if (descending) rule.flip = ~uint64_t{0};
  return rule;
}

/// The least power of 2 that is not less than n, and 2 at least.
int32_t segment_for(int64_t n) {
  int32_t segment = 2;
  while (segment < n) segment *= 2;
  return segment;
}

template <class U>
Status sort_by_digits(const SortCall& call, const Stream& stream) {
  const int64_t rows_at_once =
      std::min({call.rows, kMostRadixRows, std::max<int64_t>(1, kMostElements / call.size)});
  RadixSorter<U> sorter(stream, rows_at_once, call.size);
  TAPER_TRY(sorter.status());
  for (int64_t row = 0; row < call.rows; row += rows_at_once) {
    const int64_t rows = std::min(rows_at_once, call.rows - row);
    const auto grid = [&](int64_t columns) {
      return dim3(static_cast<unsigned>((columns + kBlock - 1) / kBlock),
                  static_cast<unsigned>(rows));
    };
    TAPER_TRY(launch(stream, make_keys<U>, grid(call.size), dim3(kBlock), 0, sorter.keys(),
                     sorter.payloads(), call, row));
    TAPER_TRY(sorter.sort(rows, call.size, 8 * static_cast<int>(sizeof(U))));
    TAPER_TRY(
        launch(stream, put_rows<U>, grid(call.k), dim3(kBlock), 0, sorter.payloads(), call, row));
  }
  return {};
}

template <class U>
Status sort_elements(SortCall& call, const Stream& stream) {
  if (call.size <= kSortTile) {
    call.segment = segment_for(call.size);
    const int64_t all = call.segment * std::min<int64_t>(call.rows, kSortTile);
    call.tile = segment_for(std::min<int64_t>(all, kSortTile));
    const int64_t rows_of_block = call.tile / call.segment;
    const int64_t blocks = (call.rows + rows_of_block - 1) / rows_of_block;
    return launch(stream, sort_short_rows<U>, dim3(static_cast<unsigned>(blocks)), dim3(kSortBlock),
                  0, call);
  }
  if (call.size > kLongestRow) {
    return {Code::kInvalidValue, 0, 0, "a row to sort may have 2^31 - 1 elements"};
  }
  const bool few = call.k <= kMostSelected && call.k <= call.size / 2;
  if (few && (call.size <= kLongForOneBlock ||
              call.rows >= properties_of(stream.device).multi_processor_count)) {
    call.segment = segment_for(call.k);
    return launch(stream, select_long_rows<U>, dim3(static_cast<unsigned>(call.rows)),
                  dim3(kSortBlock), 0, call);
  }
  return sort_by_digits<U>(call, stream);
}

}  // namespace

Status sort(const SortArgs& args, Stream stream) {
  SortCall call{};
  call.in = args.in;
  call.values = args.values;
  call.indices = args.indices;
  call.rows = args.axis.outer * args.axis.inner;
  call.size = args.axis.size;
  call.inner = args.axis.inner;
  call.k = args.k;
  call.rule = key_rule(args.dtype, args.descending);
  if (call.rows == 0 || call.size == 0 || call.k == 0) return {};
  switch (element_size(args.dtype)) {
    case 1:
      return sort_elements<uint8_t>(call, stream);
    case 2:
      return sort_elements<uint16_t>(call, stream);
    case 4:
      return sort_elements<uint32_t>(call, stream);
    default:
      return sort_elements<uint64_t>(call, stream);
  }
}

}  // namespace taper::kernels::cuda
