#include "taper/core/parallel.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"
#include "taper/core/error.h"

using namespace taper;

namespace {

struct Threads {
  explicit Threads(int count) : before(get_num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before); }
  int before;
};

std::set<std::pair<int64_t, int64_t>> pieces_of(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> pieces;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    const std::lock_guard lock(mutex);
    pieces.emplace(b, e);
  });
  return pieces;
}

}  // namespace

TEST_CASE("every element is visited once, in pieces of at least the grain") {
  for (const int count : {1, 2, 3, 8}) {
    const Threads threads(count);
    for (const int64_t size : {0, 1, 2, 7, 64, 1000}) {
      for (const int64_t grain : {1, 3, 64, 2000}) {
        int64_t next = 5;
        for (const auto& [begin, end] : pieces_of(5, 5 + size, grain)) {
          CHECK(begin == next);
          CHECK((end - begin >= grain || end == 5 + size));
          next = end;
        }
        CHECK(next == 5 + size);
      }
    }
  }
}

TEST_CASE("the pieces depend on range, grain and number of threads alone") {
  const Threads threads(4);
  const auto first = pieces_of(0, 1003, 10);
  CHECK(first.size() == 4);
  for (int i = 0; i < 200; ++i) CHECK(pieces_of(0, 1003, 10) == first);
  parallel_for(0, 2, 1, [&](int64_t begin, int64_t) {
    if (begin == 0 && pieces_of(0, 1003, 10) != first) throw std::runtime_error("nested differs");
  });
}

TEST_CASE("nested loops are serial and know it") {
  const Threads threads(4);
  CHECK_FALSE(in_parallel_region());
  std::atomic<int> wrong{0};
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    if (!in_parallel_region()) ++wrong;
    const std::thread::id me = std::this_thread::get_id();
    parallel_for(0, 100, 1, [&](int64_t, int64_t) { wrong += std::this_thread::get_id() != me; });
  });
  CHECK(wrong == 0);
  CHECK_FALSE(in_parallel_region());
}

TEST_CASE("the first piece's exception is rethrown after all pieces ran") {
  const Threads threads(4);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ran{0};
    try {
      parallel_for(0, 100, 1, [&](int64_t begin, int64_t) {
        ++ran;
        if (begin >= 25) throw std::runtime_error(std::to_string(begin));
      });
      FAIL("did not throw");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "25");
    }
    CHECK(ran == 4);
  }
  CHECK(pieces_of(0, 8, 1).size() == 4);
}

TEST_CASE("several threads may run loops at once") {
  const Threads threads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        std::atomic<int64_t> sum{0};
        parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) {
          int64_t part = 0;
          for (int64_t i = begin; i < end; ++i) part += i;
          sum += part;
        });
        wrong += sum != 499500;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("the number of threads can be changed, within reason") {
  const Threads threads(2);
  CHECK(get_num_threads() == 2);
  CHECK_THROWS_AS(set_num_threads(0), Error);
  CHECK_THROWS_AS(set_num_threads(-3), Error);
  CHECK_THROWS_AS(set_num_interop_threads(0), Error);
  set_num_interop_threads(3);
  CHECK(get_num_interop_threads() == 3);
}

#if !defined(__SANITIZE_THREAD__)  // which does not allow threads in a forked child
TEST_CASE("a forked child has a pool of its own") {
  const Threads threads(3);
  CHECK(pieces_of(0, 9, 1).size() == 3);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> calls{0};
    for (int i = 0; i < 100; ++i) parallel_for(0, 9, 1, [&](int64_t, int64_t) { ++calls; });
    _exit(calls == 300 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
