#pragma once

#include "taper/kernels/cuda/device/index_update.cuh"
#include "taper/kernels/cuda/dtypes.h"

namespace taper::kernels::cuda {

// The kernels of device/index_update.cuh for elements of T. Made in index_update_<class>.cu.

template <class T>
Status launch_columns(const ColumnsCall& call, const Stream& stream);

/// In packets of 16 bytes where `packed`; `call.free` counts them.
template <class T>
Status launch_groups(const GroupsCall& call, bool packed, const Stream& stream);

/// Of the groups that launch_groups left; see LongGroups. Made in index_update_long_<class>.cu.
template <class T>
Status launch_long(const GroupsCall& call, bool packed, const Stream& stream);

#define TAPER_UPDATE_KERNELS(T)                                                              \
  template <>                                                                                \
  Status launch_columns<T>(const ColumnsCall& call, const Stream& stream) {                  \
    return launch(stream, update_columns<T>, elementwise_blocks(call.columns.count, stream), \
                  kUpdateBlock, 0, call);                                                    \
  }                                                                                          \
  template <>                                                                                \
  Status launch_groups<T>(const GroupsCall& call, bool packed, const Stream& stream) {       \
    const GroupsGrid of(call, stream);                                                       \
    return launch(stream, packed ? update_groups<T, 16 / sizeof(T)> : update_groups<T, 1>,   \
                  of.grid, of.block, 0, call);                                               \
  }

/// How many groups of so many updates may be long; 0: there can be none.
inline unsigned most_long_groups(uint32_t count) { return count / (kLongGroup + 1); }

/// Threads of a block side by side along the free elements, as far as there are any, and blocks
/// along them where updates alone would not fill the device.
struct GroupsGrid {
  dim3 grid, block;

  GroupsGrid(const GroupsCall& call, const Stream& stream) : GroupsGrid(call, kUpdateBlock) {
    fill(call, stream, ceil_div(call.count, block.y));
  }
  /// Of update_long: most threads share out the updates.
  static GroupsGrid of_long(const GroupsCall& call, const Stream& stream) {
    GroupsGrid made(call, 16);
    made.fill(call, stream, most_long_groups(call.count));
    return made;
  }

 private:
  GroupsGrid(const GroupsCall& call, unsigned widest) {
    unsigned x = 1;
    while (x < call.free.count && x < widest) x *= 2;
    block = dim3(x, kUpdateBlock / x);
  }
  void fill(const GroupsCall& call, const Stream& stream, unsigned blocks) {
    const unsigned most = elementwise_blocks(int64_t{1} << 31, stream);
    grid.x = std::min(blocks, most);
    grid.y = std::clamp(most / grid.x, 1u, ceil_div(call.free.count, block.x));
  }
};

#define TAPER_UPDATE_LONG_KERNELS(T)                                                            \
  template <>                                                                                   \
  Status launch_long<T>(const GroupsCall& call, bool packed, const Stream& stream) {            \
    const GroupsGrid of = GroupsGrid::of_long(call, stream);                                    \
    return launch(stream, packed ? update_long<T, 16 / sizeof(T)> : update_long<T, 1>, of.grid, \
                  of.block, 0, call);                                                           \
  }

}  // namespace taper::kernels::cuda
