#include "taper/kernels/cuda/context.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "taper/kernels/cuda/device_state.h"
#include "taper/kernels/cuda/pinned.h"
#include "taper/kernels/cuda/runtime.h"

namespace taper::kernels::cuda {

namespace {

template <class T>
using PerDevice = std::array<std::atomic<T*>, kMaxDevices>;

// Never destroyed: tensors in static variables may go later than these would.
std::mutex& mutex() {
  static auto* const made = new std::mutex;
  return *made;
}
PerDevice<const DeviceProperties>& all_properties() {
  static auto* const made = new PerDevice<const DeviceProperties>{};
  return *made;
}
PerDevice<DeviceState>& all_states() {
  static auto* const made = new PerDevice<DeviceState>{};
  return *made;
}

Status no_such_device(int device) {
  return {Code::kDeviceError, device, 0,
          keep("cuda:" + std::to_string(device) + " does not exist")};
}

Status read_properties(int device, DeviceProperties* to) {
  cudaDeviceProp from{};
  TAPER_CUDA_TRY(cudaGetDeviceProperties(&from, device));
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
  to->emulated = kEmulated;
  // CUDA 13 has them as attributes alone, and some drivers not even so.
  if (cudaDeviceGetAttribute(&to->clock_rate, cudaDevAttrClockRate, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&to->memory_clock_rate, cudaDevAttrMemoryClockRate, device) !=
          cudaSuccess) {
    cudaGetLastError();
  }
  return {};
}

// A card's memory goes with the process. The emulator, asked to list at exit what was not freed
// (TAPER_EMULATOR=leaks=on), is not to list the caches. Its own function for that runs later.
void free_at_exit() {
  static const int registered = std::atexit([] {
    if (kRuntime.live_allocations() == 0) {
      shut_down();
    } else {
      static_cast<void>(kRuntime.empty_cache());
      free_stream_marks();
    }
  });
  static_cast<void>(registered);
}

}  // namespace

// Of the driver's calls, which are opened and not linked, the one that asks without making a
// context.
bool has_context(int device) {
  using GetState = int (*)(int device, unsigned* flags, int* active);
  static const auto get_state = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found, 12000,
                                         cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      cudaGetLastError();
      found = nullptr;
    }
    return reinterpret_cast<GetState>(found);
  }();
  unsigned flags = 0;
  int active = 0;
  return get_state && get_state(device, &flags, &active) == 0 && active != 0;
}

Status find_properties(int device, const DeviceProperties** properties) {
  if (device < 0 || device >= kMaxDevices) return no_such_device(device);
  auto& slot = all_properties()[static_cast<size_t>(device)];
  *properties = slot.load(std::memory_order_acquire);
  if (*properties) return {};
  const std::lock_guard lock(mutex());
  if (!slot) {
    auto made = std::make_unique<DeviceProperties>();
    TAPER_TRY(read_properties(device, made.get()));
    slot.store(made.release(), std::memory_order_release);
  }
  *properties = slot;
  return {};
}

const DeviceProperties& properties_of(int device) {
  static constexpr DeviceProperties kNone{};
  const DeviceProperties* found = nullptr;
  return find_properties(device, &found).ok() ? *found : kNone;
}

DeviceFault* fault_of(const Stream& stream) {
  DeviceState* state = nullptr;
  return state_of(stream.device, &state).ok() ? state->fault : nullptr;
}

DeviceState* known_state_of(int device) {
  if (device < 0 || device >= kMaxDevices) return nullptr;
  return all_states()[static_cast<size_t>(device)].load(std::memory_order_acquire);
}

Status state_of(int device, DeviceState** state) {
  *state = known_state_of(device);
  if (*state) return {};
  if (device < 0 || device >= kMaxDevices) return no_such_device(device);
  auto& slot = all_states()[static_cast<size_t>(device)];
  // So that properties_of cannot fail where the device is in use.
  const DeviceProperties* properties = nullptr;
  TAPER_TRY(find_properties(device, &properties));
  const std::lock_guard lock(mutex());
  if (!slot) {
    auto made = std::make_unique<DeviceState>(device);
    TAPER_TRY(made->make());
    slot.store(made.release(), std::memory_order_release);
    if constexpr (kEmulated) free_at_exit();
  }
  *state = slot;
  return {};
}

Status DeviceState::make() {
  TAPER_ON_DEVICE(device);
  // In order with the legacy stream, where a program's own work goes that names no stream.
  TAPER_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
  void* memory = nullptr;
  TAPER_CUDA_TRY(cudaHostAlloc(&memory, sizeof(DeviceFault), cudaHostAllocPortable));
  fault_on_host = new (memory) DeviceFault{};
  const cudaError_t error = cudaMalloc(&memory, sizeof(DeviceFault));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return cache.out_of_memory(sizeof(DeviceFault));
  }
  if (error != cudaSuccess) return failed("cudaMalloc", error);
  fault = static_cast<DeviceFault*>(memory);
  DeviceFault initial{};
  initial.twin = fault_on_host;
  TAPER_CUDA_TRY(cudaMemcpyAsync(fault, &initial, sizeof initial, cudaMemcpyHostToDevice, stream));
  TAPER_CUDA_TRY(cudaStreamSynchronize(stream));
  return {};
}

DeviceState::~DeviceState() {
  const DeviceGuard guard(device);
  if (fault) cudaFree(fault);
  if (fault_on_host) cudaFreeHost(fault_on_host);
  if (stream) cudaStreamDestroy(stream);
  for (const int peer : peers_) cudaDeviceDisablePeerAccess(peer);
  cudaGetLastError();
}

Status DeviceState::take_fault() {
  if (__atomic_load_n(&fault_on_host->state, __ATOMIC_ACQUIRE) == 0) return {};
  const std::lock_guard lock(mutex_);
  if (__atomic_load_n(&fault_on_host->state, __ATOMIC_ACQUIRE) == 0) return {};  // somebody else's
  const Code code =
      fault_on_host->limit == kNotAnIndex ? Code::kInvalidValue : Code::kIndexOutOfRange;
  const Status status{code, fault_on_host->value, fault_on_host->limit, fault_on_host->op};
  // The host's first: nobody writes it before the device's word is 0. On a stream of its own, so
  // that it waits for no other work and whatever comes after this call finds the word cleared.
  __atomic_store_n(&fault_on_host->state, 0u, __ATOMIC_RELEASE);
  TAPER_ON_DEVICE(device);
  cudaStream_t own = nullptr;
  TAPER_CUDA_TRY(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  cudaError_t error = cudaMemsetAsync(&fault->state, 0, sizeof fault->state, own);
  if (error == cudaSuccess) error = cudaStreamSynchronize(own);
  cudaStreamDestroy(own);
  if (error != cudaSuccess) return failed("cudaMemsetAsync", error);
  return status;
}

Status fault_of_this_call(const Stream& stream) {
  DeviceState* state = nullptr;
  TAPER_TRY(state_of(stream.device, &state));
  Status status = state->take_fault();
  if (status.code == Code::kIndexOutOfRange) status.what = nullptr;
  if (status.code == Code::kInvalidValue && status.what) {  // "bernoulli: a probability ..."
    const char* const colon = std::strstr(status.what, ": ");
    if (colon) status.what = colon + 2;
  }
  return status;
}

Status DeviceState::enable_peer(int peer) {
  const std::lock_guard lock(mutex_);
  if (peers_.count(peer) != 0) return {};
  int can = 0;
  TAPER_CUDA_TRY(cudaDeviceCanAccessPeer(&can, device, peer));
  if (!can) return {};
  TAPER_ON_DEVICE(device);
  const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
  // A device has at most eight; copies from and to others go through the host.
  if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled &&
      error != cudaErrorTooManyPeers) {
    return failed("cudaDeviceEnablePeerAccess", error);
  }
  cudaGetLastError();
  peers_.insert(peer);
  return {};
}

void shut_down() {
  const std::lock_guard lock(mutex());
  for (auto& slot : all_states()) {
    if (DeviceState* const state = slot) state->cache.clear();
  }
  clear_pinned();
  free_stream_marks();
  for (auto& slot : all_states()) delete slot.exchange(nullptr);
  for (auto& slot : all_properties()) delete slot.exchange(nullptr);
}

}  // namespace taper::kernels::cuda
