#include "taper/core/parallel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

#include "taper/core/error.h"
#include "taper/core/system_memory.h"
#include "taper/core/thread_state.h"

namespace taper {

namespace detail {

namespace {

constexpr int kMaxThreads = 256;
// Waiting for work or for the others: this long on the processor, then asleep. Waking costs 15 to
// 50 us.
constexpr int64_t kSpinNanoseconds = 100'000;

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

void futex_wait(uint32_t* word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futex_wake(uint32_t* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

uint32_t load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }

// Waits until done(value of word), first on the processor, then asleep. `asleep` tells whoever
// changes the word that a wake-up is needed; both sides write one and then read the other, so none
// is missed.
template <class Done>
void wait_until(uint32_t& word, uint32_t& asleep, const Done& done) {
  if (done(load(word))) return;
  const int64_t deadline = now() + kSpinNanoseconds;
  while (true) {
    for (int i = 0; i < 64; ++i) {
      if (done(load(word))) return;
      pause();
    }
    if (now() >= deadline) break;
    sched_yield();  // with more threads than processors, whoever is waited for needs this one
  }
  __atomic_store_n(&asleep, 1u, __ATOMIC_SEQ_CST);
  for (uint32_t value; !done(value = load(word));) futex_wait(&word, value);
  __atomic_store_n(&asleep, 0u, __ATOMIC_SEQ_CST);
}

// One parallel_for. Pieces are taken from a counter; their bounds follow from their number alone.
struct Job {
  int64_t begin, end, piece;
  uint32_t pieces;
  ParallelBody body;
  void* context;
  uint32_t mode;
  uint32_t next = 0;
  uint32_t error_lock = 0;
  uint32_t error_piece = 0;
  std::exception_ptr error;
};

void run_pieces(Job& job) {
  while (true) {
    const uint32_t i = __atomic_fetch_add(&job.next, 1u, __ATOMIC_RELAXED);
    if (i >= job.pieces) return;
    const int64_t from = job.begin + i * job.piece;
    try {
      job.body(job.context, from, std::min(from + job.piece, job.end));
    } catch (...) {
      while (__atomic_exchange_n(&job.error_lock, 1u, __ATOMIC_ACQUIRE)) pause();
      if (!job.error || i < job.error_piece) {
        job.error = std::current_exception();
        job.error_piece = i;
      }
      __atomic_store_n(&job.error_lock, 0u, __ATOMIC_RELEASE);
    }
  }
}

// What one worker waits on.
struct alignas(TAPER_CACHE_LINE) Bell {
  uint32_t round = 0;  ///< raised for each job that the worker may take part in
  uint32_t asleep = 0;
};

// Set in Pool::inside while there is no job, or none that may still be entered.
constexpr uint32_t kClosed = 1u << 31;

// Never destroyed: a process may exit while workers sleep, and the system ends them.
struct Pool {
  alignas(TAPER_CACHE_LINE) uint32_t busy = 0;          ///< a caller owns the pool
  alignas(TAPER_CACHE_LINE) uint32_t inside = kClosed;  ///< workers that are looking at the job
  uint32_t caller_asleep = 0;
  Job* job = nullptr;
  uint32_t workers = 0;  ///< started so far
  Bell bells[kMaxThreads - 1];
};

constinit Pool pool{};

// A worker that wakes too late finds the door closed: nobody waits for it, and it touches no job.
bool enter() {
  uint32_t inside = load(pool.inside);
  while (!(inside & kClosed)) {
    if (__atomic_compare_exchange_n(&pool.inside, &inside, inside + 1, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return true;
    }
  }
  return false;
}

void work(uint32_t number) {
  thread_state.in_parallel = true;
  Bell& bell = pool.bells[number];
  uint32_t seen = 0;
  while (true) {
    wait_until(bell.round, bell.asleep, [seen](uint32_t round) { return round != seen; });
    seen = load(bell.round);
    if (!enter()) continue;
    thread_state.mode = pool.job->mode;
    run_pieces(*pool.job);
    // The job is the caller's to destroy from here on.
    if (__atomic_sub_fetch(&pool.inside, 1u, __ATOMIC_SEQ_CST) == kClosed &&
        load(pool.caller_asleep)) {
      futex_wake(&pool.inside);
    }
  }
}

// The child of a fork has the caller's thread only.
void forget_workers() { new (&pool) Pool{}; }

// Workers 0 .. count-1 exist afterwards, or as many as the system allows.
uint32_t start_workers(uint32_t count) {
  if (pool.workers == 0) {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_workers);
    (void)registered;
  }
  while (pool.workers < count) {
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    try {
      std::thread(work, pool.workers).detach();
    } catch (const std::exception&) {
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!started) break;
    ++pool.workers;
  }
  return std::min(count, pool.workers);
}

void run_in_pool(Job& job, uint32_t helpers) {
  helpers = start_workers(helpers);
  pool.job = &job;
  __atomic_store_n(&pool.inside, 0u, __ATOMIC_SEQ_CST);
  for (uint32_t i = 0; i < helpers; ++i) {
    Bell& bell = pool.bells[i];
    __atomic_fetch_add(&bell.round, 1u, __ATOMIC_SEQ_CST);
    if (load(bell.asleep)) futex_wake(&bell.round);
  }
  run_pieces(job);
  // All pieces are taken; what is left is to wait for those who work on one.
  __atomic_fetch_or(&pool.inside, kClosed, __ATOMIC_SEQ_CST);
  wait_until(pool.inside, pool.caller_asleep, [](uint32_t inside) { return inside == kClosed; });
}

// ---- How many threads.

int environment_threads(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return 0;
  char* end;
  const long count = std::strtol(text, &end, 10);
  return end != text && count > 0 ? static_cast<int>(std::min<long>(count, kMaxThreads)) : 0;
}

int usable_processors() {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0
                  ? CPU_COUNT(&set)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const int quota = cgroup_cpu_limit()) count = std::min(count, quota);
  return std::clamp(count, 1, kMaxThreads);
}

int num_threads = 0;  // 0: not chosen yet
int num_interop_threads = 0;

}  // namespace

void parallel_for(int64_t begin, int64_t end, int64_t grain, ParallelBody body, void* context) {
  if (begin >= end) return;
  ThreadState& state = thread_state;
  const int64_t count = end - begin;
  const int threads = get_num_threads();
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain || threads == 1) {
    // The body runs as it is, nested or not: nothing here is parallel.
    return body(context, begin, end);
  }
  const int64_t most = std::min<int64_t>(threads, count / grain);
  Job job{begin, end, (count + most - 1) / most, 0, body, context, state.mode, 0, 0, 0, {}};
  job.pieces = static_cast<uint32_t>((count + job.piece - 1) / job.piece);
  const bool nested = state.in_parallel;
  state.in_parallel = true;
  // A second caller works through its pieces alone: the processors have enough to do.
  if (!nested && job.pieces > 1 && !__atomic_exchange_n(&pool.busy, 1u, __ATOMIC_ACQUIRE)) {
    run_in_pool(job, job.pieces - 1);
    __atomic_store_n(&pool.busy, 0u, __ATOMIC_RELEASE);
  } else {
    run_pieces(job);
  }
  state.in_parallel = nested;
  if (TAPER_UNLIKELY(static_cast<bool>(job.error))) std::rethrow_exception(job.error);
}

}  // namespace detail

int get_num_threads() {
  int count = __atomic_load_n(&detail::num_threads, __ATOMIC_RELAXED);
  if (TAPER_LIKELY(count > 0)) return count;
  count = detail::environment_threads("TAPER_NUM_THREADS");
  if (!count) count = detail::environment_threads("OMP_NUM_THREADS");
  if (!count) count = detail::usable_processors();
  __atomic_store_n(&detail::num_threads, count, __ATOMIC_RELAXED);
  return count;
}

void set_num_threads(int count) {
  TAPER_CHECK(count > 0, "set_num_threads: expected positive number of threads, but got ", count);
  __atomic_store_n(&detail::num_threads, std::min(count, detail::kMaxThreads), __ATOMIC_RELAXED);
}

int get_num_interop_threads() {
  const int count = __atomic_load_n(&detail::num_interop_threads, __ATOMIC_RELAXED);
  return count > 0 ? count : detail::usable_processors();
}

void set_num_interop_threads(int count) {
  TAPER_CHECK(count > 0, "set_num_interop_threads: expected positive number of threads, but got ",
              count);
  __atomic_store_n(&detail::num_interop_threads, count, __ATOMIC_RELAXED);
}

bool in_parallel_region() { return detail::thread_state.in_parallel; }

}  // namespace taper
