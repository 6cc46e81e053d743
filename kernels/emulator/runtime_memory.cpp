#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/sanitizers.h"

// The CUDA runtime: memory and copies.

using namespace taper::emulator;

// ---- Device memory ------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  TAPER_CUDA_CALL(cudaMalloc, kUnsafe);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  *pointer = machine().here().memory.allocate(bytes, entry.site());
  return entry.end(*pointer ? cudaSuccess : cudaErrorMemoryAllocation);
}

/// Waits for the device, as CUDA does. After a fault the memory is given back all the same.
cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  TAPER_CUDA_CALL(cudaFree, kAlways);
  Machine& m = machine();
  const int device = m.device_of(pointer);
  const auto refuse = [&] {
    m.report = "cudaFree at " + to_text(entry.site()) +
               ": not the beginning of an allocation (or freed before)";
    return entry.end(cudaErrorInvalidValue);
  };
  if (device < 0) return refuse();
  if (entry.disturbs_capture()) return entry.end(cudaErrorStreamCaptureUnsupported);
  m.count_wait();
  drain_device(device);
  Device& owner = *m.devices[static_cast<size_t>(device)];
  if (!owner.memory.release(pointer)) return refuse();
  return entry.end(owner.sticky);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  TAPER_CUDA_CALL(cudaMemGetInfo, kOrdinary);
  const DeviceMemory& memory = machine().here().memory;
  *free = memory.capacity() - memory.used();
  *total = memory.capacity();
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  TAPER_CUDA_CALL(cudaPointerGetAttributes, kOrdinary);
  cudaPointerAttributes found{};
  found.type = cudaMemoryTypeUnregistered;
  found.device = machine().device_of(pointer);
  if (found.device >= 0) {
    found.type = cudaMemoryTypeDevice;
    found.devicePointer = const_cast<void*>(pointer);
  } else if (machine().is_pinned(pointer)) {
    found.type = cudaMemoryTypeHost;
    found.device = host_thread().device;
    found.devicePointer = found.hostPointer = const_cast<void*>(pointer);
  } else {
    found.device = -1;
    found.hostPointer = const_cast<void*>(pointer);
  }
  *attributes = found;
  return cudaSuccess;
}

// ---- Pinned memory of the host ------------------------------------------------------------------

namespace {

cudaError_t allocate_pinned(Entry& entry, void** pointer, size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  constexpr size_t kPage = 4096;
  if (bytes > SIZE_MAX / 2) return entry.end(cudaErrorMemoryAllocation);
  *pointer = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (!*pointer) return entry.end(cudaErrorMemoryAllocation);
  machine().pinned[static_cast<char*>(*pointer)] = {bytes, false, entry.site()};
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  TAPER_CUDA_CALL(cudaMallocHost, kUnsafe);
  return allocate_pinned(entry, pointer, bytes);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  TAPER_CUDA_CALL(cudaHostAlloc, kUnsafe);
  return allocate_pinned(entry, pointer, bytes);
}

cudaError_t cudaFreeHost(void* pointer) {
  if (!pointer) return cudaSuccess;
  TAPER_CUDA_CALL(cudaFreeHost, kAlways);
  Machine& m = machine();
  const auto found = m.pinned.find(static_cast<char*>(pointer));
  if (found == m.pinned.end() || found->second.registered) {
    return entry.end(cudaErrorInvalidValue);
  }
  // As CUDA does: copies from it may be under way.
  m.count_wait();
  for (size_t i = 0; i < m.devices.size(); ++i) drain_device(static_cast<int>(i));
  m.pinned.erase(found);
  std::free(pointer);
  return entry.end(m.here().sticky);
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  TAPER_CUDA_CALL(cudaHostRegister, kUnsafe);
  if (!pointer || bytes == 0) return entry.end(cudaErrorInvalidValue);
  if (machine().is_pinned(pointer)) return entry.end(cudaErrorHostMemoryAlreadyRegistered);
  machine().pinned[static_cast<char*>(pointer)] = {bytes, true, entry.site()};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  TAPER_CUDA_CALL(cudaHostUnregister, kAlways);
  Machine& m = machine();
  const auto found = m.pinned.find(static_cast<char*>(pointer));
  if (found == m.pinned.end() || !found->second.registered) {
    return entry.end(cudaErrorHostMemoryNotRegistered);
  }
  m.count_wait();
  for (size_t i = 0; i < m.devices.size(); ++i) drain_device(static_cast<int>(i));
  m.pinned.erase(found);
  return entry.end(m.here().sticky);
}

// ---- Copies -------------------------------------------------------------------------------------

namespace {

/// Rows of `width` bytes; one row for an ordinary copy.
struct Copy {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch;
  size_t width, height;
};

void copy_rows(const Copy& copy) {
  for (size_t row = 0; row < copy.height; ++row) {
    std::memmove(static_cast<char*>(copy.to) + row * copy.to_pitch,
                 static_cast<const char*>(copy.from) + row * copy.from_pitch, copy.width);
  }
}

/// The same, as work in a stream.
void copy_rows_as_work(const Copy& copy) {
  for (size_t row = 0; row < copy.height; ++row) {
    reads(static_cast<const char*>(copy.from) + row * copy.from_pitch, copy.width);
    writes(static_cast<char*>(copy.to) + row * copy.to_pitch, copy.width);
  }
  copy_rows(copy);
}

size_t extent(size_t pitch, size_t width, size_t height) {
  return height == 0 ? 0 : (height - 1) * pitch + width;
}

// What is wrong with [p, p + bytes), which should lie on a device or not; empty if nothing is.
std::string wrong_range(const void* p, size_t bytes, bool on_device, const char* name) {
  Machine& m = machine();
  const int device = m.device_of(p);
  if ((device >= 0) != on_device) {
    return std::string(name) + (on_device ? " is not device memory" : " is device memory");
  }
  if (device < 0) return {};
  const char* begin = nullptr;
  const Allocation* const found = m.devices[static_cast<size_t>(device)]->memory.find(p, &begin);
  if (!found) return std::string(name) + " is not allocated";
  const size_t offset = static_cast<size_t>(static_cast<const char*>(p) - begin);
  if (bytes <= found->bytes - offset) return {};
  return std::string(name) + " ends " + std::to_string(offset + bytes - found->bytes) +
         " bytes behind the " + std::to_string(found->bytes) + " allocated at " +
         to_text(found->made);
}

WorkPointer work_of(const char* what, const CallSite& site, std::function<void()> run) {
  auto work = std::make_shared<Work>();
  work->what = what;
  work->site = site;
  work->run = [run = std::move(run)] {
    run();
    return std::string();
  };
  return work;
}

/// FNV-1a; enough to see that somebody has written.
uint64_t checksum(const void* p, size_t bytes) {
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(p)[i]) * 1099511628211ull;
  }
  return hash;
}

// From pinned memory, the copy reads when it runs; from the program's other memory, at the call.
// Into the latter it waits. That is what makes a pinned buffer dangerous to reuse.
cudaError_t copy_in_stream(Entry& entry, const char* name, Copy copy, cudaMemcpyKind kind,
                           Stream* stream, bool wait) {
  Machine& m = machine();
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  const bool to_device = m.device_of(copy.to) >= 0, from_device = m.device_of(copy.from) >= 0;
  if (kind == cudaMemcpyDefault) {
    kind = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                     : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  }
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return entry.end(cudaErrorInvalidMemcpyDirection);
  }
  const bool should_come_from_device =
      kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool should_go_to_device =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  std::string wrong = wrong_range(copy.to, extent(copy.to_pitch, copy.width, copy.height),
                                  should_go_to_device, "the destination");
  if (wrong.empty()) {
    wrong = wrong_range(copy.from, extent(copy.from_pitch, copy.width, copy.height),
                        should_come_from_device, "the source");
  }
  if (!wrong.empty()) {
    m.report = std::string(name) + " at " + to_text(entry.site()) + ": " + wrong;
    return entry.end(cudaErrorInvalidValue);
  }
  const CallSite site = entry.site();
  WorkPointer work;
  const bool from_pinned = !from_device && m.is_pinned(copy.from);
  if (!from_device && !from_pinned) {
    auto staged = std::make_shared<std::vector<char>>(copy.width * copy.height);
    copy_rows({staged->data(), copy.width, copy.from, copy.from_pitch, copy.width, copy.height});
    copy.from = staged->data();
    copy.from_pitch = copy.width;
    work = work_of(name, site, [copy, staged] { copy_rows_as_work(copy); });
  } else if (from_pinned && copy.height == 1 && m.options.deferred && !kThreadSanitizer) {
    // The thread sanitizer finds this by itself, and shows the line that writes.
    work = work_of(name, site, [] {});
    work->run = [&m, copy, by_work = m.writes_to_host,
                 before = checksum(copy.from, copy.width)]() -> std::string {
      if (m.writes_to_host == by_work && checksum(copy.from, copy.width) != before) {
        return "the pinned buffer was written before its copy had run";
      }
      copy_rows_as_work(copy);
      return {};
    };
  } else if (!to_device) {
    work = work_of(name, site, [&m, copy] {
      ++m.writes_to_host;
      copy_rows_as_work(copy);
    });
  } else {
    work = work_of(name, site, [copy] { copy_rows_as_work(copy); });
  }
  const bool pageable_target = !to_device && !m.is_pinned(copy.to);
  const bool captured = stream->capture != nullptr;
  if (captured && (wait || pageable_target)) {
    stream->capture->invalid = true;
    return entry.end(cudaErrorStreamCaptureUnsupported);
  }
  const cudaError_t error = enqueue(*stream, work);
  if (error != cudaSuccess) return entry.end(error);
  if (wait || pageable_target) {
    m.count_wait();
    run_until(work);
    return entry.end(m.devices[static_cast<size_t>(stream->device)]->sticky);
  }
  return cudaSuccess;
}

Copy line(void* to, const void* from, size_t bytes) { return {to, 0, from, 0, bytes, 1}; }

cudaError_t fill_in_stream(Entry& entry, const char* name, void* to, size_t pitch, int value,
                           size_t width, size_t height, Stream* stream) {
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  if (width == 0 || height == 0) return cudaSuccess;
  const std::string wrong = wrong_range(to, extent(pitch, width, height), true, "the destination");
  if (!wrong.empty()) {
    machine().report = std::string(name) + " at " + to_text(entry.site()) + ": " + wrong;
    return entry.end(cudaErrorInvalidValue);
  }
  return entry.end(enqueue(*stream, work_of(name, entry.site(), [=] {
    for (size_t row = 0; row < height; ++row) {
      writes(static_cast<char*>(to) + row * pitch, width);
      std::memset(static_cast<char*>(to) + row * pitch, value, width);
    }
  })));
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaMemcpyAsync, kOrdinary);
  return copy_in_stream(entry, "cudaMemcpyAsync", line(to, from, bytes), kind, find_stream(stream),
                        false);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  TAPER_CUDA_CALL(cudaMemcpy, kUnsafe);
  return copy_in_stream(entry, "cudaMemcpy", line(to, from, bytes), kind, find_stream(nullptr),
                        true);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaMemcpy2DAsync, kOrdinary);
  if (width > to_pitch || width > from_pitch) return entry.end(cudaErrorInvalidValue);
  return copy_in_stream(entry, "cudaMemcpy2DAsync", {to, to_pitch, from, from_pitch, width, height},
                        kind, find_stream(stream), false);
}

// Without peer access a copy between devices goes through the host, which the program cannot see.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaMemcpyPeerAsync, kOrdinary);
  if (machine().device_of(to) != to_device || machine().device_of(from) != from_device) {
    machine().report = "cudaMemcpyPeerAsync at " + to_text(entry.site()) +
                       ": a pointer does not belong to the device that is named";
    return entry.end(cudaErrorInvalidValue);
  }
  return copy_in_stream(entry, "cudaMemcpyPeerAsync", line(to, from, bytes),
                        cudaMemcpyDeviceToDevice, find_stream(stream), false);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaMemsetAsync, kOrdinary);
  return fill_in_stream(entry, "cudaMemsetAsync", to, 0, value, bytes, 1, find_stream(stream));
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  TAPER_CUDA_CALL(cudaMemset, kUnsafe);
  return fill_in_stream(entry, "cudaMemset", to, 0, value, bytes, 1, find_stream(nullptr));
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  TAPER_CUDA_CALL(cudaMemset2DAsync, kOrdinary);
  if (width > pitch) return entry.end(cudaErrorInvalidValue);
  return fill_in_stream(entry, "cudaMemset2DAsync", to, pitch, value, width, height,
                        find_stream(stream));
}
