#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/engine.h"
#include "taper/kernels/emulator/machine.h"

// The CUDA runtime: devices, their attributes, errors. NVIDIA's header declares these functions, so
// that a wrong signature does not compile.

using namespace taper::emulator;

namespace {

bool is_device(int device) {
  return device >= 0 && device < static_cast<int>(machine().devices.size());
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define TAPER_ERROR(error, text) {error, #error, text}
const ErrorText kErrors[] = {
    TAPER_ERROR(cudaSuccess, "no error"),
    TAPER_ERROR(cudaErrorInvalidValue, "invalid argument"),
    TAPER_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    TAPER_ERROR(cudaErrorInitializationError, "initialization error"),
    TAPER_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    TAPER_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    TAPER_ERROR(cudaErrorInsufficientDriver,
                "CUDA driver version is insufficient for CUDA runtime version"),
    TAPER_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    TAPER_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    TAPER_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    TAPER_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    TAPER_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    TAPER_ERROR(cudaErrorNotReady, "device not ready"),
    TAPER_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    TAPER_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    TAPER_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    TAPER_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    TAPER_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    TAPER_ERROR(cudaErrorPeerAccessUnsupported,
                "peer access is not supported between these two devices"),
    TAPER_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                "part or all of the requested memory range is already mapped"),
    TAPER_ERROR(cudaErrorHostMemoryNotRegistered,
                "pointer does not correspond to a registered memory region"),
    TAPER_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    TAPER_ERROR(cudaErrorNotSupported, "operation not supported"),
    TAPER_ERROR(cudaErrorStreamCaptureUnsupported,
                "operation not permitted when stream is capturing"),
    TAPER_ERROR(cudaErrorStreamCaptureInvalidated,
                "operation failed due to a previous error during capture"),
    TAPER_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not initiated in this stream"),
    TAPER_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    TAPER_ERROR(cudaErrorStreamCaptureIsolation,
                "dependency created on uncaptured work in another stream"),
    TAPER_ERROR(cudaErrorStreamCaptureImplicit,
                "operation would make the legacy stream depend on a capturing blocking stream"),
    TAPER_ERROR(cudaErrorCapturedEvent,
                "operation not permitted on an event last recorded in a capturing stream"),
    TAPER_ERROR(cudaErrorStreamCaptureWrongThread,
                "attempt to terminate a thread-local capture sequence from another thread"),
    TAPER_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    TAPER_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef TAPER_ERROR

const ErrorText* find_error(cudaError_t error) {
  for (const ErrorText& known : kErrors) {
    if (known.error == error) return &known;
  }
  return nullptr;
}

// A text that outlives the call. There are few different ones.
const char* keep(std::string text) {
  static auto* const texts = new std::set<std::string>;
  return texts->insert(std::move(text)).first->c_str();
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  TAPER_CUDA_CALL(cudaGetDeviceCount, kAlways);
  *count = static_cast<int>(machine().devices.size());
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  TAPER_CUDA_CALL(cudaSetDevice, kAlways);
  if (!is_device(device)) return entry.end(cudaErrorInvalidDevice);
  host_thread().device = device;
  machine().here().has_context = true;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  TAPER_CUDA_CALL(cudaGetDevice, kAlways);
  *device = host_thread().device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  TAPER_CUDA_CALL(cudaGetDeviceProperties, kAlways);
  if (!is_device(device)) return entry.end(cudaErrorInvalidDevice);
  const int capability = machine().options.capability;
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "Taper's emulator of sm_%d", capability);
  p.major = capability / 10;
  p.minor = capability % 10;
  p.totalGlobalMem = machine().devices[static_cast<size_t>(device)]->memory.capacity();
  p.multiProcessorCount = machine().options.multiprocessors;
  p.warpSize = 32;
  p.maxThreadsPerBlock = kMaxThreads;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.sharedMemPerBlock = kMaxStaticShared;
  p.sharedMemPerBlockOptin = kMaxShared;
  p.sharedMemPerMultiprocessor = kMaxShared + 1024;
  p.l2CacheSize = 1 << 20;
  p.unifiedAddressing = 1;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.asyncEngineCount = 1;
  p.streamPrioritiesSupported = 1;
  p.pciDeviceID = device;
  *properties = p;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  TAPER_CUDA_CALL(cudaDeviceGetAttribute, kAlways);
  if (!is_device(device)) return entry.end(cudaErrorInvalidDevice);
  const int capability = machine().options.capability;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = kMaxThreads;
      break;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = 1024;
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = 64;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7fffffff;
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = kMaxStaticShared;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = kMaxShared;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = kMaxShared + 1024;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = machine().options.multiprocessors;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = 32;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = 65536;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = capability / 10;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = capability % 10;
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      break;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrStreamPrioritiesSupported:
      *value = 1;
      break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrCooperativeLaunch:
      *value = 0;
      break;
    case cudaDevAttrPciDeviceId:
      *value = device;
      break;
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDomainId:
      *value = 0;
      break;
    default:
      return entry.end(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  TAPER_CUDA_CALL(cudaDeviceGetPCIBusId, kAlways);
  if (!is_device(device)) return entry.end(cudaErrorInvalidDevice);
  std::snprintf(text, static_cast<size_t>(length), "0000:00:%02x.0", device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  TAPER_CUDA_CALL(cudaDeviceSynchronize, kUnsafe);
  machine().count_wait();
  drain_device(host_thread().device);
  return entry.end(machine().here().sticky);
}

/// Also what is left of a device after a fault: nothing, and it can be used again.
cudaError_t cudaDeviceReset() {
  TAPER_CUDA_CALL(cudaDeviceReset, kAlways);
  Machine& m = machine();
  const int device = host_thread().device;
  drain_device(device);
  m.here().sticky = cudaSuccess;
  m.here().report.clear();
  m.here().peers.clear();
  m.here().has_context = false;
  host_thread().last_error = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  TAPER_CUDA_CALL(cudaDeviceGetStreamPriorityRange, kAlways);
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  TAPER_CUDA_CALL(cudaDeviceCanAccessPeer, kAlways);
  if (!is_device(device) || !is_device(peer)) return entry.end(cudaErrorInvalidDevice);
  *can = device != peer && machine().options.peers;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  TAPER_CUDA_CALL(cudaDeviceEnablePeerAccess, kOrdinary);
  if (flags != 0) return entry.end(cudaErrorInvalidValue);
  if (!is_device(peer) || peer == host_thread().device) return entry.end(cudaErrorInvalidDevice);
  if (!machine().options.peers) return entry.end(cudaErrorPeerAccessUnsupported);
  const bool added = machine().here().peers.insert(peer).second;
  return entry.end(added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  TAPER_CUDA_CALL(cudaDeviceDisablePeerAccess, kOrdinary);
  if (!is_device(peer)) return entry.end(cudaErrorInvalidDevice);
  const bool removed = machine().here().peers.erase(peer) != 0;
  return entry.end(removed ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  TAPER_CUDA_CALL(cudaRuntimeGetVersion, kAlways);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  TAPER_CUDA_CALL(cudaDriverGetVersion, kAlways);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

// ---- Kernels ------------------------------------------------------------------------------------

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  TAPER_CUDA_CALL(cudaFuncSetAttribute, kOrdinary);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > static_cast<int>(kMaxShared)) {
    machine().report = "cudaFuncSetAttribute at " + to_text(entry.site()) + ": " +
                       std::to_string(value) + " bytes of shared memory, where a block can have " +
                       std::to_string(kMaxShared);
    return entry.end(cudaErrorInvalidValue);
  }
  machine().shared_limit[kernel] = value;
  return cudaSuccess;
}

// No more than threads, blocks and shared memory say: registers are nvcc's to count.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          size_t shared) {
  TAPER_CUDA_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, kOrdinary);
  if (threads < 1 || threads > static_cast<int>(kMaxThreads)) {
    return entry.end(cudaErrorInvalidValue);
  }
  int most = std::min(32, 2048 / ((threads + 31) / 32 * 32));
  if (shared != 0) most = std::min(most, static_cast<int>(kMaxShared / shared));
  *blocks = most;
  return cudaSuccess;
}

/// Of the driver's calls there is the one that tells whether a device has a context.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  TAPER_CUDA_CALL(cudaGetDriverEntryPointByVersion, kAlways);
  const bool is_known = std::strcmp(name, "cuDevicePrimaryCtxGetState") == 0;
  int (*const get_state)(int, unsigned*, int*) = [](int device, unsigned* flags, int* active) {
    const std::lock_guard lock(machine_mutex());
    if (!is_device(device)) return static_cast<int>(cudaErrorInvalidDevice);
    *flags = 0;
    *active = machine().devices[static_cast<size_t>(device)]->has_context;
    return 0;
  };
  *function = is_known ? reinterpret_cast<void*>(get_state) : nullptr;
  if (result) *result = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

/// Not where the library was stripped.
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  TAPER_CUDA_CALL(cudaFuncGetName, kAlways);
  *name = function_name(kernel);
  return *name ? cudaSuccess : entry.end(cudaErrorNotSupported);
}

// ---- Errors -------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() {
  TAPER_CUDA_CALL(cudaGetLastError, kAlways);
  HostThread& self = host_thread();
  const cudaError_t error = self.last_error;
  // Not the device's fault before a call has returned it; from then on again and again.
  if (error != machine().here().sticky) self.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  TAPER_CUDA_CALL(cudaPeekAtLastError, kAlways);
  return host_thread().last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const known = find_error(error);
  return known ? known->name : "unrecognized error code";
}

/// With what the emulator has found, where it has found something.
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const known = find_error(error);
  const char* const text = known ? known->text : "unrecognized error code";
  const std::lock_guard lock(machine_mutex());
  Machine& m = machine();
  if (error == cudaErrorInitializationError) return m.configuration_error.c_str();
  const Device& device = m.here();
  if (error != device.sticky || device.report.empty()) return text;
  return keep(std::string(text) + "\n  emulator: " + device.report);
}
