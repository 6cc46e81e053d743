#include "taper/kernels/emulator/engine.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "taper/core/macros.h"

namespace taper::emulator {

namespace {

// Without a lock, which the thread sanitizer would take for an order between CUDA threads.
int slot_of(SharedSite& site) {
  static std::atomic<int> slots{0};
  int slot = __atomic_load_n(&site.slot, __ATOMIC_RELAXED);
  if (slot != 0) return slot;
  const int fresh = ++slots;
  return __atomic_compare_exchange_n(&site.slot, &slot, fresh, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)
             ? fresh
             : slot;
}

}  // namespace

Engine::Engine(size_t stack_bytes) : stacks_(size_t{kMaxThreads} * kSets, stack_bytes) {
  void* const memory = mmap(nullptr, kArena * kSets, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  arena_ = static_cast<char*>(memory);
  reset_after_fault();
}

Engine::~Engine() {
  permit(arena_, kArena * kSets);
  munmap(arena_, kArena * kSets);
}

void Engine::reset_after_fault() {
  abandon_identities();
  stacks_.forget_all();
  free_fibers_.clear();
  for (Fiber& fiber : stacks_.fibers()) free_fibers_.push_back(&fiber);
  std::reverse(free_fibers_.begin(), free_fibers_.end());  // the first stacks are used first
  for (unsigned i = 0; i < kMaxThreads; ++i) copies_[i] = {};
  failed_ = false;
}

/// What the threads of an abandoned block have done is done; new ones are made for the next.
void Engine::abandon_identities() {
  if constexpr (!kThreadSanitizer) return;
  char done = 0;
  for (Fiber& fiber : stacks_.fibers()) {
    if (!fiber.identity) continue;
    void* const self = current_identity();
    become(fiber.identity);
    release(&done);
    become(self);
    acquire(&done);
    destroy_identity(fiber.identity);
    fiber.identity = nullptr;
  }
}

// ---- A grid, a block ----------------------------------------------------------------------------

void Engine::begin(const Grid& grid, const Manner& manner, Thread& thread) {
  grid_ = grid;
  manner_ = manner;
  thread_ = &thread;
  thread.engine = this;
  thread.block_dim = Dim{{grid.threads.x, grid.threads.y, grid.threads.z}};
  thread.grid_dim = Dim{{grid.blocks.x, grid.blocks.y, grid.blocks.z}};
  size_ = grid.threads.x * grid.threads.y * grid.threads.z;
  report_.clear();
  copies_used_ = false;
  describe_own_stack(host_);
  unsigned linear = 0;
  for (unsigned z = 0; z < grid.threads.z; ++z) {
    for (unsigned y = 0; y < grid.threads.y; ++y) {
      for (unsigned x = 0; x < grid.threads.x; ++x, ++linear) {
        threads_[linear].index = uint3{x, y, z};
        threads_[linear].linear = linear;
        order_[linear] = static_cast<uint16_t>(linear);
      }
    }
  }
  if constexpr (kThreadSanitizer) {
    // Not when first used: to create one is an order between the two.
    for (unsigned set = 0; set < kSets; ++set) {
      for (unsigned i = 0; i < size_; ++i) {
        Fiber& fiber = stacks_.fibers()[set * kMaxThreads + i];
        if (fiber.fresh) prepare_fiber(fiber, &fiber_main);
      }
    }
  }
  release(&start_order_);
}

void Engine::end() {
  for (auto& set : set_order_) {
    acquire(&set[0]);
    acquire(&set[1]);
  }
}

bool Engine::run_block(uint3 index, uint64_t number) {
  thread_->block = index;
  ++block_;
  set_ = static_cast<unsigned>(number % kSets);
  ++set_uses_[set_];

  const size_t dynamic = grid_.shared;
  permit(arena(), kArena);
  if (manner_.fill) fill_unwritten(arena(), dynamic);
  arena_used_ = (dynamic + 15) / 16 * 16;
  forbid(arena() + dynamic, kArena - dynamic);
  static_shared_ = 0;

  started_ = ready_head_ = ready_count_ = at_barrier_ = 0;
  live_ = size_;
  for (unsigned w = 0; w * 32 < size_; ++w) {
    warps_[w].exited = w * 32 + 32 > size_ ? ~0u << (size_ & 31) : 0;
    warps_[w].groups = 0;
  }
  if (manner_.seed) {
    random_ = (manner_.seed + number * 0xd1342543de82ef95ull) * 0x9e3779b97f4a7c15ull | 1;
    for (unsigned i = size_; i > 1; --i) std::swap(order_[i - 1], order_[draw(i)]);
  }
  Fiber& first = free_fiber(order_[0]);
  running_ = &first;
  switch_fibers(host_, &host_.context, first, first.context);
  if (!failed_) return true;
  reset_after_fault();
  return false;
}

uint32_t Engine::draw(uint32_t below) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<uint32_t>((random_ >> 32) * below >> 32);
}

// ---- Threads ------------------------------------------------------------------------------------

void Engine::fiber_main() {
  arrive_on_new_stack();
  Engine* engine = current->engine;
  Fiber& self = *engine->running_;
  for (;;) {
    engine = current->engine;
    if constexpr (kThreadSanitizer) {
      engine->start_thread(self);
    } else {
      while (engine->started_ < engine->size_) {
        engine->start_thread(self);
        if (engine->ready_count_ != 0 && !(engine->manner_.seed && engine->draw(4))) break;
      }
      engine->free_fibers_.push_back(&self);
    }
    engine->leave(self, &self.context);
  }
}

void Engine::start_thread(Fiber& fiber) {
  const unsigned linear = order_[started_++];
  CudaThread& thread = threads_[linear];
  thread.fiber = &fiber;
  thread_->index = thread.index;
  thread_->linear = linear;
  acquire(&start_order_);
  acquire(&set_order_[set_][~set_uses_[set_] & 1]);  // the block that last had these identities
  grid_.kernel.call(grid_.kernel.arguments);
  release(&set_order_[set_][set_uses_[set_] & 1]);
  thread_exits(linear);
}

void Engine::thread_exits(unsigned linear) {
  if (TAPER_UNLIKELY(!stack_intact(*threads_[linear].fiber))) {
    fail_stack(linear);
  }
  --live_;
  Warp& warp = warps_[linear >> 5];
  warp.exited |= 1u << (linear & 31);
  for (int i = 0; i < warp.groups; ++i) {
    if (warp.group[i].mask >> (linear & 31) & 1) fail_exit(linear, warp.group[i]);
  }
  if (at_barrier_ != 0 && at_barrier_ == live_) release_barrier();
  if (TAPER_UNLIKELY(copies_used_) && !copies_[linear].waiting.empty()) {
    const Place place = copies_[linear].waiting[0].place;
    fault("cp_async: the thread ends without having waited for this copy", place.file, place.line);
  }
}

Fiber& Engine::free_fiber(unsigned linear) {
  Fiber* fiber = nullptr;
  if constexpr (kThreadSanitizer) {
    fiber = &stacks_.fibers()[set_ * kMaxThreads + linear];
  } else {
    fiber = free_fibers_.back();
    free_fibers_.pop_back();
  }
  if (fiber->fresh) prepare_fiber(*fiber, &fiber_main);
  return *fiber;
}

unsigned Engine::next_ready() {
  if (manner_.seed) {
    const unsigned place = draw(ready_count_);
    const unsigned linear = ready_[place];
    ready_[place] = ready_[--ready_count_];
    return linear;
  }
  const unsigned linear = ready_[ready_head_];
  ready_head_ = ready_head_ + 1 == kMaxThreads ? 0 : ready_head_ + 1;
  --ready_count_;
  return linear;
}

void Engine::make_ready(unsigned linear) {
  unsigned place = ready_count_++;
  if (!manner_.seed) {
    place += ready_head_;
    if (place >= kMaxThreads) place -= kMaxThreads;
  }
  ready_[place] = static_cast<uint16_t>(linear);
}

/// Goes on with another thread of the block, or with whoever called run_block.
__attribute__((noinline)) void Engine::leave(Fiber& from, void** save) {
  bool start = started_ < size_;
  if (start && ready_count_ != 0) start = manner_.seed != 0 && draw(4) != 0;
  if (start) {
    Fiber& fiber = free_fiber(order_[started_]);
    running_ = &fiber;
    // In a random order, a fiber that has just become free may be taken at once: it goes on.
    if (&fiber != &from) switch_fibers(from, save, fiber, fiber.context);
  } else if (ready_count_ != 0) {
    const CudaThread& next = threads_[next_ready()];
    running_ = next.fiber;
    switch_fibers(from, save, *next.fiber, next.context);
  } else if (live_ != 0) {
    fail_deadlock();
  } else {
    running_ = &host_;
    switch_fibers(from, save, host_, host_.context);
  }
}

__attribute__((always_inline)) inline void Engine::wait(unsigned linear) {
  CudaThread& self = threads_[linear];
  if (__builtin_expect(ready_count_ != 0 && !manner_.seed, 1)) {
    const CudaThread& next = threads_[next_ready()];
    running_ = next.fiber;
    switch_fibers(*self.fiber, &self.context, *next.fiber, next.context);
  } else {
    leave(*self.fiber, &self.context);
  }
  thread_->index = self.index;
  thread_->linear = linear;
}

// Also to threads that have not started, which nobody else would start before this one ends.
void Engine::yield() {
  const unsigned linear = thread_->linear;
  CudaThread& self = threads_[linear];
  Fiber* to = nullptr;
  void* context = nullptr;
  if (started_ < size_) {
    to = &free_fiber(order_[started_]);
    context = to->context;
    make_ready(linear);
  } else {
    make_ready(linear);
    const CudaThread& next = threads_[next_ready()];
    if (next.linear == linear) return;
    to = next.fiber;
    context = next.context;
  }
  running_ = to;
  switch_fibers(*self.fiber, &self.context, *to, context);
  thread_->index = self.index;
  thread_->linear = linear;
}

// ---- Waiting for each other ---------------------------------------------------------------------

int Engine::barrier(int predicate, Vote vote, const char* file, int line) {
  const unsigned linear = thread_->linear;
  const Place place{file, line};
  if (at_barrier_ == 0) {
    barrier_place_ = place;
    barrier_vote_ = vote;
    barrier_sum_ = vote == Vote::kAnd;
  } else if (TAPER_UNLIKELY(vote != barrier_vote_ || !(place == barrier_place_))) {
    fail_divergence(linear, place);
  }
  if (vote == Vote::kCount) barrier_sum_ += predicate;
  if (vote == Vote::kAnd) barrier_sum_ &= predicate;
  if (vote == Vote::kOr) barrier_sum_ |= predicate;
  // Two tags in turn: with one, what follows this barrier would seem ordered before the next.
  char* const order = &barrier_order_[barrier_phase_ & 1];
  release(order);
  if (at_barrier_ + 1 == live_) {
    release_barrier();
  } else {
    barrier_list_[at_barrier_++] = static_cast<uint16_t>(linear);
    wait(linear);
  }
  acquire(order);
  return barrier_result_;
}

void Engine::release_barrier() {
  barrier_result_ = barrier_sum_;
  ++barrier_phase_;
  if (ready_count_ == 0) {  // as usual: all the others wait here
    std::swap(ready_, barrier_list_);
    ready_head_ = 0;
    ready_count_ = at_barrier_;
  } else {
    for (unsigned i = 0; i < at_barrier_; ++i) make_ready(barrier_list_[i]);
  }
  at_barrier_ = 0;
}

void Engine::collective(uint32_t mask, void* payload, WarpFunction function, const char* name,
                        const char* file, int line) {
  const unsigned linear = thread_->linear, lane = linear & 31;
  const Place place{file, line};
  Warp& warp = warps_[linear >> 5];
  if (TAPER_UNLIKELY((mask >> lane & 1) == 0 || (mask & warp.exited) != 0)) {
    fail_collective(linear, mask, nullptr, name, place);
  }
  warp.payload[lane] = payload;
  int group = -1;
  for (int i = 0; i < warp.groups; ++i) {
    if (warp.group[i].mask == mask) {
      group = i;
    } else if (TAPER_UNLIKELY(warp.group[i].mask & mask)) {
      fail_collective(linear, mask, &warp.group[i], name, place);
    }
  }
  if (group < 0) {
    group = warp.groups++;
    warp.group[group] = Group{mask, 0, function, name, place};
  } else if (TAPER_UNLIKELY(warp.group[group].function != function ||
                            !(warp.group[group].place == place))) {
    fail_collective(linear, mask, &warp.group[group], name, place);
  }
  warp.group[group].arrived |= 1u << lane;
  // Of these, only __syncwarp orders memory.
  const bool orders = function == &no_op;
  char* const order = &warp.order[warp.phase & 1];
  if (orders) release(order);
  if (warp.group[group].arrived == mask) {
    complete(warp, group, linear & ~31u, linear);
  } else {
    wait(linear);
  }
  if (orders) acquire(order);
}

void Engine::complete(Warp& warp, int index, unsigned first_lane, unsigned arriving) {
  const Group group = warp.group[index];
  warp.group[index] = warp.group[--warp.groups];
  if (group.function == &no_op) ++warp.phase;
  const WarpFault wrong = group.function(warp.payload, group.mask);
  if (TAPER_UNLIKELY(wrong.what)) {
    fail_lane(first_lane + static_cast<unsigned>(wrong.lane), wrong.what, group);
  }
  // To the front: a warp goes on until it meets a barrier of the block, and its 32 stacks stay in
  // the cache.
  for (uint32_t rest = group.arrived; rest != 0;) {
    const unsigned lane = 31u - static_cast<unsigned>(__builtin_clz(rest));
    rest &= ~(1u << lane);
    const unsigned linear = first_lane + lane;
    if (linear == arriving) continue;
    if (manner_.seed) {
      ready_[ready_count_] = static_cast<uint16_t>(linear);
    } else {
      ready_head_ = ready_head_ != 0 ? ready_head_ - 1 : kMaxThreads - 1;
      ready_[ready_head_] = static_cast<uint16_t>(linear);
    }
    ++ready_count_;
  }
}

// ---- Shared memory, asynchronous copies ---------------------------------------------------------

void* Engine::shared(SharedSite& site, size_t bytes, const char* name) {
  const auto slot = static_cast<size_t>(slot_of(site));
  if (TAPER_UNLIKELY(slot >= shared_arrays_.size())) shared_arrays_.resize(slot + 16);
  SharedArray& array = shared_arrays_[slot];
  if (array.block == block_) return array.memory;
  static_shared_ += bytes;
  const size_t offset = (arena_used_ + kRedZone + 63) / 64 * 64;
  if (TAPER_UNLIKELY(static_shared_ > kMaxStaticShared || offset + bytes + kRedZone > kArena)) {
    fail_shared(name, static_shared_, site);
  }
  arena_used_ = offset + bytes;
  array = {block_, arena() + offset};
  permit(array.memory, bytes);
  if (manner_.fill) fill_unwritten(array.memory, bytes);
  return array.memory;
}

void Engine::async_copy(void* to, const void* from, int bytes, int valid, const char* file,
                        int line) {
  copies_used_ = true;
  AsyncCopies& copies = copies_[thread_->linear];
  fill_unwritten(to, static_cast<size_t>(bytes) / 8 * 8);  // not there before it is waited for
  copies.waiting.push_back({to, from, bytes, valid, copies.group, {file, line}});
}

void Engine::async_commit() { ++copies_[thread_->linear].group; }

void Engine::async_wait(int groups_left) {
  AsyncCopies& copies = copies_[thread_->linear];
  auto copy = copies.waiting.begin();
  for (; copy != copies.waiting.end() && copy->group < copies.group - groups_left; ++copy) {
    const auto valid = static_cast<size_t>(std::min(copy->valid, copy->bytes));
    std::memcpy(copy->to, copy->from, valid);
    std::memset(static_cast<char*>(copy->to) + valid, 0, static_cast<size_t>(copy->bytes) - valid);
  }
  copies.waiting.erase(copies.waiting.begin(), copy);
}

}  // namespace taper::emulator
