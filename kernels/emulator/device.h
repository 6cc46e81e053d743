#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

// What a kernel sees when the host compiler compiles it. Included by kernel.cuh alone.

// ---- Words that nvcc knows --------------------------------------------------------------------

#undef __global__
#undef __launch_bounds__
#if defined(__clang__) || !defined(__x86_64__)
#define __global__
#define __launch_bounds__(...)
#else
// A kernel stands behind as many no-ops as its bound has warps, and a section lists where they
// begin (launch_bounds.cpp). GCC 12 puts it in the wrong place for functions that several files
// share; and what only such a function launches it puts beside that, where the linker drops it,
// unless it is `used`.
#define __global__ __attribute__((used)) static
#define __launch_bounds__(...)                                                           \
  __attribute__((patchable_function_entry(sizeof(::taper::emulator::Warps<__VA_ARGS__>), \
                                          sizeof(::taper::emulator::Warps<__VA_ARGS__>))))
#endif

// A name in uppercase in kernel.cuh has its other body here.
#define TAPER_SHARED(T, name, ...)                                                \
  using name##_shared_type = T __VA_ARGS__;                                       \
  static constinit ::taper::emulator::SharedSite name##_site{__FILE__, __LINE__}; \
  auto& name = *static_cast<name##_shared_type*>(                                 \
      ::taper::emulator::shared_memory(name##_site, sizeof(name##_shared_type), #name))
#define TAPER_DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(::taper::emulator::dynamic_shared_memory())

// The line that calls: reports name it, and two barriers are one only if they are on one line.
#define TAPER_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#if defined(__SANITIZE_THREAD__)
#define TAPER_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define TAPER_NO_TSAN
#endif

namespace taper::emulator {

/// As large as a launch bound has warps.
template <int kThreads, int kBlocks = 1>
struct Warps {
  char each[(kThreads + 31) / 32];
};

// ---- Who am I -----------------------------------------------------------------------------------

class Engine;

struct Dim : uint3 {
  operator dim3() const { return dim3(x, y, z); }
};

/// What this thread of the system is running: which thread of which block.
struct Thread {
  uint3 index;      ///< threadIdx; with the next, 16 bytes that every switch of fibers rewrites
  unsigned linear;  ///< number of the thread in its block
  uint3 block;
  Dim block_dim, grid_dim;
  Engine* engine;
};

// All the thread-local storage there is: a library that is loaded at run time has little room.
extern __thread Thread* current __attribute__((tls_model("initial-exec"), visibility("hidden")));

inline unsigned lane() { return current->linear & 31u; }

#define threadIdx (static_cast<const ::uint3&>(::taper::emulator::current->index))
#define blockIdx (static_cast<const ::uint3&>(::taper::emulator::current->block))
#define blockDim (static_cast<const ::taper::emulator::Dim&>(::taper::emulator::current->block_dim))
#define gridDim (static_cast<const ::taper::emulator::Dim&>(::taper::emulator::current->grid_dim))

// ---- What the engine does for a thread ----------------------------------------------------------

/// A TAPER_SHARED line; the engine gives it a number at first use.
struct SharedSite {
  const char* file;
  int line;
  int slot = 0;
};
void* shared_memory(SharedSite& site, size_t bytes, const char* name);
void* dynamic_shared_memory();

enum class Vote : int { kNone, kCount, kAnd, kOr };
int block_barrier(int predicate, Vote vote, const char* file, int line);
/// Lets the other threads of the block run.
void yield_thread();
[[noreturn]] void device_fault(const char* what, const char* file, int line);

/// What is wrong with a warp operation, and which lane asked for it; null where all is well.
struct WarpFault {
  const char* what = nullptr;
  int lane = 0;
};
/// Runs once all lanes named in `lanes` have arrived, with the payload each of them brought.
using WarpFunction = WarpFault (*)(void* const* payloads, uint32_t lanes);
void warp_collective(uint32_t mask, void* payload, WarpFunction function, const char* name,
                     const char* file, int line);

/// cp.async: the bytes arrive only when waited for.
void async_copy(void* to, const void* from, int bytes, int valid, const char* file, int line);
void async_commit();
void async_wait(int groups_left);

// ---- Launch -------------------------------------------------------------------------------------

/// A kernel with its arguments, without their types.
struct Kernel {
  void (*call)(const void* arguments);  ///< runs it once, for the current thread
  void (*destroy)(void* arguments);
  void* arguments;
  const void* symbol;
  const char* file;
  int line;
};
/// The symbol of a function; null where the symbols of its library were stripped.
const char* function_name(const void* function);
/// Threads that the kernel's launch bound allows in a block, in whole warps; 0 where there is none.
unsigned launch_bound(const void* kernel);
/// `pointers` has an element for each argument, null where it is no pointer.
cudaError_t launch_kernel(const Kernel& kernel, std::span<const void* const> pointers, dim3 grid,
                          dim3 block, size_t shared, cudaStream_t stream);

template <class P>
const void* pointer_of(const P& argument) {
  if constexpr (std::is_pointer_v<P> && !std::is_function_v<std::remove_pointer_t<P>>) {
    return const_cast<const void*>(static_cast<const volatile void*>(argument));
  } else {
    return nullptr;
  }
}

/// The arguments are copied, as CUDA copies them at the launch.
template <class... P>
cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                   const char* file, int line, std::type_identity_t<P>... args) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "kernel arguments are copied as bytes");
  static_assert((size_t{0} + ... + sizeof(P)) <= 4096, "a kernel takes 4096 bytes of arguments");
  struct Call {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
  };
  const void* const pointers[] = {pointer_of(args)..., nullptr};
  return launch_kernel({.call =
                            [](const void* call) {
                              const Call& c = *static_cast<const Call*>(call);
                              std::apply(c.kernel, c.arguments);
                            },
                        .destroy = [](void* call) { delete static_cast<Call*>(call); },
                        .arguments = new Call{kernel, std::tuple<P...>(args...)},
                        .symbol = reinterpret_cast<const void*>(kernel),
                        .file = file,
                        .line = line},
                       pointers, grid, block, shared, stream);
}

}  // namespace taper::emulator

#include "taper/kernels/emulator/atomics.h"
#include "taper/kernels/emulator/intrinsics.h"
#include "taper/kernels/emulator/warp.h"
