#include <cstdio>
#include <map>

#include "taper/kernels/emulator/engine.h"

// What the engine says when a kernel does what a card would not take well.

namespace taper::emulator {

namespace {

std::string at(const char* name, const char* file, int line) {
  return std::string(name) + " at " + file + ":" + std::to_string(line);
}

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

std::string in_order(dim3 place) {
  return "(" + std::to_string(place.x) + "," + std::to_string(place.y) + "," +
         std::to_string(place.z) + ")";
}

/// Leaves the block, and the grid with it. Nothing on this stack is destroyed any more, so the
/// caller's strings must be gone by now.
void Engine::give_up() {
  failed_ = true;
  Fiber& from = *running_;
  running_ = &host_;
  switch_fibers(from, &from.context, host_, host_.context);
  __builtin_unreachable();
}

std::string Engine::who(unsigned linear) const {
  return "thread " + in_order(threads_[linear].index) + " of block " + in_order(thread_->block);
}

void Engine::fault(const char* what, const char* file, int line) {
  report_ = at(what, file, line) + ", " + who(thread_->linear);
  give_up();
}

void Engine::fail_divergence(unsigned linear, Place place) {
  report_ = "divergent barrier: " + who(linear) + " is in " +
            at("__syncthreads", place.file, place.line) + " while " + std::to_string(at_barrier_) +
            " others, " + who(barrier_list_[0]) + " first, wait in " +
            at("__syncthreads", barrier_place_.file, barrier_place_.line);
  give_up();
}

void Engine::fail_deadlock() {
  describe_deadlock();
  give_up();
}

void Engine::describe_deadlock() {
  struct Crowd {
    unsigned count = 0, first = 0;
  };
  std::map<std::string, Crowd> crowds;
  const auto count = [&](const std::string& where, unsigned linear) {
    Crowd& crowd = crowds[where];
    if (crowd.count++ == 0) crowd.first = linear;
  };
  for (unsigned i = 0; i < at_barrier_; ++i) {
    count("wait in " + at("__syncthreads", barrier_place_.file, barrier_place_.line),
          barrier_list_[i]);
  }
  for (unsigned linear = 0; linear < size_; ++linear) {
    const Warp& warp = warps_[linear >> 5];
    if (warp.exited >> (linear & 31) & 1) count("have ended", linear);
    for (int i = 0; i < warp.groups; ++i) {
      const Group& group = warp.group[i];
      if ((group.arrived >> (linear & 31) & 1) == 0) continue;
      count("wait in " + at(group.name, group.place.file, group.place.line) + " with mask " +
                hex(group.mask),
            linear);
    }
  }
  report_ = "deadlock in block " + in_order(thread_->block) + ":";
  for (const auto& [where, crowd] : crowds) {
    report_ +=
        "\n  " + std::to_string(crowd.count) + " threads, " + who(crowd.first) + " first, " + where;
  }
}

void Engine::fail_stack(unsigned linear) {
  report_ = who(linear) + " has used more stack than the emulator gives it (stack=BYTES)";
  give_up();
}

void Engine::fail_shared(const char* name, size_t bytes, const SharedSite& site) {
  report_ = at("shared memory", site.file, site.line) + ": with \"" + name +
            "\" the block declares " + std::to_string(bytes) + " bytes, more than 48 KiB";
  give_up();
}

void Engine::fail_lane(unsigned linear, const char* what, const Group& group) {
  report_ = at(group.name, group.place.file, group.place.line) + " " + what + ", " + who(linear);
  give_up();
}

void Engine::fail_collective(unsigned linear, uint32_t mask, const Group* other, const char* name,
                             Place place) {
  report_ = at(name, place.file, place.line) + " with mask " + hex(mask) + ", " + who(linear);
  const uint32_t gone = mask & warps_[linear >> 5].exited;
  if (other) {
    report_ += ", while lanes of its warp wait in " +
               at(other->name, other->place.file, other->place.line) + " with mask " +
               hex(other->mask);
  } else if (gone != 0) {
    report_ += ": the mask names lanes that have ended or never were: " + hex(gone);
  } else {
    report_ += ": the mask does not name the lane that calls";
  }
  give_up();
}

void Engine::fail_exit(unsigned linear, const Group& group) {
  report_ = who(linear) + " ends, while lanes of its warp wait for it in " +
            at(group.name, group.place.file, group.place.line) + " with mask " + hex(group.mask);
  give_up();
}

}  // namespace taper::emulator
