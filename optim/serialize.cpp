// Optimizers in archives: "param_groups.0.lr", "param_groups.0.params" (positions),
// "state.3.exp_avg".

#include "taper/autograd/grad_mode.h"
#include "taper/core/ops.h"
#include "taper/optim/optimizer.h"

namespace taper::optim {

namespace detail {

namespace {
IValue read_value(serialize::InputArchive& archive, const char* name) {
  IValue value;
  archive.read(name, value);
  return value;
}
}  // namespace

void FieldWriter::operator()(const char* name, const std::tuple<double, double>& value) const {
  archive.write(name, IValue(std::vector<double>{std::get<0>(value), std::get<1>(value)}));
}
void FieldReader::operator()(const char* name, double& value) const {
  value = read_value(archive, name).toDouble();
}
void FieldReader::operator()(const char* name, bool& value) const {
  value = read_value(archive, name).toBool();
}
void FieldReader::operator()(const char* name, int64_t& value) const {
  value = read_value(archive, name).toInt();
}
void FieldReader::operator()(const char* name, std::tuple<double, double>& value) const {
  const std::vector<double> pair = read_value(archive, name).toDoubleVector();
  TAPER_CHECK(pair.size() == 2, "'", name, "' in ", archive.source(), " has ", pair.size(),
              " numbers; expected 2");
  value = {pair[0], pair[1]};
}
void FieldReader::operator()(const char* name, Tensor& value) const {
  value = Tensor();
  archive.read(name, value);
}

}  // namespace detail

namespace {

std::string numbered(const char* name, size_t i) { return name + ("." + std::to_string(i)); }

}  // namespace

std::unique_ptr<OptimizerParamState> Optimizer::new_state() const {
  taper::detail::fail<NotImplementedError>(
      "this optimizer cannot be loaded: its class does not override new_state()");
}

void Optimizer::save(serialize::OutputArchive& archive) const {
  archive.write("param_group_count", IValue(param_groups_.size()));
  int64_t position = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    const OptimizerParamGroup& group = param_groups_[g];
    serialize::OutputArchive nested;
    group.options().serialize(nested);
    if (group.initial_lr()) nested.write("initial_lr", IValue(*group.initial_lr()));
    std::vector<int64_t> positions;
    for (const Tensor& parameter : group.params()) {
      const auto state = state_.find(parameter.unsafe_impl());
      if (state != state_.end()) {
        serialize::OutputArchive values;
        state->second->serialize(values);
        archive.write(numbered("state", static_cast<size_t>(position)), values);
      }
      positions.push_back(position++);
    }
    nested.write("params", IValue(positions));
    archive.write(numbered("param_groups", g), nested);
  }
}

void Optimizer::load(serialize::InputArchive& archive) {
  const NoGradGuard quiet;
  IValue count;
  archive.read("param_group_count", count);
  TAPER_CHECK_VALUE(count.toInt() == static_cast<int64_t>(param_groups_.size()),
                    "loaded state dict has a different number of parameter groups: ", count.toInt(),
                    " in ", archive.source(), ", ", param_groups_.size(), " in this optimizer");
  // Everything is made anew and checked; only then does it replace what there was.
  struct Loaded {
    std::unique_ptr<OptimizerOptions> options;
    std::optional<double> initial_lr;
  };
  std::vector<Loaded> groups;
  State state;
  size_t position = 0;
  for (size_t g = 0; g < param_groups_.size(); ++g) {
    const OptimizerParamGroup& group = param_groups_[g];
    serialize::InputArchive nested;
    archive.read(numbered("param_groups", g), nested);
    IValue positions, initial_lr;
    nested.read("params", positions);
    const size_t size = positions.toIntVector().size();
    TAPER_CHECK_VALUE(size == group.params().size(),
                      "loaded state dict contains a parameter group that doesn't match the size of "
                      "optimizer's group: group ",
                      g, " has ", size, " parameters in ", archive.source(), ", ",
                      group.params().size(), " in this optimizer");
    Loaded loaded{group.options().clone(), std::nullopt};
    loaded.options->serialize(nested);
    loaded.options->validate();
    if (nested.try_read("initial_lr", initial_lr)) loaded.initial_lr = initial_lr.toDouble();
    groups.push_back(std::move(loaded));
    for (const Tensor& parameter : group.params()) {
      serialize::InputArchive values;
      if (archive.try_read(numbered("state", position++), values)) {
        state[parameter.unsafe_impl()] = load_state(values, parameter, position - 1);
      }
    }
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    param_groups_[g].set_options(std::move(groups[g].options));
    param_groups_[g].initial_lr() = groups[g].initial_lr;
  }
  state_ = std::move(state);
}

std::unique_ptr<OptimizerParamState> Optimizer::load_state(serialize::InputArchive& archive,
                                                           const Tensor& parameter,
                                                           size_t position) const {
  std::unique_ptr<OptimizerParamState> state = new_state();
  state->serialize(archive);
  state->for_each_tensor([&](const char* name, Tensor& tensor) {
    if (!tensor.defined()) return;
    TAPER_CHECK_VALUE(tensor.sizes().equals(parameter.sizes()), "loaded state dict has ", name,
                      " of shape ", tensor.sizes(), " for parameter ", position,
                      ", which has shape ", parameter.sizes(), " in this optimizer (",
                      archive.source(), ")");
    // Of its own memory: two optimizers may load one archive.
    tensor = tensor.to(parameter.options(), /*non_blocking=*/false, /*copy=*/true).contiguous();
  });
  return state;
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

}  // namespace taper::optim
