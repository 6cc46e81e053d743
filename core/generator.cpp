#include "taper/core/generator.h"

#include <cstring>
#include <map>
#include <random>

#include "taper/core/cuda.h"
#include "taper/core/error.h"

namespace taper {

namespace {

// The bytes of torch.get_rng_state() on a little-endian machine.
struct StateBytes {
  uint64_t seed;
  int32_t left;  // words not used yet, and one
  int32_t seeded;
  uint64_t next;
  uint64_t words[CpuRngState::kWords];
  double normal_x, spare_double, normal_rho;  // the first and the last are 0
  int32_t has_spare_double;
  int32_t padding;
  float spare_float;
  uint8_t has_spare_float;
  uint8_t padding_at_end[3];
};
static_assert(sizeof(StateBytes) == 5056);

// Matsumoto and Nishimura's initialisation of 2002. Only the low half of the seed counts, as in
// PyTorch.
void initialize(CpuRngState& state, uint64_t seed) {
  state = {};
  uint32_t word = static_cast<uint32_t>(seed);
  for (uint32_t i = 0; i < CpuRngState::kWords; ++i) {
    if (i > 0) word = 1812433253u * (word ^ (word >> 30)) + i;
    state.words[i] = word;
  }
  state.next = CpuRngState::kWords;
}

}  // namespace

struct Generator::Shared {
  explicit Shared(Device device) : device(device) {}

  const Device device;
  CpuRngState state;      // of the CPU's
  CudaRngState philox{};  // of a CUDA device's
  uint64_t seed;
  std::mutex mutex;
};

Generator::Generator(uint64_t seed, Device device)
    : shared_(std::make_shared<Shared>(detail::resolve(device))) {
  set_current_seed(seed);
}

Device Generator::device() const { return shared_->device; }

void Generator::set_current_seed(uint64_t seed) {
  shared_->seed = seed;
  if (shared_->device.is_cuda()) {
    shared_->philox = {seed, 0};
  } else {
    initialize(shared_->state, seed);
  }
}

uint64_t Generator::current_seed() const { return shared_->seed; }

uint64_t Generator::seed() {
  std::random_device entropy;
  const uint64_t high = entropy();
  const uint64_t drawn = (high << 32) | entropy();
  set_current_seed(drawn);
  return drawn;
}

std::vector<uint8_t> Generator::state_bytes() const {
  if (shared_->device.is_cuda()) {
    std::vector<uint8_t> bytes(sizeof(CudaRngState));
    std::memcpy(bytes.data(), &shared_->philox, bytes.size());
    return bytes;
  }
  const CpuRngState& state = shared_->state;
  StateBytes out{};
  out.seed = shared_->seed;
  out.left = CpuRngState::kWords - state.next + 1;
  out.seeded = 1;
  out.next = static_cast<uint64_t>(state.next);
  for (int i = 0; i < CpuRngState::kWords; ++i) out.words[i] = state.words[i];
  out.has_spare_double = state.has_spare_double;
  out.spare_double = state.has_spare_double ? state.spare_double : 0;
  out.has_spare_float = state.has_spare_float;
  out.spare_float = state.has_spare_float ? state.spare_float : 0;
  std::vector<uint8_t> bytes(sizeof out);
  std::memcpy(bytes.data(), &out, sizeof out);
  return bytes;
}

void Generator::set_state_bytes(const std::vector<uint8_t>& bytes) {
  if (shared_->device.is_cuda()) {
    CudaRngState state;
    TAPER_CHECK(bytes.size() == sizeof state, "the state of a CUDA generator has ", sizeof state,
                " bytes, but ", bytes.size(), " were given");
    std::memcpy(&state, bytes.data(), sizeof state);
    TAPER_CHECK(state.offset % 4 == 0, "these bytes are not the state of a CUDA generator");
    shared_->philox = state;
    shared_->seed = state.seed;
    return;
  }
  TAPER_CHECK(bytes.size() == sizeof(StateBytes), "the state of a CPU generator has ",
              sizeof(StateBytes), " bytes, but ", bytes.size(), " were given");
  StateBytes in;
  std::memcpy(&in, bytes.data(), sizeof in);
  // PyTorch's state has next = 0 before the first draw; `left` = 1 says that the block is used up.
  const uint64_t next = in.left == 1 ? CpuRngState::kWords : in.next;
  TAPER_CHECK(in.seeded == 1 && in.left >= 1 && in.left <= CpuRngState::kWords &&
                  next + static_cast<uint64_t>(in.left) == CpuRngState::kWords + 1,
              "these bytes are not the state of a CPU generator");
  CpuRngState state{};
  for (int i = 0; i < CpuRngState::kWords; ++i) {
    TAPER_CHECK(in.words[i] <= UINT32_MAX, "these bytes are not the state of a CPU generator");
    state.words[i] = static_cast<uint32_t>(in.words[i]);
  }
  state.next = static_cast<int32_t>(next);
  state.has_spare_double = in.has_spare_double != 0;
  state.spare_double = in.spare_double;
  state.has_spare_float = in.has_spare_float != 0;
  state.spare_float = in.spare_float;
  shared_->state = state;
  shared_->seed = in.seed;
}

Generator Generator::clone() const {
  Generator copy(0, shared_->device);
  copy.shared_->state = shared_->state;
  copy.shared_->philox = shared_->philox;
  copy.shared_->seed = shared_->seed;
  return copy;
}

std::mutex& Generator::mutex() const { return shared_->mutex; }
CpuRngState& Generator::state() const {
  TAPER_CHECK(shared_->device.is_cpu(),
              "Generator::state: expected a generator of the CPU, but this ", "one is of ",
              shared_->device);
  return shared_->state;
}
void* Generator::raw_state() const {
  if (shared_->device.is_cuda()) return &shared_->philox;
  return &shared_->state;
}

namespace detail {

const Generator& getDefaultCPUGenerator() {
  // Never destroyed: threads may draw while the program ends.
  static const Generator* const generator = new Generator;
  return *generator;
}

Generator createCPUGenerator(uint64_t seed) { return Generator(seed); }

namespace {

// What is known of the CUDA devices before any is used: how their generators are to be seeded.
struct CudaGenerators {
  std::mutex mutex;
  uint64_t seed = default_rng_seed_val;
  std::map<DeviceIndex, Generator> made;
};

CudaGenerators& cuda_generators() {
  static auto* const all = new CudaGenerators;
  return *all;
}

}  // namespace

const Generator& getDefaultCUDAGenerator(DeviceIndex device) {
  CudaGenerators& all = cuda_generators();
  const std::lock_guard lock(all.mutex);
  return all.made.try_emplace(device, all.seed, Device(kCUDA, device)).first->second;
}

void seed_cuda_generators(uint64_t seed, DeviceIndex device) {
  CudaGenerators& all = cuda_generators();
  const auto reseed = [seed](Generator generator) {
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
  };
  if (device >= 0) return reseed(getDefaultCUDAGenerator(device));
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (auto& [index, generator] : all.made) reseed(generator);
}

}  // namespace detail

void manual_seed(uint64_t seed) {
  Generator generator = detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
  detail::seed_cuda_generators(seed, -1);
}

uint64_t seed() {
  Generator generator = detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.seed();
}

uint64_t initial_seed() { return detail::getDefaultCPUGenerator().current_seed(); }

}  // namespace taper
