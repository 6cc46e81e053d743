#pragma once

#include <taper/taper.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// What the rows of cpu_vs_cuda are made of. A row's code is C++ and, but for braces, Python:
// bench/torch_rows runs the same text in PyTorch. So it has names and calls that both know.

namespace versus {

using namespace taper;

/// The tensors that a call makes, whatever form it has.
class Result {
 public:
  Result(Tensor tensor) : tensors_{std::move(tensor)} {}
  Result(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}
  Result(const std::tuple<Tensor, Tensor>& pair) : tensors_{std::get<0>(pair), std::get<1>(pair)} {}
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

/// A step of training, which returns what is compared.
using Step = std::function<Result()>;

/// What a call has to do at least, for its rate; and the goal, as a share of what the device can
/// do.
struct Work {
  double bytes = 0;  ///< read and written, each input and output once; set against a device copy
  double flops = 0;
  double goal = 0;              ///< 0: none
  int64_t m = 0, n = 0, k = 0;  ///< of a product, set against bare cuBLAS
  int64_t batch = 1;
  ScalarType dtype = kFloat;
  bool bound_by_memory() const { return goal > 0 && m == 0; }
};
/// Bound by memory alone: as fast as a copy, but for what launching and reducing take.
inline Work moves(int64_t bytes) { return {.bytes = static_cast<double>(bytes), .goal = 0.85}; }
/// Bound by memory, but in no order that a copy has, or more than once.
inline Work touches(int64_t bytes) { return {.bytes = static_cast<double>(bytes)}; }
inline Work computes(int64_t flops) { return {.flops = static_cast<double>(flops)}; }
inline Work product(int64_t m, int64_t n, int64_t k, ScalarType dtype = kFloat, int64_t batch = 1) {
  const double flops = 2.0 * static_cast<double>(m * n) * static_cast<double>(k * batch);
  return {.flops = flops, .goal = 0.97, .m = m, .n = n, .k = k, .batch = batch, .dtype = dtype};
}

/// How far the two devices may be apart.
struct Tolerance {
  enum class Kind { kExact, kUnits, kMoments, kOrder };
  Kind kind;
  /// Unit roundoffs of the type that is computed in, relative to the largest element; each device's
  /// rounding to the result's dtype comes on top.
  double units = 0;
};
/// IEEE arithmetic and moved elements: bit for bit.
constexpr Tolerance exact{Tolerance::Kind::kExact};
/// Functions: CUDA's guide bounds its own by 1 to 4 units in the last place, two roundoffs each,
/// and the CPU's are held to the same.
constexpr Tolerance function{Tolerance::Kind::kUnits, 2 * 8};
/// Sums of `terms` in another order: random roundings add up to some sqrt(terms) (Higham and Mary,
/// 2019); four times that.
Tolerance sums(int64_t terms);
/// Random numbers: each device has its generator; mean and deviation within six standard errors.
constexpr Tolerance moments{Tolerance::Kind::kMoments};
/// Permutations: the same elements in whatever order.
constexpr Tolerance order{Tolerance::Kind::kOrder};

/// A row. Its inputs are members, so that the rows' text needs no types.
class Row {
 public:
  virtual ~Row() = default;
  virtual Work work() const = 0;
  virtual Tolerance tolerance() const = 0;
  /// What a row is run for: to compare results, to take times, or for the launches alone.
  enum class Purpose { kCompare, kTime, kLaunch };
  /// Makes the inputs on the device, the same ones on each; for the launches it draws them there.
  void prepare(Device device, Purpose purpose);
  virtual Result run() = 0;

 protected:
  virtual void make() = 0;

  template <class... S>
  Tensor values(S... sizes) {
    return uniform({static_cast<int64_t>(sizes)...});
  }
  template <class... S>
  Tensor whole_numbers(int64_t end, S... sizes) {
    return integers(end, {static_cast<int64_t>(sizes)...});
  }
  template <class... S>
  Tensor there(S... sizes) {
    return empty({static_cast<int64_t>(sizes)...}, TensorOptions(device_));
  }
  Tensor fresh_rand(int64_t count) { return rand({count}, TensorOptions(device_)); }
  Tensor fresh_randn(int64_t count) { return randn({count}, TensorOptions(device_)); }
  Tensor fresh_randperm(int64_t count) {
    return randperm(count, TensorOptions(kLong).device(device_));
  }
  static Tensor leaf(Tensor tensor) { return tensor.requires_grad_(); }
  /// d(y)/d(inputs) for what arrives at y, the graph kept.
  static Result grad_of(const Tensor& output, const std::vector<Tensor>& inputs, const Tensor& at);

  // Steps of training.
  Step adam(int64_t size);
  Step adamw(int64_t size);
  Step sgd(int64_t size);
  Step clip(int64_t size);
  Step train_cnn(int64_t batch);
  Step train_mlp(int64_t batch);

  Tensor x, y, w, b, g, i, m;
  std::vector<Tensor> parts;
  Step step;

 private:
  TensorOptions drawn() const { return purpose_ == Purpose::kLaunch ? device_ : Device(kCPU); }
  Tensor uniform(std::vector<int64_t> sizes);
  Tensor integers(int64_t end, std::vector<int64_t> sizes);
  std::vector<Tensor> leaves_with_gradients(int64_t size);

  Device device_ = kCPU;
  Purpose purpose_ = Purpose::kCompare;
};

/// A size: as it is, or where the emulator runs, a 64th of it.
int64_t n(int64_t full);
void set_small(bool small);
/// Elements of a vector, rows and columns of a matrix: 128 MiB in float, more than a card's L2
/// keeps.
inline int64_t N() { return n(int64_t{1} << 25); }
inline int64_t R() { return n(8192); }
inline int64_t C() { return n(4096); }

struct Entry {
  const char *section, *name, *inputs, *body;
  std::unique_ptr<Row> (*make)();
};
std::vector<Entry>& entries();
/// Those with the regular expression in 'SECTION: NAME'; an error where there is none.
std::vector<Entry> matching(const std::string& filter);

template <class T>
struct Registration {
  Registration(const char* section, const char* name, const char* inputs, const char* body) {
    entries().push_back({section, name, inputs, body, [] { return std::unique_ptr<Row>(new T); }});
  }
};

}  // namespace versus

/// VERSUS(section, name, work, tolerance, inputs, body): `inputs` are statements with semicolons
/// between, `body` is the expression that is measured.
#define VERSUS(...) VERSUS_NUMBERED(__COUNTER__, __VA_ARGS__)
#define VERSUS_NUMBERED(...) VERSUS_ROW(__VA_ARGS__)
#define VERSUS_ROW(number, section, name, cost, close, inputs, body)                     \
  namespace {                                                                            \
  struct Row##number final : ::versus::Row {                                             \
    ::versus::Work work() const override { return cost; }                                \
    ::versus::Tolerance tolerance() const override { return close; }                     \
    void make() override { inputs; }                                                     \
    ::versus::Result run() override { return body; }                                     \
  };                                                                                     \
  const ::versus::Registration<Row##number> row_##number{section, name, #inputs, #body}; \
  }
