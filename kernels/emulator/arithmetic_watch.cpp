#include <dlfcn.h>
#include <elf.h>
#include <fenv.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "taper/kernels/emulator/device.h"
#include "taper/kernels/emulator/engine.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/sanitizers.h"
#include "taper/kernels/emulator/uninitialized.h"

// Unwritten memory is a signalling NaN: arithmetic on it is an invalid operation, at which the
// processor can stop. So it does at inf - inf and the like. Which of them it was shows the result,
// so the instruction is let through alone (masked, single step) and its registers looked at.

namespace taper::emulator {

namespace {

struct Note {
  const void* instruction;
  uint3 thread, block;
};
Note note;
std::atomic<int> noted{0};  // 1: being written, 2: there

#if defined(__x86_64__)

constexpr uint32_t kInvalidFlag = 1u << 0, kInvalidMasked = 1u << 7;  // of MXCSR
constexpr greg_t kSingleStep = 1 << 8;                                // of EFLAGS

bool has_new(const _libc_xmmreg* now, const uint32_t (*before)[4]) {
  for (int r = 0; r < 16; ++r) {
    const uint32_t* const lanes = now[r].element;
    for (int i = 0; i < 4; ++i) {
      if (lanes[i] == kComputedFloat && before[r][i] != kComputedFloat) return true;
    }
    for (int i = 0; i < 4; i += 2) {
      uint64_t is = 0, was = 0;
      std::memcpy(&is, lanes + i, 8);
      std::memcpy(&was, before[r] + i, 8);
      if (is == kComputedDouble && was != kComputedDouble) return true;
    }
  }
  return false;
}

void on_invalid(int, siginfo_t* info, void* context) {
  if (info->si_code != FPE_FLTINV) {  // an integer division by 0: not ours
    signal(SIGFPE, SIG_DFL);
    return;
  }
  auto& machine_state = static_cast<ucontext_t*>(context)->uc_mcontext;
  SingleStep& step = host_thread().step;
  step.instruction = reinterpret_cast<const void*>(machine_state.gregs[REG_RIP]);
  std::memcpy(step.registers, machine_state.fpregs->_xmm, sizeof step.registers);
  machine_state.fpregs->mxcsr |= kInvalidMasked;
  machine_state.gregs[REG_EFL] |= kSingleStep;
}

void on_step(int, siginfo_t*, void* context) {
  auto& machine_state = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine_state.gregs[REG_EFL] &= ~kSingleStep;
  machine_state.fpregs->mxcsr &= ~kInvalidFlag;
  const SingleStep& step = host_thread().step;
  int none = 0;
  if (has_new(machine_state.fpregs->_xmm, step.registers)) {
    if (noted.compare_exchange_strong(none, 1)) {
      note = {step.instruction, current->index, current->block};
      noted = 2;
    }
    return;  // and stays masked: the first is enough
  }
  machine_state.fpregs->mxcsr &= ~kInvalidMasked;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

#endif

/// "file:line", the innermost of inlined functions first; empty without debugging information.
std::string lines_of(const void* instruction) {
  Dl_info module{};
  if (!dladdr(instruction, &module) || !module.dli_fname) return {};
  const auto* const header = static_cast<const Elf64_Ehdr*>(module.dli_fbase);
  auto address = reinterpret_cast<uintptr_t>(instruction);
  if (header->e_type == ET_DYN) address -= reinterpret_cast<uintptr_t>(module.dli_fbase);
  char command[1024];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%zx 2>/dev/null", module.dli_fname,
                static_cast<size_t>(address));
  std::FILE* const pipe = popen(command, "r");
  if (!pipe) return {};
  std::string lines;
  char line[1024];
  while (std::fgets(line, sizeof line, pipe)) {
    std::string text(line, std::strcspn(line, "\n("));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    if (!text.empty() && text[0] != '?') lines += (lines.empty() ? "" : ", inlined at ") + text;
  }
  pclose(pipe);
  return lines;
}

}  // namespace

ArithmeticWatch::ArithmeticWatch(bool on) : on_(on) {
#if defined(__x86_64__)
  if (!on_) return;
  // Each time: a test program sets its own handlers for each test.
  handle(SIGFPE, on_invalid);
  handle(SIGTRAP, on_step);
  feclearexcept(FE_INVALID);
  feenableexcept(FE_INVALID);
#endif
}

ArithmeticWatch::~ArithmeticWatch() {
#if defined(__x86_64__)
  if (!on_) return;
  fedisableexcept(FE_INVALID);
  feclearexcept(FE_INVALID);
#endif
}

std::string take_arithmetic_note() {
  if (noted != 2) return {};
  const std::string lines = lines_of(note.instruction);
  const std::string text = "first by thread " + in_order(note.thread) + " of block " +
                           in_order(note.block) + (lines.empty() ? "" : " at " + lines);
  noted = 0;
  return text;
}

}  // namespace taper::emulator
