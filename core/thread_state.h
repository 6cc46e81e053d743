#pragma once

#include <cstdint>

#include "taper/core/macros.h"

namespace taper::detail {

/// What is switched on for the calling thread besides plain execution with recording. Zero is the
/// default, and the op layer tests the whole word once.
enum Mode : uint32_t {
  kModeNoGrad = 1u << 0,     ///< nothing is recorded
  kModeInference = 1u << 1,  ///< results can never be recorded (implies kModeNoGrad)
  kModeAnomaly = 1u << 2,    ///< backward checks each gradient for NaN
  kModeObserve = 1u << 3,    ///< every op of the catalogue is announced to an observer
};

/// CUDA devices that one process can use.
constexpr int kMaxCudaDevices = 16;

/// The library's one piece of thread-local data. Plain and constant-initialised, so that access
/// costs one instruction. The modes travel to worker threads (see core/parallel.h).
struct ThreadState {
  uint32_t mode;
  bool in_parallel;    ///< inside a parallel_for body: nested ones run serially
  bool draining;       ///< nodes of a dead graph are being freed: see autograd/node.cpp
  uint64_t sequence;   ///< of the last recorded node: a Lamport clock
  void* dead_nodes;    ///< list of nodes to free
  void* observer;      ///< see autograd/observer.h
  int8_t cuda_device;  ///< the current one
  void* cuda_streams[kMaxCudaDevices];  ///< the stream chosen for each device; null: the default
  void* small_blocks[32];               ///< free lists of small blocks, see core/small_alloc.h
  uint16_t small_counts[32];
  uint16_t
      small_limit;  ///< longest a list may get; 0 before its first use and after the thread's end
  bool registered;  ///< the thread's lists are returned when it ends
};

extern thread_local constinit ThreadState thread_state;

}  // namespace taper::detail
