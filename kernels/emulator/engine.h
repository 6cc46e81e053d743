#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taper/kernels/emulator/device.h"
#include "taper/kernels/emulator/fiber.h"

// Runs the blocks of a grid, one after the other, on one thread of the system.
//
// A fiber works through the block's threads that have not started yet. A thread that ends without
// having waited leaves its stack to the next, so that a kernel without barriers is a plain loop.
// Only a thread that waits keeps its stack, and another fiber goes on.

namespace taper::emulator {

struct Grid {
  Kernel kernel;
  dim3 blocks, threads;
  size_t shared;  ///< dynamic shared memory
};

/// How a grid is run.
struct Manner {
  uint64_t seed = 0;        ///< 0: in order; else blocks and threads run in an order drawn from it
  bool fill = true;         ///< shared memory begins as NaN
  size_t stack = 64 << 10;  ///< bytes per CUDA thread
  bool watch = false;       ///< notes arithmetic on unwritten memory
};

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / 32;
constexpr size_t kMaxShared = 227 << 10;  ///< of a block, as on sm_90
constexpr size_t kMaxStaticShared = 48 << 10;

class Engine {
 public:
  explicit Engine(size_t stack_bytes);
  ~Engine();

  /// Before the blocks of a grid, on the thread of the system that will run them. `thread` is what
  /// the kernels see.
  void begin(const Grid& grid, const Manner& manner, Thread& thread);
  /// False after a fault.
  bool run_block(uint3 index, uint64_t number);
  void end();
  /// What went wrong, if anything did.
  std::string take_report() { return std::move(report_); }

  // What device.h offers to a kernel.
  void* shared(SharedSite& site, size_t bytes, const char* name);
  void* dynamic_shared() { return arena(); }
  int barrier(int predicate, Vote vote, const char* file, int line);
  void yield();
  void collective(uint32_t mask, void* payload, WarpFunction function, const char* name,
                  const char* file, int line);
  [[noreturn]] void fault(const char* what, const char* file, int line);
  void async_copy(void* to, const void* from, int bytes, int valid, const char* file, int line);
  void async_commit();
  void async_wait(int groups_left);

 private:
  // Under the thread sanitizer, neighbouring blocks take turns with two sets of identities (and of
  // shared memory), so that nothing orders them. It has some 8000 in all.
  static constexpr unsigned kSets = kThreadSanitizer ? 2 : 1;
  static constexpr size_t kRedZone = 64;
  static constexpr size_t kArena = kMaxShared + (64 << 10);

  struct Place {
    const char* file;
    int line;
    bool operator==(const Place& other) const { return line == other.line && file == other.file; }
  };
  struct CudaThread {
    uint3 index;
    unsigned linear;
    Fiber* fiber;
    void* context;  // while it waits
  };
  /// Lanes that wait for each other.
  struct Group {
    uint32_t mask, arrived;
    WarpFunction function;
    const char* name;
    Place place;
  };
  struct Warp {
    uint32_t exited;
    int groups;
    unsigned phase;
    Group group[32];
    void* payload[32];
    char order[2];  // tags for the thread sanitizer, taken in turn
  };
  struct AsyncCopy {
    void* to;
    const void* from;
    int bytes, valid, group;
    Place place;
  };
  struct AsyncCopies {
    std::vector<AsyncCopy> waiting;
    int group = 0;
  };
  struct SharedArray {
    uint64_t block = 0;  // the one it was made for
    void* memory = nullptr;
  };

  static void fiber_main();
  void start_thread(Fiber& fiber);
  void thread_exits(unsigned linear);
  Fiber& free_fiber(unsigned linear);
  unsigned next_ready();
  void make_ready(unsigned linear);
  void leave(Fiber& from, void** save);
  void wait(unsigned linear);
  void release_barrier();
  void complete(Warp& warp, int group, unsigned first_lane, unsigned arriving);
  void reset_after_fault();
  void abandon_identities();
  uint32_t draw(uint32_t below);
  char* arena() { return arena_ + set_ * kArena; }

  // Cold, and in a file of their own: in the fast paths, their strings would take room on the stack
  // of each CUDA thread that waits.
  [[noreturn]] void give_up();
  [[noreturn]] void fail_deadlock();
  [[noreturn]] void fail_stack(unsigned linear);
  [[noreturn]] void fail_shared(const char* name, size_t bytes, const SharedSite& site);
  [[noreturn]] void fail_lane(unsigned linear, const char* what, const Group& group);
  [[noreturn]] void fail_divergence(unsigned linear, Place place);
  [[noreturn]] void fail_collective(unsigned linear, uint32_t mask, const Group* other,
                                    const char* name, Place place);
  [[noreturn]] void fail_exit(unsigned linear, const Group& group);
  void describe_deadlock();
  std::string who(unsigned linear) const;

  Grid grid_{};
  Manner manner_;
  Thread* thread_ = nullptr;
  unsigned size_ = 0;  // threads in the block
  uint64_t random_ = 0;
  uint64_t block_ = 0;  // counts up, over all grids

  // The schedule of the block that runs.
  unsigned started_ = 0, live_ = 0;
  unsigned ready_head_ = 0, ready_count_ = 0;
  unsigned at_barrier_ = 0;
  uint16_t lists_[2][kMaxThreads];
  uint16_t* ready_ = lists_[0];
  uint16_t* barrier_list_ = lists_[1];
  uint16_t order_[kMaxThreads];
  CudaThread threads_[kMaxThreads];
  Warp warps_[kMaxWarps];

  Vote barrier_vote_{};
  int barrier_sum_ = 0, barrier_result_ = 0;
  Place barrier_place_{};
  unsigned barrier_phase_ = 0;

  Stacks stacks_;
  Fiber host_;  // whoever called run_block
  Fiber* running_ = nullptr;
  std::vector<Fiber*> free_fibers_;

  char* arena_;
  size_t arena_used_ = 0, static_shared_ = 0;
  std::vector<SharedArray> shared_arrays_;
  std::unique_ptr<AsyncCopies[]> copies_{new AsyncCopies[kMaxThreads]};
  bool copies_used_ = false;

  unsigned set_ = 0;
  unsigned set_uses_[kSets] = {};
  char barrier_order_[2], start_order_, set_order_[kSets][2];

  std::string report_;
  bool failed_ = false;
};

/// Runs all blocks; returns what went wrong, or nothing. `system_threads` at most. Under the thread
/// sanitizer it takes the stream's own engine, made at first use: with stacks and identities in
/// common, what two streams do would seem ordered, or to collide, where it is not so. Those of the
/// streams that ran last are kept: the sanitizer can tell some 8000 threads apart.
std::string run_grid(const Grid& grid, const Manner& manner, int system_threads,
                     std::weak_ptr<Engine>& of_stream);

/// "(x,y,z)", for reports: a place in a grid or block, or a size of one.
std::string in_order(dim3 place);

/// This thread of the system, for kernels; made at first use.
Thread& this_thread();

}  // namespace taper::emulator
