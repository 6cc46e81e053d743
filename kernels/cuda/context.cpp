#include "taper/kernels/cuda/context.h"

#include <cstring>
#include <mutex>

namespace taper::kernels::cuda {

namespace {

constexpr int kMaxDevices = 64;

struct PerDevice {
  std::once_flag properties_once, fault_once;
  DeviceProperties properties{};
  DeviceFault* fault = nullptr;
};

PerDevice& of(int device) {
  static auto* const devices = new PerDevice[kMaxDevices];
  return devices[device];
}

void read_properties(int device, DeviceProperties* to) {
  cudaDeviceProp from{};
  if (cudaGetDeviceProperties(&from, device) != cudaSuccess) return;
  std::memcpy(to->name, from.name, sizeof to->name);
  to->major = from.major;
  to->minor = from.minor;
  to->total_memory = static_cast<int64_t>(from.totalGlobalMem);
  to->multi_processor_count = from.multiProcessorCount;
  to->warp_size = from.warpSize;
  to->max_threads_per_block = from.maxThreadsPerBlock;
  to->max_threads_per_multi_processor = from.maxThreadsPerMultiProcessor;
  to->shared_memory_per_block = static_cast<int64_t>(from.sharedMemPerBlock);
  to->shared_memory_per_block_opt_in = static_cast<int64_t>(from.sharedMemPerBlockOptin);
  to->shared_memory_per_multi_processor = static_cast<int64_t>(from.sharedMemPerMultiprocessor);
  to->registers_per_multi_processor = from.regsPerMultiprocessor;
  to->l2_cache_size = from.l2CacheSize;
  to->memory_bus_width = from.memoryBusWidth;
  to->integrated = from.integrated != 0;
}

}  // namespace

const DeviceProperties& properties_of(int device) {
  PerDevice& mine = of(device);
  std::call_once(mine.properties_once, [&] { read_properties(device, &mine.properties); });
  return mine.properties;
}

DeviceFault* fault_of(const Stream& stream) {
  PerDevice& mine = of(stream.device);
  std::call_once(mine.fault_once, [&] {
    void* memory = nullptr;
    if (cudaMalloc(&memory, sizeof(DeviceFault)) != cudaSuccess ||
        cudaMemset(memory, 0, sizeof(DeviceFault)) != cudaSuccess) {
      cudaGetLastError();
      return;
    }
    mine.fault = static_cast<DeviceFault*>(memory);
  });
  return mine.fault;
}

}  // namespace taper::kernels::cuda
