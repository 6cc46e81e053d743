#include "taper/kernels/emulator/fiber.h"

#include <pthread.h>
#include <sys/mman.h>

#include <new>

#if !defined(__x86_64__) || defined(TAPER_EMULATOR_UCONTEXT)
#define TAPER_EMULATOR_UCONTEXT 1
#include <ucontext.h>
#endif

#if defined(TAPER_EMULATOR_UCONTEXT)

// Anywhere: the context lies on the stack that is left. 80 times slower, as it changes the signal
// mask twice.
void taper_emulator_switch(void** save, void* to) {
  ucontext_t here;
  *save = &here;
  swapcontext(&here, static_cast<ucontext_t*>(to));
}

#else

// x86-64: what a function must preserve goes on the stack, then the stack changes. The address to
// continue at is popped and jumped to, as there may be none to return to.
asm(R"(
.text
.globl taper_emulator_switch
.hidden taper_emulator_switch
.type taper_emulator_switch,@function
taper_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size taper_emulator_switch,.-taper_emulator_switch
)");

#endif

namespace taper::emulator {

namespace {

constexpr uint64_t kCanary = 0x5afe57acc0ffee11ull;

}  // namespace

void prepare_fiber(Fiber& fiber, void (*entry)()) {
  *reinterpret_cast<uint64_t*>(fiber.stack) = kCanary;
#if defined(TAPER_EMULATOR_UCONTEXT)
  // The first context lies at the top of the stack it describes.
  const size_t usable = (fiber.stack_bytes - sizeof(ucontext_t)) / 64 * 64;
  auto* const context = new (fiber.stack + usable) ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = fiber.stack;
  context->uc_stack.ss_size = usable;
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  fiber.context = context;
#else
  const auto top = reinterpret_cast<uintptr_t>(fiber.stack + fiber.stack_bytes - 64);
  void** slot = reinterpret_cast<void**>(top & ~uintptr_t{15});
  *--slot = nullptr;  // entry's return address, which leaves the stack as a call would have
  *--slot = reinterpret_cast<void*>(entry);
  for (int registers = 0; registers < 6; ++registers) *--slot = nullptr;
  fiber.context = slot;
#endif
  fiber.fake_stack = nullptr;
  fiber.fresh = false;
  if (!fiber.identity) fiber.identity = create_identity();
}

bool stack_intact(const Fiber& fiber) {
  return *reinterpret_cast<const uint64_t*>(fiber.stack) == kCanary;
}

void describe_own_stack(Fiber& fiber) {
  fiber.identity = current_identity();
  if constexpr (kAddressSanitizer) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    pthread_attr_getstack(&attributes, &lowest, &fiber.stack_bytes);
    pthread_attr_destroy(&attributes);
    fiber.stack = static_cast<char*>(lowest);
  }
}

Stacks::Stacks(size_t count, size_t stack_bytes) : fibers_(count) {
  // The distance must not be a power of two, or all stacks share the same sets of the cache: three
  // times slower.
  const size_t pitch = (stack_bytes + 63) / 64 * 64 + 320;
  bytes_ = pitch * count;
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  for (size_t i = 0; i < count; ++i) {
    fibers_[i].stack = memory_ + i * pitch;
    fibers_[i].stack_bytes = pitch;
  }
}

Stacks::~Stacks() {
  forget_all();
  for (Fiber& fiber : fibers_) destroy_identity(fiber.identity);
  munmap(memory_, bytes_);
}

void Stacks::forget_all() {
  for (Fiber& fiber : fibers_) fiber.fresh = true;
  permit(memory_, bytes_);
}

}  // namespace taper::emulator
