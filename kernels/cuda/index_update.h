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

/// Threads of a block side by side along the free elements, as far as there are any, and blocks
/// along them where updates alone would not fill the device.
struct GroupsGrid {
  dim3 grid, block;

  GroupsGrid(const GroupsCall& call, const Stream& stream) {
    unsigned x = 1;
    while (x < call.free.count && x < kUpdateBlock) x *= 2;
    block = dim3(x, kUpdateBlock / x);
    const unsigned most = elementwise_blocks(int64_t{1} << 31, stream);
    grid.x = std::min(ceil_div(call.count, block.y), most);
    grid.y = std::clamp(most / grid.x, 1u, ceil_div(call.free.count, x));
  }
};

}  // namespace taper::kernels::cuda
