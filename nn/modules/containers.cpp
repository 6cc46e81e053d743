#include "taper/core/ops.h"
#include "taper/nn/any.h"
#include "taper/nn/modules/module_dict.h"
#include "taper/nn/modules/module_list.h"
#include "taper/nn/modules/parameter_dict.h"
#include "taper/nn/modules/parameter_list.h"

namespace taper::nn {

// Containers hold what was given to them: a reset has nothing to make anew, so each clones its own
// way.

namespace {

Tensor copy_of(const Tensor& parameter, const std::optional<Device>& device) {
  if (!parameter.defined()) return {};
  const Tensor values = parameter.detach();
  return (device ? values.to(*device, false, true) : values.clone())
      .requires_grad_(parameter.requires_grad());
}

void print_parameters(std::ostream& stream, const char* name,
                      const OrderedDict<std::string, Tensor>& parameters) {
  stream << name << "(\n";
  for (const auto& item : parameters) {
    stream << "(" << item.key() << "): Parameter containing: [";
    if (item.value().defined()) {
      stream << item.value().scalar_type() << " of size " << item.value().sizes();
    } else {
      stream << "undefined";
    }
    stream << "]\n";
  }
  stream << ")";
}

}  // namespace

// ---- ModuleList.

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) copy->push_back(module->clone(device));
  copy->training_ = training_;
  return copy;
}
void ModuleListImpl::reset() {}
void ModuleListImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleList"; }

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TAPER_CHECK(index <= size(), "Index out of range");
  // The last one gets a new name; every other name passes to the module before it.
  register_module(std::to_string(size()), index == size() ? module : modules_.back());
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  for (size_t i = index; i + 1 < size(); ++i) replace_module(std::to_string(i), modules_[i]);
}

void ModuleListImpl::fail_cast(size_t index, const std::type_info& wanted) {
  taper::detail::fail<TypeError>("Unable to cast module[", index, "] to ",
                                 detail::type_name(wanted));
}

// ---- ModuleDict.

ModuleDictImpl::ModuleDictImpl() = default;
ModuleDictImpl::ModuleDictImpl(const Pairs& modules) { update(modules); }
ModuleDictImpl::ModuleDictImpl(const Modules& modules) { update(modules); }

ModuleDictImpl::Pairs ModuleDictImpl::items() const { return children_.pairs(); }
std::vector<std::string> ModuleDictImpl::keys() const { return children_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return children_.values(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept {
  return children_.contains(key);
}
void ModuleDictImpl::clear() { children_.clear(); }
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const {
  return children_[key];
}
void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [key, module] : modules) set(key, module);
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ModuleDictImpl>();
  for (const auto& item : children_) copy->set(item.key(), item.value()->clone(device));
  copy->training_ = training_;
  return copy;
}
void ModuleDictImpl::reset() {}
void ModuleDictImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::ModuleDict"; }

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = children_[key];
  children_.erase(key);
  return module;
}

void ModuleDictImpl::set(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    replace_module(key, std::move(module));
  } else {
    register_module(key, std::move(module));
  }
}

void ModuleDictImpl::fail_cast(const std::string& key, const std::type_info& wanted) {
  taper::detail::fail<TypeError>("Unable to cast module[", key, "] to ", detail::type_name(wanted));
}

// ---- ParameterList.

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterListImpl>();
  for (const auto& item : parameters_) copy->append(copy_of(item.value(), device));
  copy->training_ = training_;
  return copy;
}
void ParameterListImpl::reset() {}
void ParameterListImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "torch::nn::ParameterList", parameters_);
}
void ParameterListImpl::append(const Tensor& parameter) {
  register_parameter(std::to_string(size()), parameter,
                     parameter.defined() && parameter.requires_grad());
}

// ---- ParameterDict.

ParameterDictImpl::ParameterDictImpl() = default;
ParameterDictImpl::ParameterDictImpl(const Parameters& parameters) { update(parameters); }

std::vector<std::string> ParameterDictImpl::keys() const { return parameters_.keys(); }
std::vector<Tensor> ParameterDictImpl::values() const { return parameters_.values(); }
bool ParameterDictImpl::contains(const std::string& key) const noexcept {
  return parameters_.contains(key);
}
void ParameterDictImpl::clear() { parameters_.clear(); }
Tensor& ParameterDictImpl::get(const std::string& key) { return parameters_[key]; }
const Tensor& ParameterDictImpl::get(const std::string& key) const { return parameters_[key]; }
Tensor& ParameterDictImpl::operator[](const std::string& key) { return parameters_[key]; }
const Tensor& ParameterDictImpl::operator[](const std::string& key) const {
  return parameters_[key];
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<ParameterDictImpl>();
  for (const auto& item : parameters_) copy->insert(item.key(), copy_of(item.value(), device));
  copy->training_ = training_;
  return copy;
}
void ParameterDictImpl::reset() {}
void ParameterDictImpl::pretty_print(std::ostream& stream) const {
  print_parameters(stream, "torch::nn::ParameterDict", parameters_);
}
Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  return register_parameter(key, parameter, parameter.defined() && parameter.requires_grad());
}
Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = parameters_[key];
  parameters_.erase(key);
  return parameter;
}
void ParameterDictImpl::set(const std::string& key, const Tensor& parameter) {
  if (contains(key)) {
    parameters_[key] = parameter;
  } else {
    insert(key, parameter);
  }
}

}  // namespace taper::nn
