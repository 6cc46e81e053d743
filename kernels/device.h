#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/kernels/kernels.h"

// A device as one module, on one page: what it is, its runtime (memory, copies, streams, events,
// errors) and its kernels. A module comes from a library that is loaded when the device is first
// used, or is linked in. It imports no symbol of the core, and the core sees none of its headers.

namespace taper::kernels {

/// Raised whenever this page or kernels.h changes; a module of another number is refused.
constexpr uint32_t kDeviceAbi = 3;

/// Device indices in this page: `kHost` is the processor's own memory.
constexpr int kHost = -1;

struct DeviceProperties {
  char name[256];
  int major, minor;  ///< compute capability
  int64_t total_memory;
  int multi_processor_count;
  int warp_size;
  int max_threads_per_block;
  int max_threads_per_multi_processor;
  int64_t shared_memory_per_block;         ///< without asking
  int64_t shared_memory_per_block_opt_in;  ///< at most, by attribute
  int64_t shared_memory_per_multi_processor;
  int registers_per_multi_processor;
  int64_t l2_cache_size;
  int memory_bus_width;   ///< bits
  int clock_rate;         ///< kHz; 0 where the driver does not say
  int memory_clock_rate;  ///< kHz; 0 where the driver does not say
  bool integrated;
  bool emulated;
};

/// Versions as CUDA writes them: 13000 is 13.0. 0 where the library is not there; then its problem
/// is why, and where it was sought.
struct DeviceVersions {
  int driver, runtime, blas, dnn;
  const char *blas_problem, *dnn_problem;
};

/// One counter of the allocator; PyTorch's `memory_stats` has the same four.
struct MemoryCounter {
  int64_t current, peak, allocated, freed;
};
struct DeviceMemoryStats {
  MemoryCounter allocation;            ///< blocks in use
  MemoryCounter segment;               ///< pieces asked from the driver
  MemoryCounter allocated_bytes;       ///< in blocks in use
  MemoryCounter reserved_bytes;        ///< in segments
  MemoryCounter active_bytes;          ///< in use, or freed and waiting for another stream
  MemoryCounter inactive_split_bytes;  ///< free pieces of split segments
  MemoryCounter requested_bytes;       ///< as asked, before rounding
  int64_t alloc_retries;               ///< how often the cache was freed to make room
  int64_t ooms;
};

/// Everything but kernels. Handles are the CUDA runtime's own, cudaStream_t and cudaEvent_t, so
/// that a program's own calls can use them. Functions that take a Stream work on its device; but
/// for set_device, none changes the calling thread's device as CUDA sees it for longer than the
/// call, unless that device was never used: a context on it would take memory. Nothing here waits
/// for the device unless it says so.
struct DeviceRuntime {
  /// Number of devices. Where there is none to be had: kDeviceError with the reason.
  Status (*device_count)(int* count);
  Status (*properties)(int device, DeviceProperties* properties);
  Status (*versions)(DeviceVersions* versions);
  Status (*can_access_peer)(int device, int peer, bool* answer);
  /// Makes it the calling thread's device as CUDA sees it, for work of the program's own. With
  /// `only_if_used`, nothing happens where the process has no context on it yet.
  Status (*set_device)(int device, bool only_if_used);

  // Memory, from a cache per device. A block belongs to the stream it was taken on: freed, it is
  // handed out again on that stream at once, elsewhere when that stream is done with it.
  /// kOutOfMemory after the cache was freed and the driver asked again; then `what` has the
  /// numbers. 512-byte aligned. Zero bytes: null.
  Status (*allocate)(void** memory, size_t bytes, Stream);
  void (*release)(void* memory);
  /// The block is used on this stream too; its reuse waits for that.
  Status (*record_stream)(void* memory, Stream);
  Status (*empty_cache)();
  Status (*memory_stats)(int device, DeviceMemoryStats* stats);
  Status (*reset_peak_memory_stats)(int device);
  Status (*reset_accumulated_memory_stats)(int device);
  /// As the driver sees it, other processes included.
  Status (*memory_info)(int device, int64_t* free, int64_t* total);
  /// At most this share of the device's memory for this process; 1: no limit.
  Status (*set_memory_fraction)(int device, double fraction);
  /// A table of the allocator's state, for people. The text lives until the next call.
  Status (*memory_summary)(int device, const char** text);
  /// Host memory that the device reads and writes directly; cached as well. A block that a copy
  /// still uses is not handed out again before that copy has run.
  Status (*allocate_pinned)(void** memory, size_t bytes);
  void (*release_pinned)(void* memory);
  bool (*is_pinned)(const void* memory);
  /// The device whose memory this is, kHost where it is none's.
  Status (*device_of)(const void* memory, int* device);

  /// bytes from one memory to another, either may be kHost. Ordered in the stream, which belongs to
  /// one of the two devices. Host memory has been read or written when the call returns, except
  /// that pinned memory with `non_blocking` is read or written when the stream comes to it. Waits
  /// where that needs it: not for up to 16 MiB of other memory that are read, which are copied
  /// aside. Between two devices the other one's work on `other_stream` is waited for, and waits for
  /// the copy.
  Status (*copy)(void* to, int to_device, const void* from, int from_device, size_t bytes, Stream,
                 Stream other_stream, bool non_blocking);

  // Streams and events.
  /// The stream that work goes to where no other was chosen: the same handle every time.
  Status (*default_stream)(int device, void** handle);
  /// Priority 0 is ordinary, -1 is high.
  Status (*stream_create)(int device, int priority, void** handle);
  Status (*stream_destroy)(Stream);
  /// Waits, and reports what kernels flagged meanwhile (an index out of range; `what` is the op)
  /// and what the hardware trapped.
  Status (*stream_synchronize)(Stream);
  Status (*stream_query)(Stream, bool* done);
  Status (*stream_priority_range)(int* least, int* greatest);
  Status (*device_synchronize)(int device);
  Status (*event_create)(int device, bool timing, bool blocking, void** event);
  Status (*event_destroy)(int device, void* event);
  Status (*event_record)(void* event, Stream);
  Status (*event_query)(int device, void* event, bool* done);
  Status (*event_synchronize)(int device, void* event);
  Status (*event_elapsed)(int device, void* begin, void* end, float* milliseconds);
  Status (*stream_wait_event)(Stream, void* event);

  /// Memory handed out and not given back, for tests that look for leaks.
  int64_t (*live_allocations)();
};

/// What a library that holds a device returns.
struct DeviceModule {
  uint32_t abi;          ///< kDeviceAbi
  const char* build_id;  ///< Taper's version and how this was built; has to be the core's own
  const char* kind;      ///< "hardware" or "emulated"
  DeviceRuntime runtime;
  KernelTable kernels;
};

/// The only symbol that such a library exports: `taper_cuda_module`. `host` has to outlive it.
using DeviceModuleEntry = const DeviceModule* (*)(const HostServices* host);

}  // namespace taper::kernels
