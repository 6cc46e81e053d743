#include "taper/data/sample_random.h"

#include <exception>

#include "taper/data/detail/random.h"

namespace taper::data {

namespace {

// The step and the output function of splitmix64 (Steele, Lea and Flood, 2014).
constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t combine(uint64_t key, uint64_t value) { return mix(key + kStep + mix(value + kStep)); }

// Keys the numbers of the current sample, or of the whole batch where no sample has been entered.
void rekey(detail::LoadContext& context) {
  if (!context.loading) return;
  uint64_t key = combine(context.seed, context.epoch);
  key = combine(combine(key, context.stage), context.part);
  if (context.position < 0) {
    key = ~combine(key, context.batch);
  } else {
    const size_t position = static_cast<size_t>(context.position);
    // A dataset may return more or fewer samples than were asked for.
    key = combine(key, position < context.indices.size() ? context.indices[position] : position);
  }
  context.random.seed(key);
}

}  // namespace

uint64_t SampleRandom::next() {
  if (!keyed_) return mix(static_cast<uint64_t>(detail::draw_seed(std::nullopt)));
  key_ += kStep;
  return mix(key_);
}

double SampleRandom::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

int64_t SampleRandom::integer(int64_t n) {
  TAPER_CHECK_VALUE(n > 0, "SampleRandom::integer: expected a positive bound, but got ", n);
  // The high half of a 128-bit product (Lemire, 2019); the bias of n / 2^64 is far below notice.
  return static_cast<int64_t>(static_cast<unsigned __int128>(next()) * static_cast<uint64_t>(n) >>
                              64);
}

Generator SampleRandom::generator() { return Generator(next()); }

SampleRandom& sample_random() { return detail::load_context().random; }

namespace detail {

LoadContext& load_context() {
  static thread_local LoadContext context;
  return context;
}

LoadScope::LoadScope(uint64_t seed, uint64_t epoch, uint64_t batch, std::atomic<int64_t>* progress)
    : outer_(load_context()) {
  LoadContext& context = load_context();
  context = LoadContext();
  context.loading = true;
  context.seed = seed;
  context.epoch = epoch;
  context.batch = batch;
  context.progress = progress;
  rekey(context);
}

LoadScope::~LoadScope() { load_context() = outer_; }

BatchScope::BatchScope(uint64_t stage, ArrayRef<size_t> indices)
    : stage_(load_context().stage),
      position_(load_context().position),
      exceptions_(std::uncaught_exceptions()),
      indices_(load_context().indices) {
  LoadContext& context = load_context();
  context.stage = stage;
  context.position = -1;
  context.indices = indices;
  rekey(context);
}

BatchScope::~BatchScope() {
  LoadContext& context = load_context();
  context.stage = stage_;
  context.position = position_;
  context.indices = indices_;
  if (context.progress && std::uncaught_exceptions() == exceptions_) {
    context.progress->store(position_, std::memory_order_relaxed);
  }
}

PartScope::PartScope(uint64_t part) : part_(load_context().part) {
  LoadContext& context = load_context();
  context.part = combine(part_, part);
  rekey(context);
}

PartScope::~PartScope() { load_context().part = part_; }

void enter_sample(size_t position) {
  LoadContext& context = load_context();
  context.position = static_cast<int64_t>(position);
  if (context.progress) context.progress->store(context.position, std::memory_order_relaxed);
  rekey(context);
}

}  // namespace detail

}  // namespace taper::data
