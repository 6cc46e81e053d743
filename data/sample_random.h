#pragma once

#include <atomic>
#include <cstdint>

#include "taper/core/array_ref.h"
#include "taper/core/generator.h"

namespace taper::data {

/// Random numbers for the sample that is being loaded. Inside a loader they depend on the loader's
/// seed, the epoch and the sample's index alone, never on the worker or the order of loading.
/// Elsewhere they come from the default generator, so that `manual_seed` governs them.
class TAPER_API SampleRandom {
 public:
  /// 64 random bits.
  uint64_t next();
  /// In [0, 1).
  double uniform();
  /// In [0, n).
  int64_t integer(int64_t n);
  /// True with probability p.
  bool chance(double p) { return uniform() < p; }
  /// For ops that take a generator: `randn({3}, sample_random().generator())`.
  Generator generator();

  void seed(uint64_t key) {
    key_ = key;
    keyed_ = true;
  }

 private:
  uint64_t key_ = 0;
  bool keyed_ = false;
};

/// For transforms and datasets: `if (sample_random().chance(0.5)) image = image.flip({-1});`
TAPER_API SampleRandom& sample_random();

namespace detail {

/// What the calling thread is loading. The scopes below nest, and restore it.
struct LoadContext {
  bool loading = false;
  uint64_t seed = 0;
  uint64_t epoch = 0;
  uint64_t batch = 0;
  uint64_t stage = 0;  ///< how many datasets deep: each `.map` has its own numbers
  uint64_t part = 0;   ///< which transform of a Compose
  int64_t position = -1;
  ArrayRef<size_t> indices;
  std::atomic<int64_t>* progress = nullptr;  ///< position in the batch, for messages of a loader
  SampleRandom random;
};

TAPER_API LoadContext& load_context();

/// A loader prepares batch number `batch` of `epoch`.
class TAPER_API LoadScope {
 public:
  LoadScope(uint64_t seed, uint64_t epoch, uint64_t batch, std::atomic<int64_t>* progress);
  ~LoadScope();
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

 private:
  LoadContext outer_;
};

/// The samples `indices` of a dataset `stage` deep are made or transformed.
class TAPER_API BatchScope {
 public:
  BatchScope(uint64_t stage, ArrayRef<size_t> indices);
  ~BatchScope();
  BatchScope(const BatchScope&) = delete;
  BatchScope& operator=(const BatchScope&) = delete;

 private:
  uint64_t stage_;
  int64_t position_;
  int exceptions_;  // in flight: one that passes by leaves the sample that it came from on record
  ArrayRef<size_t> indices_;
};

/// Transform number `part` of several in a row.
class TAPER_API PartScope {
 public:
  explicit PartScope(uint64_t part);
  ~PartScope();
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  uint64_t part_;
};

/// The sample at `position` of the batch comes next.
TAPER_API void enter_sample(size_t position);

}  // namespace detail

}  // namespace taper::data
