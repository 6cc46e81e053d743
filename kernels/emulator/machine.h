#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "taper/kernels/emulator/device.h"
#include "taper/kernels/emulator/memory.h"
#include "taper/kernels/emulator/stream.h"

// All that the emulated runtime knows, behind one lock.

namespace taper::emulator {

/// An instruction that arithmetic_watch.cpp lets through alone, and the registers before it.
struct SingleStep {
  const void* instruction;
  uint32_t registers[16][4];
};

/// What belongs to a thread of the host.
struct HostThread : Thread {
  int device = 0;
  int access_depth = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  CallSite next_site;  ///< of the call that is about to be made
  CallSite last_site;  ///< of the latest call
  SingleStep step;
};
HostThread& host_thread();

struct Device {
  Device(int number, const Options& options) : memory(number, options.memory, options) {}
  DeviceMemory memory;
  Stream null_stream;
  std::set<int> peers;
  bool has_context = false;          ///< a call has been made that needs one
  cudaError_t sticky = cudaSuccess;  ///< after a fault, until cudaDeviceReset
  std::string report;                ///< what the fault was
};

struct Pinned {
  size_t bytes;
  bool registered;  ///< the memory is the program's own
  CallSite made;
};

struct Machine {
  explicit Machine(Options from);
  ~Machine();

  Options options;
  std::string configuration_error;
  std::vector<std::unique_ptr<Device>> devices;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Capture*> captures, graphs, executables;
  std::map<char*, Pinned> pinned;
  std::map<const void*, int> shared_limit;    ///< cudaFuncSetAttribute
  std::map<std::string_view, int64_t> calls;  ///< by names that are literals
  std::vector<Failure> failures;
  Stream* running = nullptr;  ///< whose work runs, while some does
  int64_t work_count = 0;
  int64_t writes_to_host = 0;  ///< by work in streams: what pinned memory may be changed by
  uint64_t random = 0;
  std::string report;  ///< the latest, of any device

  void count_wait() { ++calls["waits"]; }
  Device& here() { return *devices[static_cast<size_t>(host_thread().device)]; }
  /// The device whose memory `p` points into, or -1.
  int device_of(const void* p) const;
  bool is_pinned(const void* p) const;
  /// Whether this is memory in use that no device reaches. False for variables: a device's are in
  /// the images of program and libraries, as the host's are.
  bool is_only_the_hosts(const void* p) const;
  uint64_t draw(uint64_t below);
};

/// Made at first use from TAPER_EMULATOR.
Machine& machine();
std::recursive_mutex& machine_mutex();

/// The stream behind a handle; null if there is none (any more).
Stream* find_stream(cudaStream_t handle);

/// One call of the runtime: takes the lock and the call's place, and says why it is refused.
class Entry {
 public:
  enum Kind {
    kAlways,    ///< answers even after a fault
    kOrdinary,  ///< returns a device's fault
    kUnsafe,    ///< and is illegal while a stream is captured, as it could disturb that
  };
  Entry(const char* name, Kind kind);
  /// Illegal now, because of a capture, which it has spoilt then.
  bool disturbs_capture();
  bool refused() const { return error_ != cudaSuccess || injected_ != 0; }
  /// What an injected failure of a library's call returns; 0: it is not refused for that.
  int injected() const { return injected_; }
  /// Records an error as this thread's last, and returns it.
  cudaError_t end(cudaError_t error);
  cudaError_t refusal() { return end(error_); }
  const CallSite& site() const { return host_thread().last_site; }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const char* name_;
  cudaError_t error_ = cudaSuccess;
  int injected_ = 0;
};

#define TAPER_CUDA_CALL(name, kind)                                      \
  ::taper::emulator::Entry entry(#name, ::taper::emulator::Entry::kind); \
  if (entry.refused()) return entry.refusal()

}  // namespace taper::emulator
