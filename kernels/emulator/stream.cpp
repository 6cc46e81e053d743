#include "taper/kernels/emulator/stream.h"

#include <algorithm>

#include "taper/kernels/cuda/kernel_name.h"
#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/engine.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/uninitialized.h"

namespace taper::emulator {

namespace {

bool runnable(const Work& work) {
  return std::all_of(work.after.begin(), work.after.end(),
                     [](const WorkPointer& before) { return before->done; });
}

template <class F>
void for_each_stream(F f) {
  Machine& m = machine();
  for (auto& device : m.devices) f(device->null_stream);
  for (Stream* stream : m.streams) f(*stream);
}

std::string name_of(const Work& work) {
  const char* const symbol = work.kernel ? function_name(work.kernel) : nullptr;
  return symbol ? kernels::cuda::kernel_name(symbol) : work.what;
}

void trace(const Work& work) {
  std::FILE* const file = machine().options.trace.get();
  if (!file || !work.run) return;
  std::string line = name_of(work);
  if (work.kernel) line += "  grid " + in_order(work.grid) + "  block " + in_order(work.block);
  if (work.site.file) line += "  " + to_text(work.site);
  std::fprintf(file, "%s\n", line.c_str());
}

void fault(Device& device, const Work& work, const std::string& report, cudaError_t error) {
  device.sticky = error;
  device.report = report + "\n  in " + name_of(work);
  if (work.site.file) device.report += " called at " + to_text(work.site);  // a library's has none
  machine().report = device.report;
}

bool device_is_lost() {
  Machine& m = machine();
  ++m.work_count;
  return std::any_of(m.failures.begin(), m.failures.end(), [&](const Failure& failure) {
    return failure.what == "device" && failure.at == m.work_count;
  });
}

// In the stream's own name, as the thread sanitizer sees it: ordered after the call that queued it
// and after what it waits for, and before nobody that does not wait for it.
void run_now(Stream& stream, Work& work) {
  Device& device = *machine().devices[static_cast<size_t>(stream.device)];
  machine().running = &stream;
  void* const host = current_identity();
  become(stream.identity);
  hide_accesses();  // the host's stack is not the stream's
  acquire(&work.begun);
  for (const WorkPointer& before : work.after) acquire(&before->ended);
  std::string report;
  bool lost = false;
  if (work.run && device.sticky == cudaSuccess) {
    lost = device_is_lost();
    const DeviceAccess access;
    if (!lost) report = work.run();
    if (report.empty() && !lost && machine().options.uninitialized) {
      report = find_uninitialized_arithmetic(device.memory);
      const std::string first = take_arithmetic_note();
      if (!report.empty() && !first.empty()) report += ",\n  " + first;
    }
  }
  work.run = nullptr;
  release(&work.ended);
  show_accesses();
  become(host);
  if (!report.empty()) acquire(&work.ended);
  if (lost) fault(device, work, "the device is lost", cudaErrorDevicesUnavailable);
  if (!report.empty()) fault(device, work, report, cudaErrorLaunchFailure);
  work.after.clear();
  work.when = std::chrono::steady_clock::now();
  work.done = true;
}

// Runs one piece of work that can run: the oldest, or with a seed any. False if there is none.
bool step() {
  Machine& m = machine();
  std::vector<Stream*> candidates;
  for_each_stream([&](Stream& stream) {
    if (!stream.queue.empty() && runnable(*stream.queue.front())) candidates.push_back(&stream);
  });
  if (candidates.empty()) return false;
  Stream* chosen = nullptr;
  if (m.options.seed) {
    chosen = candidates[m.draw(candidates.size())];
  } else {
    chosen = *std::min_element(candidates.begin(), candidates.end(), [](Stream* a, Stream* b) {
      return a->queue.front()->number < b->queue.front()->number;
    });
  }
  const WorkPointer work = chosen->queue.front();
  chosen->queue.pop_front();
  run_now(*chosen, *work);
  return true;
}

// The legacy null stream waits for all streams that were not made non-blocking, and they for it.
void order_with_null_stream(Stream& stream, Work& work) {
  Stream& null = machine().devices[static_cast<size_t>(stream.device)]->null_stream;
  const auto wait_for = [&](const Stream& other) {
    if (other.last && !other.last->done) work.after.push_back(other.last);
  };
  if (&stream == &null) {
    for (const Stream* other : machine().streams) {
      if (other->device == stream.device && (other->flags & cudaStreamNonBlocking) == 0) {
        wait_for(*other);
      }
    }
  } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
    wait_for(null);
  }
}

}  // namespace

Capture* capture_beside(const Stream& stream) {
  const Machine& m = machine();
  if (&stream != &m.devices[static_cast<size_t>(stream.device)]->null_stream) return nullptr;
  for (const Stream* other : m.streams) {
    const bool is_blocking = (other->flags & cudaStreamNonBlocking) == 0;
    if (other->capture && other->device == stream.device && is_blocking) return other->capture;
  }
  return nullptr;
}

cudaError_t enqueue(Stream& stream, WorkPointer work) {
  static uint64_t numbers = 0;
  work->number = ++numbers;
  trace(*work);
  if (stream.capture) {
    std::vector<Node>& nodes = stream.capture->nodes;
    nodes.push_back({std::move(work), stream.capture_after});
    stream.capture_after = {static_cast<int>(nodes.size()) - 1};
    return cudaSuccess;
  }
  if (Capture* const beside = capture_beside(stream)) {
    beside->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  Device& device = *machine().devices[static_cast<size_t>(stream.device)];
  if (device.sticky != cudaSuccess) return device.sticky;
  order_with_null_stream(stream, *work);
  release(&work->begun);
  stream.last = work;
  stream.queue.push_back(std::move(work));
  if (!machine().options.deferred) {
    while (step()) {
    }
  }
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t handle, const char* what, std::function<std::string()> run) {
  const std::lock_guard lock(machine_mutex());
  Stream* const stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  auto work = std::make_shared<Work>();
  work->run = machine().options.kernels ? std::move(run) : [] { return std::string(); };
  work->what = what;
  work->site = host_thread().last_site;
  return enqueue(*stream, std::move(work));
}

void run_until(const WorkPointer& work) {
  if (!work) return;
  while (!work->done && step()) {
  }
  acquire(&work->ended);
}

void drain(Stream& stream) { run_until(stream.last); }

void drain_device(int device) {
  for_each_stream([&](Stream& stream) {
    if (stream.device == device) drain(stream);
  });
}

namespace {

// A card cannot reach it. Only where an argument is a pointer is that certain: unused places of a
// structure hold anything.
std::string find_host_memory(std::span<const void* const> pointers) {
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (!machine().is_only_the_hosts(pointers[i])) continue;
    return "argument " + std::to_string(i + 1) + " is memory of the host, and not pinned";
  }
  return "";
}

}  // namespace

cudaError_t launch_kernel(const Kernel& kernel, std::span<const void* const> pointers, dim3 grid,
                          dim3 block, size_t shared, cudaStream_t handle) {
  std::shared_ptr<Grid> job(new Grid{kernel, grid, block, shared}, [](Grid* made) {
    hide_accesses();  // whoever lets go last, a graph's owner perhaps: the kernel has run
    made->kernel.destroy(made->kernel.arguments);
    show_accesses();
    delete made;
  });
  call_site(kernel.file, kernel.line);
  TAPER_CUDA_CALL(cudaLaunchKernel, kOrdinary);
  Machine& m = machine();
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  const auto refuse = [&](cudaError_t error, const std::string& why) {
    m.report = "launch at " + to_text(entry.site()) + ": " + why;
    return entry.end(error);
  };
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > kMaxThreads || block.x > 1024 || block.y > 1024 || block.z > 64) {
    return refuse(cudaErrorInvalidConfiguration,
                  "a block of " + in_order(block) + " threads; 1 to 1024 are allowed");
  }
  if (const unsigned bound = launch_bound(kernel.symbol); bound != 0 && threads > bound) {
    return refuse(cudaErrorLaunchOutOfResources,
                  "a block of " + in_order(block) +
                      " threads, where the kernel's __launch_bounds__ allow " +
                      std::to_string(bound));
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 ||
      grid.z > 65535) {
    return refuse(cudaErrorInvalidConfiguration, "a grid of " + in_order(grid) +
                                                     " blocks; up to (2147483647,65535,65535) are "
                                                     "allowed, and none may be 0");
  }
  const auto limit = m.shared_limit.find(kernel.symbol);
  const size_t allowed =
      limit == m.shared_limit.end() ? kMaxStaticShared : static_cast<size_t>(limit->second);
  if (shared > std::max(allowed, kMaxStaticShared)) {
    return refuse(cudaErrorInvalidValue,
                  std::to_string(shared) + " bytes of dynamic shared memory, where " +
                      std::to_string(allowed) + " are allowed (cudaFuncSetAttribute raises it)");
  }
  auto work = std::make_shared<Work>();
  work->what = "a kernel";
  work->kernel = kernel.symbol;
  work->grid = grid;
  work->block = block;
  work->site = entry.site();
  work->run = [job = std::move(job), fault = find_host_memory(pointers)] {
    if (!fault.empty()) return fault;
    const Machine& now = machine();
    if (!now.options.kernels) return std::string();
    return run_grid(
        *job, {now.options.seed, now.options.fill, now.options.stack, now.options.uninitialized},
        now.options.threads, now.running->engine);
  };
  return entry.end(enqueue(*stream, std::move(work)));
}

}  // namespace taper::emulator
