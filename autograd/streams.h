#pragma once

#include "taper/core/device.h"

// Graphs and CUDA streams. A backward pass runs on the calling thread's current streams, whichever
// the graph was recorded on, and is ordered after those and before what comes there later: as in
// PyTorch, a gradient can be used on the caller's stream at once, and nobody has to wait by hand.
// (PyTorch runs each node on the stream of its forward op, which may run side by side.)

namespace taper::autograd {

/// A node with an output on this CUDA device was recorded while the thread's current stream there
/// was another than the default one.
void note_recording_stream(DeviceIndex device);

/// Around a backward pass: its streams wait for those of the graphs, and at the end these for it.
class StreamsOfBackward {
 public:
  StreamsOfBackward();
  ~StreamsOfBackward();
  StreamsOfBackward(const StreamsOfBackward&) = delete;
  StreamsOfBackward& operator=(const StreamsOfBackward&) = delete;

 private:
  bool joined_ = false;
};

}  // namespace taper::autograd
