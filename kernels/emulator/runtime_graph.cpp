#include <algorithm>
#include <set>

#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/machine.h"

// The CUDA runtime: capture and graphs. While a stream is captured its work does not run, but
// becomes the nodes of a graph. A graph runs in any order that its edges allow.

using namespace taper::emulator;

namespace {

Capture* find_in(const std::set<Capture*>& known, void* handle) {
  auto* const graph = static_cast<Capture*>(handle);
  return known.count(graph) ? graph : nullptr;
}

// Work that nothing in the origin's future waits for: a fork that was never joined.
bool is_unjoined(const Capture& capture) {
  std::set<int> awaited(capture.origin->capture_after.begin(), capture.origin->capture_after.end());
  for (const Node& node : capture.nodes) awaited.insert(node.after.begin(), node.after.end());
  return awaited.size() < capture.nodes.size();
}

std::string run_graph(const Capture& graph) {
  Machine& m = machine();
  std::vector<bool> done(graph.nodes.size());
  for (size_t count = 0; count < graph.nodes.size(); ++count) {
    std::vector<size_t> candidates;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const std::vector<int>& after = graph.nodes[i].after;
      if (!done[i] && std::all_of(after.begin(), after.end(),
                                  [&](int before) { return done[static_cast<size_t>(before)]; })) {
        candidates.push_back(i);
      }
    }
    const size_t chosen = candidates[m.options.seed ? m.draw(candidates.size()) : 0];
    const Work& work = *graph.nodes[chosen].work;
    if (work.run) {
      const std::string report = work.run();
      if (!report.empty()) {
        return report + "\n  in " + work.what + " captured at " + to_text(work.site);
      }
    }
    done[chosen] = true;
  }
  return {};
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  TAPER_CUDA_CALL(cudaStreamBeginCapture, kOrdinary);
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  // The legacy stream cannot be captured.
  if (machine().streams.count(stream) == 0) return entry.end(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return entry.end(cudaErrorIllegalState);
  auto* const capture = new Capture;
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = &host_thread();
  stream->capture = capture;
  stream->capture_after.clear();
  machine().captures.insert(capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  TAPER_CUDA_CALL(cudaStreamEndCapture, kOrdinary);
  *graph = nullptr;
  Machine& m = machine();
  Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  Capture* const capture = stream->capture;
  if (!capture) return entry.end(cudaErrorIllegalState);
  if (capture->origin != stream) return entry.end(cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != &host_thread()) {
    return entry.end(cudaErrorStreamCaptureWrongThread);
  }
  cudaError_t error = cudaSuccess;
  if (capture->invalid) {
    error = cudaErrorStreamCaptureInvalidated;
  } else if (is_unjoined(*capture)) {
    error = cudaErrorStreamCaptureUnjoined;
    m.report = "cudaStreamEndCapture at " + to_text(entry.site()) +
               ": another stream was forked off and has work that this one does not wait for";
  }
  for (Stream* other : m.streams) {
    if (other->capture != capture) continue;
    other->capture = nullptr;
    other->capture_after.clear();
  }
  m.captures.erase(capture);
  if (error != cudaSuccess) {
    for (Event* event : m.events) {
      if (event->capture == capture) event->capture = nullptr;
    }
    delete capture;
    return entry.end(error);
  }
  m.graphs.insert(capture);
  *graph = reinterpret_cast<cudaGraph_t>(capture);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  TAPER_CUDA_CALL(cudaStreamIsCapturing, kOrdinary);
  const Stream* const stream = find_stream(handle);
  if (!stream) return entry.end(cudaErrorInvalidResourceHandle);
  // Unlike other calls on the legacy stream, this one does not spoil the capture.
  if (capture_beside(*stream)) return entry.end(cudaErrorStreamCaptureImplicit);
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  TAPER_CUDA_CALL(cudaThreadExchangeStreamCaptureMode, kAlways);
  std::swap(*mode, host_thread().capture_mode);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle,
                                 unsigned long long) {
  TAPER_CUDA_CALL(cudaGraphInstantiate, kOrdinary);
  const Capture* const graph = find_in(machine().graphs, handle);
  if (!graph) return entry.end(cudaErrorInvalidValue);
  auto* const made = new Capture(*graph);
  machine().executables.insert(made);
  *executable = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  TAPER_CUDA_CALL(cudaGraphLaunch, kOrdinary);
  const Capture* const graph = find_in(machine().executables, handle);
  Stream* const stream = find_stream(stream_handle);
  if (!graph || !stream) return entry.end(cudaErrorInvalidValue);
  auto work = std::make_shared<Work>();
  work->what = "cudaGraphLaunch";
  work->site = entry.site();
  // Its own copy: the executable may be destroyed while the launch waits.
  work->run = [copy = *graph] { return run_graph(copy); };
  return entry.end(enqueue(*stream, std::move(work)));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  TAPER_CUDA_CALL(cudaGraphGetNodes, kOrdinary);
  Capture* const graph = find_in(machine().graphs, handle);
  if (!graph) return entry.end(cudaErrorInvalidValue);
  for (size_t i = 0; nodes && i < std::min(*count, graph->nodes.size()); ++i) {
    nodes[i] = reinterpret_cast<cudaGraphNode_t>(&graph->nodes[i]);
  }
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  TAPER_CUDA_CALL(cudaGraphDestroy, kAlways);
  Capture* const graph = find_in(machine().graphs, handle);
  if (!graph) return entry.end(cudaErrorInvalidValue);
  machine().graphs.erase(graph);
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  TAPER_CUDA_CALL(cudaGraphExecDestroy, kAlways);
  Capture* const executable = find_in(machine().executables, handle);
  if (!executable) return entry.end(cudaErrorInvalidValue);
  machine().executables.erase(executable);
  delete executable;
  return cudaSuccess;
}
