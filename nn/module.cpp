#include "taper/nn/module.h"

#include <ostream>
#include <unordered_set>

#include "taper/autograd/grad_mode.h"
#include "taper/core/demangle.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/nn/any.h"

namespace taper::nn {

std::string detail::type_name(const std::type_info& type) {
  return taper::detail::demangled(type.name());
}

namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

void check_name(const char* what, const std::string& name) {
  TAPER_CHECK(!name.empty(), what, " name must not be empty");
  TAPER_CHECK(name.find('.') == std::string::npos, what, " name must not contain a dot (got '",
              name, "')");
}

std::vector<Tensor> each_once(const OrderedDict<std::string, Tensor>& tensors) {
  std::vector<Tensor> out;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& item : tensors) {
    if (seen.insert(item.value().unsafe_impl()).second) out.push_back(item.value());
  }
  return out;
}

}  // namespace

Module::Module() = default;
Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;

const std::string& Module::name() const noexcept {
  // The dynamic type is not known in the constructor, so the name is made when it is first asked
  // for.
  if (!name_) name_ = detail::type_name(typeid(*this));
  return *name_;
}

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  taper::detail::fail<Error>("clone() has not been implemented for ", name(),
                             ". Subclass nn::Cloneable<", name(),
                             "> instead of nn::Module to inherit the ability to clone.");
}

// ---- The tree.

std::shared_ptr<Module> Module::shared() const {
  std::shared_ptr<Module> out = std::const_pointer_cast<Module>(weak_from_this().lock());
  TAPER_CHECK(
      out,
      "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is "
      "not stored in a shared_ptr. Use std::make_shared<",
      name(),
      "> instead of creating your "
      "module on the stack, or alternatively do not try to access your top-level module at all by "
      "passing /*include_self=*/false to modules() or named_modules()");
  return out;
}

void Module::walk(const std::string& prefix,
                  const std::function<void(const std::string&, Module&)>& visit) const {
  visit(prefix, const_cast<Module&>(*this));
  for (const auto& child : children_) child.value()->walk(join(prefix, child.key()), visit);
}

void Module::apply(const ModuleApplyFunction& function) {
  walk({}, [&](const std::string&, Module& module) { function(module); });
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  walk({}, [&](const std::string&, Module& module) { function(module); });
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  walk(name_prefix, function);
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared());
  for (const auto& child : children_) child.value()->apply(function);
}

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> out("Parameter");
  const auto collect = [&](const std::string& prefix, Module& module) {
    for (const auto& item : module.parameters_) {
      if (item.value().defined()) out.insert(join(prefix, item.key()), item.value());
    }
  };
  if (recurse) {
    walk({}, collect);
  } else {
    collect({}, const_cast<Module&>(*this));
  }
  return out;
}
std::vector<Tensor> Module::parameters(bool recurse) const {
  return each_once(named_parameters(recurse));
}

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> out("Buffer");
  const auto collect = [&](const std::string& prefix, Module& module) {
    for (const auto& item : module.buffers_) {
      if (item.value().defined()) out.insert(join(prefix, item.key()), item.value());
    }
  };
  if (recurse) {
    walk({}, collect);
  } else {
    collect({}, const_cast<Module&>(*this));
  }
  return out;
}
std::vector<Tensor> Module::buffers(bool recurse) const {
  return each_once(named_buffers(recurse));
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(
    const std::string& name_prefix, bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out("Submodule");
  if (include_self) out.insert(name_prefix, shared());
  for (const auto& child : children_) {
    child.value()->walk(
        join(name_prefix, child.key()),
        [&](const std::string& path, Module& module) { out.insert(path, module.shared()); });
  }
  return out;
}
std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> out;
  if (include_self) out.push_back(shared());
  for (const auto& child : children_) {
    child.value()->walk(
        {}, [&](const std::string&, Module& module) { out.push_back(module.shared()); });
  }
  return out;
}
std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  return children_;
}

// ---- State.

void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  training_ = on;
}
void Module::eval() { train(false); }

namespace {

// The values move, the tensor stays: optimizers and the program keep their handles.
void convert(Tensor& tensor, const std::optional<Device>& device,
             const std::optional<ScalarType>& dtype, bool non_blocking) {
  if (!tensor.defined()) return;
  const NoGradGuard quiet;
  TensorOptions options = TensorOptions().device(device);
  if (dtype && tensor.is_floating_point()) options = options.dtype(*dtype);
  tensor.set_data(tensor.detach().to(options, non_blocking));
  if (tensor.grad().defined()) {
    tensor.mutable_grad().set_data(tensor.grad().detach().to(options, non_blocking));
  }
}

}  // namespace

void Module::to(Device device, ScalarType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, dtype, non_blocking);
  for (auto& item : parameters_) convert(item.value(), device, dtype, non_blocking);
  for (auto& item : buffers_) convert(item.value(), device, dtype, non_blocking);
}
void Module::to(ScalarType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(dtype, non_blocking);
  for (auto& item : parameters_) convert(item.value(), std::nullopt, dtype, non_blocking);
  for (auto& item : buffers_) convert(item.value(), std::nullopt, dtype, non_blocking);
}
void Module::to(Device device, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, non_blocking);
  for (auto& item : parameters_) convert(item.value(), device, std::nullopt, non_blocking);
  for (auto& item : buffers_) convert(item.value(), device, std::nullopt, non_blocking);
}

void Module::zero_grad(bool set_to_none) {
  for (auto& child : children_) child.value()->zero_grad(set_to_none);
  for (auto& item : parameters_) {
    if (!item.value().defined() || !item.value().grad().defined()) continue;
    if (set_to_none) {
      item.value().mutable_grad().reset();
    } else {
      item.value().mutable_grad().detach_().zero_();
    }
  }
}

OrderedDict<std::string, Tensor> Module::state_dict() const {
  OrderedDict<std::string, Tensor> out("State");
  walk({}, [&](const std::string& prefix, Module& module) {
    for (const auto* items : {&module.parameters_, &module.buffers_}) {
      for (const auto& item : *items) {
        if (item.value().defined()) out.insert(join(prefix, item.key()), item.value().detach());
      }
    }
  });
  return out;
}

IncompatibleKeys Module::load_state_dict(const OrderedDict<std::string, Tensor>& state,
                                         bool strict) {
  const OrderedDict<std::string, Tensor> own = state_dict();
  IncompatibleKeys keys;
  std::string errors;
  for (const auto& item : own) {
    const Tensor* given = state.find(item.key());
    if (!given) {
      keys.missing_keys.push_back(item.key());
    } else if (!given->sizes().equals(item.value().sizes())) {
      taper::detail::MessageBuilder message;
      message << "\n\tsize mismatch for " << item.key() << ": copying a param with shape "
              << given->sizes() << " from checkpoint, the shape in current model is "
              << item.value().sizes() << ".";
      errors += message.take();
    }
  }
  for (const auto& item : state) {
    if (!own.contains(item.key())) keys.unexpected_keys.push_back(item.key());
  }
  const auto list = [&](const char* title, const std::vector<std::string>& names) {
    if (!strict || names.empty()) return;
    errors += std::string("\n\t") + title + " key(s) in state_dict: ";
    for (size_t i = 0; i < names.size(); ++i) errors += (i ? ", \"" : "\"") + names[i] + "\"";
    errors += ".";
  };
  list("Missing", keys.missing_keys);
  list("Unexpected", keys.unexpected_keys);
  TAPER_CHECK(errors.empty(), "Error(s) in loading state_dict for ", name(), ":", errors);
  const NoGradGuard quiet;
  for (const auto& item : own) {
    if (const Tensor* given = state.find(item.key())) Tensor(item.value()).copy_(*given);
  }
  return keys;
}

bool Module::is_serializable() const { return true; }

// ---- Registration.

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  // An undefined one is registered too, so that the name is known; it counts for nothing until it
  // is set.
  if (tensor.defined()) {
    TAPER_CHECK(!requires_grad || tensor.is_floating_point(),
                "register_parameter: Only Tensors of "
                "floating point and complex dtype can require gradients, but '",
                name, "' is of dtype ", tensor.scalar_type(),
                ". Pass requires_grad=false, or register it as a buffer.");
    tensor.set_requires_grad(requires_grad);
  }
  return parameters_.insert(std::move(name), std::move(tensor));
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_name("Buffer", name);
  return buffers_.insert(std::move(name), std::move(tensor));
}

void Module::insert_child(std::string name, std::shared_ptr<Module> module) {
  check_name("Submodule", name);
  TAPER_CHECK(module, "Submodule '", name, "' is an empty module holder");
  children_.insert(std::move(name), std::move(module));
}

void Module::unregister_module(const std::string& name) {
  TAPER_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

void Module::clone_(Module&, const std::optional<Device>&) {}

namespace detail {

void copy_module_state(Module& to, const Module& from, const std::optional<Device>& device) {
  const NoGradGuard quiet;
  const auto moved = [&](const Tensor& tensor) {
    return device ? tensor.to(*device, false, true) : tensor.clone();
  };
  TAPER_CHECK(to.parameters_.size() == from.parameters_.size(), "The cloned module of type ",
              from.name(),
              " does not have the same number of parameters as the original module after calling "
              "reset(). Are you sure you called register_parameter() inside reset() and not the "
              "constructor?");
  for (const auto& item : from.parameters_) {
    if (!item.value().defined()) continue;
    Tensor& target = to.parameters_[item.key()];
    target.set_data(moved(item.value().detach()));
    target.set_requires_grad(item.value().requires_grad());
  }
  TAPER_CHECK(
      to.buffers_.size() == from.buffers_.size(), "The cloned module of type ", from.name(),
      " does not have the same number of buffers as the original module after calling reset(). "
      "Are you sure you called register_buffer() inside reset() and not the constructor?");
  for (const auto& item : from.buffers_) {
    if (item.value().defined()) to.buffers_[item.key()].set_data(moved(item.value()));
  }
  TAPER_CHECK(
      to.children_.size() == from.children_.size(), "The cloned module of type ", from.name(),
      " does not have the same number of child modules as the original module after calling "
      "reset(). Are you sure you called register_module() inside reset() and not the "
      "constructor?");
  for (const auto& item : from.children_) to.children_[item.key()]->clone_(*item.value(), device);
  to.training_ = from.training_;
}

}  // namespace detail

// ---- Printing.

void Module::pretty_print(std::ostream& stream) const { stream << name(); }

void Module::print_tree(std::ostream& stream, const std::string& indentation) const {
  pretty_print(stream);
  if (children_.is_empty()) return;
  stream << "(\n";
  const std::string deeper = indentation + "  ";
  for (const auto& child : children_) {
    stream << deeper << "(" << child.key() << "): ";
    child.value()->print_tree(stream, deeper);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.print_tree(stream, "");
  return stream;
}

}  // namespace taper::nn
