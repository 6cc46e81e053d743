// Storage that a CUDA module allocates: on a device, or pinned on the host.

#include <new>
#include <string>

#include "taper/core/cuda.h"
#include "taper/core/small_alloc.h"
#include "taper/core/storage.h"
#include "taper/kernels/device_module.h"
#include "taper/kernels/streams.h"

namespace taper {

namespace {

StorageImpl* new_storage(size_t nbytes, Device device, void (*release)(StorageImpl*)) {
  StorageImpl* const storage = new (detail::small_alloc(sizeof(StorageImpl))) StorageImpl;
  storage->nbytes = nbytes;
  storage->device = device;
  storage->release = release;
  return storage;
}

void free_storage(StorageImpl* storage) { detail::small_free(storage, sizeof(StorageImpl)); }

}  // namespace

StorageRef allocate_cuda_storage(size_t nbytes, Device device) {
  device = detail::resolve_cuda(device);
  const kernels::DeviceRuntime& runtime = kernels::cuda_module("allocate").runtime;
  const kernels::Stream stream = kernels::current_cuda_stream(device.index());
  StorageImpl* const storage = new_storage(nbytes, device, [](StorageImpl* mine) {
    kernels::cuda_module("release").runtime.release(mine->data);
    free_storage(mine);
  });
  const kernels::Status status = runtime.allocate(&storage->data, nbytes, stream);
  if (TAPER_UNLIKELY(!status.ok())) {
    free_storage(storage);
    kernels::fail_runtime(status, "allocate", device);
  }
  return StorageRef(storage);
}

void kernels::check_memory_of(const void* memory, Device device, const char* what) {
  int owner = kHost;
  check_runtime(cuda_module(what).runtime.device_of(memory, &owner), what, device);
  if (owner == device.index()) return;
  taper::detail::fail<Error>(what, ": the memory is ",
                             owner == kHost ? "the host's" : "cuda:" + std::to_string(owner) + "'s",
                             ", but the device asked for is ", device);
}

StorageRef allocate_pinned_storage(size_t nbytes) {
  const kernels::DeviceRuntime& runtime = kernels::cuda_module("pin_memory").runtime;
  StorageImpl* const storage = new_storage(nbytes, kCPU, [](StorageImpl* mine) {
    kernels::cuda_module("release").runtime.release_pinned(mine->data);
    free_storage(mine);
  });
  const kernels::Status status = runtime.allocate_pinned(&storage->data, nbytes);
  if (TAPER_UNLIKELY(!status.ok())) {
    free_storage(storage);
    kernels::fail_runtime(status, "pin_memory", kCPU);
  }
  storage->pinned = true;
  return StorageRef(storage);
}

}  // namespace taper
