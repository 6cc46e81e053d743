#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "taper/core/tensor.h"
#include "taper/nn/module.h"
#include "taper/nn/serialize/archive.h"

namespace taper::optim {

/// What an optimizer remembers about one parameter.
class TAPER_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  virtual ~OptimizerParamState();
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
  /// Calls visit(name, tensor) for each tensor among its fields.
  virtual void for_each_tensor(const std::function<void(const char*, Tensor&)>&) {}
};

/// The settings of a group of parameters.
class TAPER_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual ~OptimizerOptions();
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
  /// Takes each field that nobody has set from `defaults`: see `Optimizer::add_param_group`.
  virtual void inherit(const OptimizerOptions& /*defaults*/) {}
  /// Throws for values that make no sense, in PyTorch's words.
  virtual void validate() const {}
};

namespace detail {

// How a field of an options or state struct goes into an archive and comes back.
struct TAPER_API FieldWriter {
  serialize::OutputArchive& archive;
  template <class T>
  void operator()(const char* name, const T& value) const {
    archive.write(name, IValue(value));
  }
  void operator()(const char* name, const std::tuple<double, double>& value) const;
  void operator()(const char* name, const Tensor& value) const { archive.write(name, value); }
};
struct TAPER_API FieldReader {
  serialize::InputArchive& archive;
  void operator()(const char* name, double& value) const;
  void operator()(const char* name, bool& value) const;
  void operator()(const char* name, int64_t& value) const;
  void operator()(const char* name, std::tuple<double, double>& value) const;
  void operator()(const char* name, Tensor& value) const;
};

/// The addresses of a struct's fields, in the order in which it lists them.
struct FieldAddresses {
  std::vector<const void*>& found;
  template <class T>
  void operator()(const char*, const T& value) const {
    found.push_back(&value);
  }
};
/// Replaces the fields that equal those of `fresh` by those of `defaults`.
struct FieldInheritor {
  const std::vector<const void*>&fresh, &defaults;
  mutable size_t position = 0;
  template <class T>
  void operator()(const char*, T& value) const {
    if (value == *static_cast<const T*>(fresh[position])) {
      value = *static_cast<const T*>(defaults[position]);
    }
    ++position;
  }
};
/// Options in which nothing is set. SGD's, which have no default rate, take that of the others.
template <class Options>
Options fresh_options() {
  if constexpr (std::is_default_constructible_v<Options>) {
    return Options();
  } else {
    return Options(1e-3);
  }
}

struct TensorsOnly {
  const std::function<void(const char*, Tensor&)>& visit;
  template <class T>
  void operator()(const char*, T&) const {}
  void operator()(const char* name, Tensor& value) const { visit(name, value); }
};

/// Throws "Invalid momentum value: -1" unless `value` is at least `least` (NaN is not).
TAPER_API void check_at_least(double least, double value, const char* what);

/// Adds clone and serialize to a struct that lists its fields: `fields(self, visit)` calls
/// visit("lr", self.lr()) and so on.
template <class Base, class Derived>
class Cloneable : public Base {
 public:
  std::unique_ptr<Base> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  void serialize(serialize::OutputArchive& archive) const override {
    if constexpr (requires(const Derived& self) { Derived::fields(self, FieldWriter{archive}); }) {
      Derived::fields(static_cast<const Derived&>(*this), FieldWriter{archive});
    } else {
      fail_unlisted(archive);
    }
  }
  void serialize(serialize::InputArchive& archive) override {
    if constexpr (requires(Derived& self) { Derived::fields(self, FieldReader{archive}); }) {
      Derived::fields(static_cast<Derived&>(*this), FieldReader{archive});
    } else {
      fail_unlisted(archive);
    }
  }

 private:
  template <class Archive>
  [[noreturn]] static void fail_unlisted(Archive&) {
    taper::detail::fail<NotImplementedError>("serialize has not been implemented for ",
                                             typeid(Derived).name());
  }
};

}  // namespace detail

template <class Derived>
class OptimizerCloneableParamState : public detail::Cloneable<OptimizerParamState, Derived> {
 public:
  void for_each_tensor(const std::function<void(const char*, Tensor&)>& visit) override {
    if constexpr (requires(Derived& self) { Derived::fields(self, detail::TensorsOnly{visit}); }) {
      Derived::fields(static_cast<Derived&>(*this), detail::TensorsOnly{visit});
    }
  }
};

template <class Derived>
class OptimizerCloneableOptions : public detail::Cloneable<OptimizerOptions, Derived> {
 public:
  double get_lr() const override {
    if constexpr (requires(const Derived& self) { double(self.lr()); }) {
      return static_cast<const Derived&>(*this).lr();
    } else {
      taper::detail::fail<NotImplementedError>("these options have no learning rate");
    }
  }
  void set_lr(double lr) override {
    if constexpr (requires(Derived& self) { self.lr(lr); }) {
      static_cast<Derived&>(*this).lr(lr);
    } else {
      taper::detail::fail<NotImplementedError>("these options have no learning rate");
    }
  }
  void inherit(const OptimizerOptions& defaults) override {
    if constexpr (requires(Derived& self, std::vector<const void*>& found) {
                    detail::fresh_options<Derived>();
                    Derived::fields(self, detail::FieldAddresses{found});
                  }) {
      const auto* given = dynamic_cast<const Derived*>(&defaults);
      if (!given) return;
      const Derived fresh = detail::fresh_options<Derived>();
      std::vector<const void*> of_fresh, of_given;
      Derived::fields(fresh, detail::FieldAddresses{of_fresh});
      Derived::fields(*given, detail::FieldAddresses{of_given});
      Derived::fields(static_cast<Derived&>(*this), detail::FieldInheritor{of_fresh, of_given});
    }
  }
};

/// Parameters that share their settings.
class TAPER_API OptimizerParamGroup {
 public:
  /// With the optimizer's defaults.
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options);
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  /// The learning rate that schedulers start from; none before there is a scheduler.
  std::optional<double>& initial_lr() { return initial_lr_; }
  const std::optional<double>& initial_lr() const { return initial_lr_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// The base of all optimizers: groups of parameters, and a state per parameter. `step()` changes
/// those that have a gradient and leaves the others alone.
class TAPER_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using State = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  virtual ~Optimizer();

  /// Options of the group that still have the value they are made with count as not set and come
  /// from the optimizer's defaults: LibTorch's rule. A parameter that is listed twice (tied
  /// weights) is kept once. Throws for parameters that are no leaves, or are in another group.
  void add_param_group(const OptimizerParamGroup& group);
  /// To the first group, but for those that are in it already.
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Changes the parameters by their gradients. With a closure, calls it first (with recording on)
  /// and returns its loss; without, returns an undefined tensor.
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  /// Drops the gradients, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  std::vector<Tensor> parameters() const;
  /// Number of parameters.
  size_t size() const noexcept;
  OptimizerOptions& defaults() { return *defaults_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return param_groups_; }
  /// Keyed by `parameter.unsafe_impl()`.
  State& state() { return state_; }
  const State& state() const { return state_; }

  /// State by the parameters' positions, settings by group, as PyTorch's state_dict has them.
  virtual void save(serialize::OutputArchive& archive) const;
  /// All or nothing. Throws when groups or shapes do not fit those of this optimizer.
  virtual void load(serialize::InputArchive& archive);

  /// For gradient scaling, one float each: a step multiplies gradients by `inv_scale`, and does
  /// nothing while `found_inf` is not zero. To be on the parameters' device; for those on others
  /// they are copied, which waits where the other is the CPU. Undefined tensors switch it off.
  void set_grad_scale(Tensor found_inf, Tensor inv_scale);

 protected:
  Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);

  /// A state of this optimizer's kind with nothing in it.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;
  /// The state of one parameter, made on first use.
  template <class StateType>
  StateType& state_of(const Tensor& parameter) {
    std::unique_ptr<OptimizerParamState>& state = state_[parameter.unsafe_impl()];
    if (!state) state = std::make_unique<StateType>();
    return static_cast<StateType&>(*state);
  }
  /// The group's settings as those of this kind of optimizer.
  template <class Options>
  static const Options& options_of(const OptimizerParamGroup& group) {
    const auto* options = dynamic_cast<const Options*>(&group.options());
    TAPER_CHECK_TYPE(options, "a parameter group has the options of another optimizer");
    return *options;
  }
  /// Runs the closure, if there is one.
  static Tensor run_closure(const LossClosure& closure);
  /// Whether the gradients overflowed, so that this step must not happen. Where that is only known
  /// to the device, false: its kernels look for themselves.
  bool is_skipped() const;

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  Tensor found_inf_, inv_scale_;

 private:
  std::vector<Tensor> checked(const std::vector<Tensor>& parameters, size_t group) const;
  std::unique_ptr<OptimizerParamState> load_state(serialize::InputArchive& archive,
                                                  const Tensor& parameter, size_t position) const;
};

TAPER_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const Optimizer& optimizer);
TAPER_API serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                              Optimizer& optimizer);

}  // namespace taper::optim
