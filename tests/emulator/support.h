#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "catch.h"
#include "taper/kernels/emulator/control.h"

// What the emulator's tests share.

/// Compares errors by name.
#define CHECK_CUDA(...) CHECK(cudaGetErrorName(__VA_ARGS__) == std::string("cudaSuccess"))
#define CHECK_CUDA_ERROR(error, ...) CHECK(cudaGetErrorName(__VA_ARGS__) == std::string(#error))

/// An emulator with these settings for one test, and no leak at its end.
class Emulator {
 public:
  explicit Emulator(const std::string& settings = "") { taper::emulator::configure(settings); }
  ~Emulator() {
    cudaDeviceReset();
    CHECK(taper::emulator::live_objects() == "");
  }
};

/// Device memory with the host's numbers in it.
template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    CHECK_CUDA(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  explicit Buffer(size_t count) : count_(count) {
    void* memory = nullptr;
    CHECK_CUDA(cudaMalloc(&memory, bytes()));
    data_ = static_cast<T*>(memory);
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }
  operator T*() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    CHECK_CUDA(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// A stream that does not wait for the null stream.
class OwnStream {
 public:
  OwnStream() { CHECK_CUDA(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  ~OwnStream() { cudaStreamDestroy(handle); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};

class OwnEvent {
 public:
  OwnEvent() { CHECK_CUDA(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming)); }
  ~OwnEvent() { cudaEventDestroy(handle); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};

/// "faults.cu:LINE", the line of `file` that ends in "FAULT: name".
std::string place_of(const char* file, const std::string& name);
/// Runs a command of the shell; what it printed.
std::string output_of_command(const std::string& command);
/// Runs one test, usually hidden, in a process of its own; what it printed.
std::string output_of(const std::string& test, const std::string& settings);
