#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "taper/kernels/emulator/memory.h"

// Streams are queues of work. Work runs at once, or (streams=deferred) when something waits for it,
// and then in any order that streams and events allow.

namespace taper::emulator {

class Engine;
struct Stream;
struct Capture;

/// One piece of work: a copy, a kernel, a call of a library, the record of an event.
struct Work {
  /// Does it, with access to device memory; returns what went wrong, or nothing. May be empty.
  std::function<std::string()> run;
  std::vector<std::shared_ptr<Work>> after;  ///< must be done before
  const char* what = "";
  const void* kernel = nullptr;  ///< where it is one
  dim3 grid, block;              ///< the kernel's
  CallSite site;
  bool done = false;
  std::chrono::steady_clock::time_point when{};  ///< it was done
  uint64_t number = 0;
  char begun = 0, ended = 0;  ///< tags for the thread sanitizer
};
using WorkPointer = std::shared_ptr<Work>;

struct Stream {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  CallSite made;
  std::deque<WorkPointer> queue;
  WorkPointer last;              ///< the latest work, done or not
  void* identity = nullptr;      ///< thread sanitizer's
  std::weak_ptr<Engine> engine;  ///< under it, each stream has its own: see run_grid

  Capture* capture = nullptr;  ///< it is being captured into this graph
  std::vector<int> capture_after;
};

struct Event {
  unsigned flags = 0;
  CallSite made;
  WorkPointer work;            ///< the latest record; null: never recorded
  Capture* capture = nullptr;  ///< the latest record was captured
  std::vector<int> capture_after;
};

/// A graph, while and after it is captured.
struct Node {
  WorkPointer work;
  std::vector<int> after;
};
struct Capture {
  std::vector<Node> nodes;
  Stream* origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  const void* thread = nullptr;  ///< which thread of the host began it
  bool invalid = false;
};

/// Of the legacy null stream: the capture of a stream that it would wait for, which forbids its
/// use.
Capture* capture_beside(const Stream& stream);

/// Puts work into a stream, or into the graph that captures it, and runs it if streams are eager.
cudaError_t enqueue(Stream& stream, WorkPointer work);
/// The same, for a library's call: `run` returns what went wrong, or nothing.
cudaError_t enqueue(cudaStream_t stream, const char* what, std::function<std::string()> run);

/// Runs work until this one is done.
void run_until(const WorkPointer& work);
/// Runs all work of a stream, or of a device.
void drain(Stream& stream);
void drain_device(int device);

}  // namespace taper::emulator
