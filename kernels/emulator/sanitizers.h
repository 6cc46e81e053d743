#pragma once

#include <cstddef>
#include <cstdint>

// What the core tells the sanitizers. Nothing, in an ordinary build.
//
// Address sanitizer: which stack runs, and which bytes of device and shared memory nobody may
// touch. Thread sanitizer: each CUDA thread and each stream is a thread of its own in its eyes (a
// "fiber"), ordered by nothing but barriers, events and waiting. So it finds races in kernels and
// between streams. The core itself is compiled without it (TAPER_EMULATOR_TSAN says that the rest
// is not).

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define TAPER_EMULATOR_ASAN 1
#endif

#if defined(TAPER_EMULATOR_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void __tsan_read_range(void* address, unsigned long bytes);
void __tsan_write_range(void* address, unsigned long bytes);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace taper::emulator {

#if defined(TAPER_EMULATOR_TSAN)
inline constexpr bool kThreadSanitizer = true;
inline void* current_identity() { return __tsan_get_current_fiber(); }
inline void* create_identity() { return __tsan_create_fiber(0); }
inline void destroy_identity(void* identity) {
  if (identity) __tsan_destroy_fiber(identity);
}
/// Without an order between what the two have done.
inline void become(void* identity) { __tsan_switch_to_fiber(identity, 1); }
/// What was done before `release(tag)` is done before what follows `acquire(tag)`.
inline void acquire(void* tag) { __tsan_acquire(tag); }
inline void release(void* tag) { __tsan_release(tag); }
/// The sanitizer sees what memcpy and the like do even here; between these two calls it does not.
inline void hide_accesses() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
inline void show_accesses() {
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
inline void saw_read(const void* p, size_t bytes) {
  __tsan_read_range(const_cast<void*>(p), bytes);
}
inline void saw_write(void* p, size_t bytes) { __tsan_write_range(p, bytes); }
#else
inline constexpr bool kThreadSanitizer = false;
inline void* current_identity() { return nullptr; }
inline void* create_identity() { return nullptr; }
inline void destroy_identity(void*) {}
inline void become(void*) {}
inline void acquire(void*) {}
inline void release(void*) {}
inline void hide_accesses() {}
inline void show_accesses() {}
inline void saw_read(const void*, size_t) {}
inline void saw_write(void*, size_t) {}
#endif

#if defined(TAPER_EMULATOR_ASAN)
inline constexpr bool kAddressSanitizer = true;
inline void forbid(void* p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
inline void permit(void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
#else
inline constexpr bool kAddressSanitizer = false;
inline void forbid(void*, size_t) {}
inline void permit(void*, size_t) {}
#endif

// Memory that nobody has written. A signalling NaN in each of float, double and bfloat16 at the
// place where it begins, some NaN in every half, a large number in every integer. Arithmetic turns
// it into a quiet NaN with the same payload, so that it can be told from a copy.
inline constexpr uint64_t kUnwritten = 0x7ff47ff47fa57fa5ull;
inline constexpr uint32_t kComputedFloat = 0x7fe57fa5u;
inline constexpr uint64_t kComputedDouble = 0x7ffc7ff47fa57fa5ull;

/// Fills with that, behind the sanitizers' backs; `p` is 8-byte aligned.
inline void fill_unwritten(void* p, size_t bytes) {
  size_t words = bytes / 8;
  unsigned char* end = static_cast<unsigned char*>(p) + 8 * words;
#if defined(__x86_64__)
  asm volatile("rep stosq" : "+D"(p), "+c"(words) : "a"(kUnwritten) : "memory");
#else
  for (volatile uint64_t* word = static_cast<uint64_t*>(p); words-- > 0; ++word) *word = kUnwritten;
#endif
  for (size_t i = 0; i < bytes % 8; ++i) {
    *const_cast<volatile unsigned char*>(end + i) = static_cast<unsigned char>(kUnwritten >> 8 * i);
  }
}

/// Work in a stream (stream.cpp hides its accesses) says what it reads and writes for the program.
inline void reads(const void* p, size_t bytes) {
  show_accesses();
  saw_read(p, bytes);
  hide_accesses();
}
inline void writes(void* p, size_t bytes) {
  show_accesses();
  saw_write(p, bytes);
  hide_accesses();
}

}  // namespace taper::emulator
