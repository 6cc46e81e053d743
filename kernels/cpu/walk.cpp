#include "taper/kernels/cpu/walk.h"

#include <algorithm>
#include <utility>

#include "taper/kernels/cpu/transfer.h"
#include "taper/kernels/cpu/vec.h"

TAPER_CPU_BEGIN

namespace {

constexpr int kMaxOperands = 4;
// Rows shorter than this are gathered into one run of many rows.
constexpr int64_t kShortRow = 32;

enum class Access : uint8_t {
  kInPlace,  // the loop reads or writes the operand where it lies
  kNumber,   // one number, spread over a buffer once
  kBuffer,   // gathered before, or scattered after
  kStream,   // a dense result written past the caches
};

// Scratch of one thread: a tile of each operand, and one more for halves on their way.
struct Buffers {
  alignas(64) char operand[kMaxOperands][kTileElements * 8];
  alignas(64) char halves[kTileElements * 2];
};

class Walk {
 public:
  Walk(const WalkArgs& args, const Stream& stream) : args_(args), operands_(args.inputs + 1) {
    rank_ = std::max(args.rank, 2);
    for (int d = 0; d < rank_; ++d) sizes_[d] = d < args.rank ? args.sizes[d] : 1;
    for (int k = 0; k < operands_; ++k) {
      const Operand& operand = args.operands[k];
      size_[k] = static_cast<int>(element_size(operand.dtype));
      run_size_[k] = operand.widen ? 4 : size_[k];
      for (int d = 0; d < rank_; ++d) {
        strides_[k][d] = d < args.rank && operand.strides ? operand.strides[d] * size_[k] : 0;
      }
    }
    choose_second_dimension();
    choose_access();
    choose_tile(stream);
  }

  Status run(const Stream& stream) {
    tiles0_ = (sizes_[0] + tile0_ - 1) / tile0_;
    tiles1_ = (sizes_[1] + tile1_ - 1) / tile1_;
    int64_t tiles = tiles0_ * tiles1_;
    for (int d = 2; d < rank_; ++d) tiles *= sizes_[d];
    const int64_t grain = std::max<int64_t>(1, args_.grain / (tile0_ * tile1_));
    parallel_for(stream, tiles, grain,
                 [this](int64_t begin, int64_t end) { walk_tiles(begin, end); });
    if (__atomic_load_n(&divided_by_zero_, __ATOMIC_RELAXED)) {
      return {Code::kInvalidValue, 0, 0, "division by zero"};
    }
    return {};
  }

 private:
  bool dense(int k) const { return strides_[k][0] == size_[k] || sizes_[0] == 1; }

  // Dimension 1 becomes the one along which a transposed operand is dense, so that whole cache
  // lines of it are used within a tile.
  void choose_second_dimension() {
    for (int k = 0; k < operands_ && !transposed_; ++k) {
      if (strides_[k][0] == 0 || dense(k)) continue;
      for (int d = 1; d < rank_; ++d) {
        if (strides_[k][d] != size_[k] || sizes_[d] < 8) continue;
        std::swap(sizes_[1], sizes_[d]);
        for (int i = 0; i < operands_; ++i) std::swap(strides_[i][1], strides_[i][d]);
        transposed_ = sizes_[0] >= 8;
        break;
      }
    }
  }

  void choose_access() {
    joined_ = args_.loop && !transposed_ && sizes_[0] < kShortRow && sizes_[1] > 1;
    for (int k = 0; k < operands_; ++k) {
      const bool whole_rows = !joined_ || strides_[k][1] == sizes_[0] * size_[k];
      if (!args_.operands[k].strides)
        access_[k] = Access::kNumber;
      else if (dense(k) && whole_rows && !args_.operands[k].widen)
        access_[k] = Access::kInPlace;
      else
        access_[k] = Access::kBuffer;
    }
    if (access_[0] == Access::kInPlace && sizes_[0] == args_.numel && !writes_over_input() &&
        args_.numel * size_[0] >= kStreamBytes) {
      access_[0] = Access::kStream;
    }
  }

  bool writes_over_input() const {
    for (int k = 1; k < operands_; ++k) {
      if (args_.operands[k].data == args_.operands[0].data) return true;
    }
    return false;
  }

  void choose_tile(const Stream& stream) {
    int64_t run = args_.grain;
    if (sizes_[0] == args_.numel && args_.numel > run) {
      // One long run is dealt evenly: a tile for each thread that it is worth.
      const int64_t tiles = std::min<int64_t>(stream.host->num_threads(), args_.numel / run);
      run = ((args_.numel - 1) / tiles / 64 + 1) * 64;
    }
    const bool in_place = std::all_of(access_, access_ + operands_,
                                      [](Access access) { return access == Access::kInPlace; });
    if (!args_.loop) {
      // A copy has no buffers. Transposed: one cache line wide, and long.
      tile0_ = transposed_ ? 512 : access_[0] == Access::kStream ? kTileElements : run;
      tile1_ = transposed_ ? 64 / size_[0] : std::max<int64_t>(1, args_.grain / sizes_[0]);
    } else if (transposed_) {
      tile0_ = 64;
      tile1_ = kTileElements / 64;
    } else {
      tile0_ = in_place ? run : kTileElements;
      tile1_ = std::max<int64_t>(1, kTileElements / std::min(sizes_[0], tile0_));
    }
    tile0_ = std::min(tile0_, sizes_[0]);
    tile1_ = std::min(tile1_, sizes_[1]);
  }

  void walk_tiles(int64_t begin, int64_t end) {
    Buffers buffers;
    for (int k = 1; k < operands_; ++k) {
      if (access_[k] == Access::kNumber) spread_number(k, buffers);
    }
    int64_t at[kMaxRank];  // at[0] and at[1] count tiles
    int64_t rest = begin;
    at[0] = rest % tiles0_, rest /= tiles0_;
    at[1] = rest % tiles1_, rest /= tiles1_;
    for (int d = 2; d < rank_; ++d) at[d] = rest % sizes_[d], rest /= sizes_[d];

    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t i0 = at[0] * tile0_, i1 = at[1] * tile1_;
      char* corner[kMaxOperands];
      for (int k = 0; k < operands_; ++k) {
        int64_t offset = i0 * strides_[k][0] + i1 * strides_[k][1];
        for (int d = 2; d < rank_; ++d) offset += at[d] * strides_[k][d];
        corner[k] = static_cast<char*>(args_.operands[k].data) + offset;
      }
      const int64_t n0 = std::min(tile0_, sizes_[0] - i0);
      const int64_t n1 = std::min(tile1_, sizes_[1] - i1);
      if (args_.loop)
        compute_tile(corner, n0, n1, buffers);
      else
        copy_tile(corner, n0, n1, buffers);

      if (++at[0] < tiles0_) continue;
      at[0] = 0;
      if (++at[1] < tiles1_) continue;
      at[1] = 0;
      for (int d = 2; d < rank_ && ++at[d] == sizes_[d]; ++d) at[d] = 0;
    }
    if (access_[0] == Access::kStream) stream_fence();
  }

  void spread_number(int k, Buffers& buffers) {
    const int64_t count = std::min(kTileElements, tile0_ * (joined_ ? tile1_ : 1));
    char* number = static_cast<char*>(args_.operands[k].data);
    move_elements(size_[k], {buffers.operand[k], size_[k], 0}, {number, 0, 0}, count, 1);
  }

  void copy_tile(char* const* corner, int64_t n0, int64_t n1, Buffers& buffers) {
    if (access_[0] == Access::kStream) {
      const bool number = access_[1] == Access::kNumber;
      if (number || dense(1)) {
        return stream_copy(corner[0], number ? buffers.operand[1] : corner[1], n0 * size_[0]);
      }
    }
    move_elements(size_[0], {corner[0], strides_[0][0], strides_[0][1]},
                  {corner[1], strides_[1][0], strides_[1][1]}, n0, n1);
  }

  void compute_tile(char* const* corner, int64_t n0, int64_t n1, Buffers& buffers) {
    const char* row[kMaxOperands] = {};
    int64_t step[kMaxOperands];  // bytes from a row to the next
    for (int k = 0; k < operands_; ++k) {
      if (access_[k] == Access::kInPlace) {
        row[k] = corner[k];
        step[k] = strides_[k][1];
        continue;
      }
      row[k] = buffers.operand[k];
      step[k] = access_[k] == Access::kNumber ? 0 : n0 * run_size_[k];
      if (k > 0 && access_[k] == Access::kBuffer) {
        // Rows that are all the same are gathered once.
        const bool same = strides_[k][1] == 0 && !joined_;
        gather(k, corner[k], n0, same ? 1 : n1, buffers);
        if (same) step[k] = 0;
      }
    }
    const int64_t count = joined_ ? n0 * n1 : n0;
    const int64_t rows = joined_ ? 1 : n1;
    bool ok = true;
    for (int64_t r = 0; r < rows; ++r) {
      ok &= args_.loop(
          {const_cast<char*>(row[0]), {row[1], row[2], row[3]}, count, args_.parameters});
      for (int k = 0; k < operands_; ++k) row[k] += step[k];
    }
    if (TAPER_UNLIKELY(!ok)) __atomic_store_n(&divided_by_zero_, true, __ATOMIC_RELAXED);
    if (access_[0] == Access::kStream)
      stream_copy(corner[0], buffers.operand[0], n0 * size_[0]);
    else if (access_[0] == Access::kBuffer)
      scatter(corner[0], n0, n1, buffers);
  }

  void gather(int k, char* from, int64_t n0, int64_t n1, Buffers& buffers) const {
    const Side source{from, strides_[k][0], strides_[k][1]};
    char* to = buffers.operand[k];
    if (!args_.operands[k].widen) {
      return move_elements(size_[k], {to, size_[k], n0 * size_[k]}, source, n0, n1);
    }
    const ScalarType half = args_.operands[k].dtype;
    float* floats = reinterpret_cast<float*>(to);
    if (strides_[k][0] == 2) {
      if (strides_[k][1] == n0 * 2) n0 *= std::exchange(n1, 1);
      for (int64_t r = 0; r < n1; ++r) widen(floats + r * n0, from + r * strides_[k][1], half, n0);
    } else {
      move_elements(2, {buffers.halves, 2, n0 * 2}, source, n0, n1);
      widen(floats, buffers.halves, half, n0 * n1);
    }
  }

  void scatter(char* to, int64_t n0, int64_t n1, Buffers& buffers) const {
    const Side target{to, strides_[0][0], strides_[0][1]};
    char* from = buffers.operand[0];
    if (!args_.operands[0].widen) {
      return move_elements(size_[0], target, {from, size_[0], n0 * size_[0]}, n0, n1);
    }
    const ScalarType half = args_.operands[0].dtype;
    const float* floats = reinterpret_cast<const float*>(from);
    if (strides_[0][0] == 2) {
      if (strides_[0][1] == n0 * 2) n0 *= std::exchange(n1, 1);
      for (int64_t r = 0; r < n1; ++r) narrow(to + r * strides_[0][1], floats + r * n0, half, n0);
    } else {
      narrow(buffers.halves, floats, half, n0 * n1);
      move_elements(2, target, {buffers.halves, 2, n0 * 2}, n0, n1);
    }
  }

  const WalkArgs& args_;
  int operands_;
  int rank_;
  int size_[kMaxOperands];      // bytes of an element in memory
  int run_size_[kMaxOperands];  // and as the loop sees it
  Access access_[kMaxOperands] = {};
  int64_t sizes_[kMaxRank];
  int64_t strides_[kMaxOperands][kMaxRank];  // bytes
  bool transposed_ = false;
  bool joined_ = false;  // a tile is one run, not a run per row
  int64_t tile0_, tile1_, tiles0_, tiles1_;
  bool divided_by_zero_ = false;
};

}  // namespace

Status walk(const WalkArgs& args, const Stream& stream) {
  if (args.numel == 0) return {};
  return Walk(args, stream).run(stream);
}

TAPER_CPU_END
