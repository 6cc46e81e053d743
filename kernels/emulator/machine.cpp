#include "taper/kernels/emulator/machine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/engine.h"
#include "taper/kernels/emulator/libraries.h"

namespace taper::emulator {

__thread Thread* current = nullptr;

namespace {

// A thread-local object with a destructor would need more thread-local storage.
pthread_key_t thread_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* thread) {
      current = nullptr;
      delete static_cast<HostThread*>(thread);
    });
    return made;
  }();
  return key;
}

std::atomic<Machine*> the_machine{nullptr};

Machine& make_machine();

}  // namespace

HostThread& host_thread() {
  if (!current) {
    auto* const made = new HostThread{};
    current = made;
    pthread_setspecific(thread_key(), made);
  }
  return static_cast<HostThread&>(*current);
}

Thread& this_thread() { return host_thread(); }

std::recursive_mutex& machine_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

Machine::Machine(Options from) : options(std::move(from)), failures(options.fail) {
  random = options.seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
  for (int device = 0; device < options.devices; ++device) {
    devices.push_back(std::make_unique<Device>(device, options));
    devices.back()->null_stream.device = device;
    devices.back()->null_stream.identity = create_identity();
  }
}

Machine::~Machine() {
  for (auto& device : devices) destroy_identity(device->null_stream.identity);
}

Machine& machine() {
  Machine* const made = the_machine.load(std::memory_order_acquire);
  return made ? *made : make_machine();
}

namespace {

/// At exit: a misspelt fail=CALL:N must not pass for a program that survived it.
void tell_what_never_failed() {
  for (const Failure& failure : machine().options.fail) {
    const int64_t count = call_count(failure.what == "device" ? "work" : failure.what);
    if (count >= failure.at) continue;
    std::fprintf(stderr, "taper emulator: fail=%s:%lld never came: there were %lld %s\n",
                 failure.what.c_str(), static_cast<long long>(failure.at),
                 static_cast<long long>(count),
                 failure.what == "device" ? "pieces of work" : "such calls");
  }
}

Machine& make_machine() {
  const std::lock_guard lock(machine_mutex());
  if (Machine* const made = the_machine) return *made;
  const char* const text = std::getenv("TAPER_EMULATOR");
  Options options;
  std::string error;
  try {
    options = parse_options(text ? text : "");
  } catch (const std::invalid_argument& wrong) {
    error = wrong.what();
  }
  Machine* made = nullptr;
  try {
    made = new Machine(options);
  } catch (const std::bad_alloc&) {
    error = "TAPER_EMULATOR: this system does not give the addresses for that much memory";
    options.devices = 0;
    made = new Machine(options);
  }
  made->configuration_error = error;
  if (!error.empty()) std::fprintf(stderr, "%s\n", error.c_str());
  if (!options.fail.empty()) std::atexit(tell_what_never_failed);
  if (options.leaks) {
    std::atexit([] {
      const std::string left = live_objects();
      if (!left.empty())
        std::fprintf(stderr, "taper emulator: not freed at exit:\n%s", left.c_str());
    });
  }
  the_machine.store(made, std::memory_order_release);
  return *made;
}

}  // namespace

int Machine::device_of(const void* p) const {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i]->memory.contains(p)) return static_cast<int>(i);
  }
  return -1;
}

bool Machine::is_pinned(const void* p) const {
  auto next = pinned.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (next == pinned.begin()) return false;
  --next;
  return p < next->first + next->second.bytes;
}

bool Machine::is_only_the_hosts(const void* p) const {
  if (!p || device_of(p) >= 0 || is_pinned(p)) return false;
  // Behind the end of pinned memory is where a kernel's loop over it may stop.
  if (is_pinned(static_cast<const char*>(p) - 1)) return false;
  Dl_info image;
  if (dladdr(p, &image) != 0) return false;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) / page * page), 1,
                 &resident) == 0;  // an error where nothing is mapped
}

uint64_t Machine::draw(uint64_t below) {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return (random >> 20) % below;
}

Stream* find_stream(cudaStream_t handle) {
  Machine& m = machine();
  if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    return &m.here().null_stream;
  }
  auto* const stream = reinterpret_cast<Stream*>(handle);
  return m.streams.count(stream) ? stream : nullptr;
}

// ---- One call -----------------------------------------------------------------------------------

namespace {

// Whether a capture under way forbids this thread what could disturb it.
Capture* capture_in_the_way() {
  const HostThread& self = host_thread();
  if (self.capture_mode == cudaStreamCaptureModeRelaxed) return nullptr;
  for (Capture* capture : machine().captures) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    const bool own = capture->thread == &self;
    if (own || (capture->mode == cudaStreamCaptureModeGlobal &&
                self.capture_mode == cudaStreamCaptureModeGlobal)) {
      return capture;
    }
  }
  return nullptr;
}

bool is_of_cublas(const std::string& call) { return call.rfind("cublas", 0) == 0; }
bool is_of_cudnn(const std::string& call) { return call.rfind("cudnn", 0) == 0; }

int usual_status(const std::string& call) {
  if (call == "cudaMalloc" || call == "cudaMallocHost" || call == "cudaHostAlloc") {
    return cudaErrorMemoryAllocation;
  }
  if (is_of_cublas(call)) return static_cast<int>(kernels::cuda::blas::Status::kExecutionFailed);
  if (is_of_cudnn(call)) return static_cast<int>(kernels::cuda::dnn::Status::kFailed);
  return cudaErrorUnknown;
}

/// Whether a device is unusable after this error.
bool stays(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

}  // namespace

Entry::Entry(const char* name, Kind kind) : lock_(machine_mutex()), name_(name) {
  Machine& m = machine();
  HostThread& self = host_thread();
  self.last_site = self.next_site;
  self.next_site = {};
  if (!m.configuration_error.empty()) {
    error_ = cudaErrorInitializationError;
    return;
  }
  const int64_t count = ++m.calls[name];
  for (const Failure& failure : m.failures) {
    if (failure.what != name || failure.at != count) continue;
    const int status = failure.status != 0 ? failure.status : usual_status(name);
    if (is_of_cublas(name) || is_of_cudnn(name)) {
      injected_ = status;
      return;
    }
    error_ = static_cast<cudaError_t>(status);
    if (kind != kAlways && stays(error_)) {
      m.here().sticky = error_;
      m.here().report = "the failure that was asked for, in " + std::string(name);
    }
    return;
  }
  if (kind == kAlways) return;
  m.here().has_context = true;
  error_ = m.here().sticky;
  if (error_ != cudaSuccess || kind == kOrdinary) return;
  if (disturbs_capture()) error_ = cudaErrorStreamCaptureUnsupported;
}

bool Entry::disturbs_capture() {
  Capture* const capture = capture_in_the_way();
  if (!capture) return false;
  capture->invalid = true;
  machine().report =
      std::string(name_) + " at " + to_text(site()) + " is illegal while a stream is captured";
  return true;
}

cudaError_t Entry::end(cudaError_t error) {
  if (error != cudaSuccess) host_thread().last_error = error;
  return error;
}

// ---- For tests and tools ------------------------------------------------------------------------

void configure(const std::string& text) {
  const std::lock_guard lock(machine_mutex());
  Options options = parse_options(text);
  const std::string left = the_machine ? live_objects() : "";
  if (!left.empty()) throw std::logic_error("emulator: still in use:\n" + left);
  delete the_machine.load();
  the_machine = new Machine(std::move(options));
  host_thread().device = 0;
  host_thread().last_error = cudaSuccess;
}

void inject(const std::string& what, int64_t in, int status) {
  const std::lock_guard lock(machine_mutex());
  const std::string name = counted_name(what);
  machine().failures.push_back({name, call_count(name == "device" ? "work" : name) + in, status});
}

void clear_failures() {
  const std::lock_guard lock(machine_mutex());
  machine().failures.clear();
}

void call_site(const char* file, int line) { host_thread().next_site = {file, line}; }

std::string last_report() {
  const std::lock_guard lock(machine_mutex());
  return machine().report;
}

int64_t call_count(const std::string& name) {
  const std::lock_guard lock(machine_mutex());
  const Machine& m = machine();
  if (name == "work") return m.work_count;
  const auto found = m.calls.find(counted_name(name));
  return found == m.calls.end() ? 0 : found->second;
}

std::string live_objects() {
  const std::lock_guard lock(machine_mutex());
  Machine& m = machine();
  std::vector<std::pair<std::string, int>> lines;  // each with how often it is there
  const auto list = [&](const std::string& what, const CallSite& made) {
    const std::string line = "  " + what + " made at " + to_text(made);
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& known) { return known.first == line; });
    if (same == lines.end()) {
      lines.emplace_back(line, 1);
    } else {
      ++same->second;
    }
  };
  for (size_t i = 0; i < m.devices.size(); ++i) {
    for (const auto& [memory, allocation] : m.devices[i]->memory.live()) {
      list(std::to_string(allocation.bytes) + " bytes on cuda:" + std::to_string(i),
           allocation.made);
    }
  }
  for (const auto& [memory, pinned] : m.pinned) {
    list(std::to_string(pinned.bytes) + " bytes of pinned memory", pinned.made);
  }
  for (const Stream* stream : m.streams) list("a stream", stream->made);
  for (const Event* event : m.events) list("an event", event->made);
  for (size_t i = 0; i < m.graphs.size(); ++i) list("a graph", {});
  for (size_t i = 0; i < m.executables.size(); ++i) list("an instantiated graph", {});
  std::string text;
  for (const auto& [line, times] : lines) {
    text += line + (times > 1 ? ", " + std::to_string(times) + " times\n" : "\n");
  }
  return text;
}

}  // namespace taper::emulator
