#include "taper/nn/modules/sequential.h"

namespace taper::nn {

SequentialImpl::SequentialImpl() = default;
SequentialImpl::SequentialImpl(const SequentialImpl&) = default;
SequentialImpl::SequentialImpl(SequentialImpl&&) = default;
SequentialImpl& SequentialImpl::operator=(const SequentialImpl&) = default;
SequentialImpl::~SequentialImpl() = default;

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  modules_.reserve(modules.size());
  for (const NamedAnyModule& module : modules) push_back(module);
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  for (size_t i = 0; i < modules_.size(); ++i) {
    copy->push_back(children_[i].key(), modules_[i].clone(device));
  }
  copy->training_ = training_;
  return copy;
}

// The modules are the state: there is nothing to make anew.
void SequentialImpl::reset() {}

void SequentialImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Sequential"; }

std::string SequentialImpl::next_name() const { return std::to_string(modules_.size()); }

void SequentialImpl::push_back(AnyModule module) { push_back(next_name(), std::move(module)); }
void SequentialImpl::push_back(const NamedAnyModule& module) {
  push_back(module.name(), module.module());
}
void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

AnyValue SequentialImpl::any_forward(std::vector<AnyValue> arguments) {
  TAPER_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
  for (size_t i = 0; i + 1 < modules_.size(); ++i) {
    AnyValue out = modules_[i].any_forward(std::move(arguments));
    arguments.clear();
    arguments.push_back(std::move(out));
  }
  return modules_.back().any_forward(std::move(arguments));
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  TAPER_CHECK(index < size(), "Index out of range");
  return modules_[index];
}
std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const { return checked(index).ptr(); }
std::shared_ptr<Module> SequentialImpl::operator[](size_t index) const { return ptr(index); }

void SequentialImpl::fail_result(const std::type_info& is, const std::type_info& wanted) {
  taper::detail::fail<TypeError>("The type of the return value is ", detail::type_name(is),
                                 ", but you asked for type ", detail::type_name(wanted));
}

Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

namespace detail {

ForwardOf<SequentialImpl>::ForwardOf(std::shared_ptr<SequentialImpl> module)
    : module_(std::move(module)) {}
AnyValue ForwardOf<SequentialImpl>::call(std::vector<AnyValue>& arguments) {
  return module_->any_forward(std::move(arguments));
}
std::shared_ptr<Module> ForwardOf<SequentialImpl>::module() const { return module_; }
std::unique_ptr<AnyForward> ForwardOf<SequentialImpl>::with(std::shared_ptr<Module> module) const {
  return std::make_unique<ForwardOf>(std::static_pointer_cast<SequentialImpl>(std::move(module)));
}

}  // namespace detail
}  // namespace taper::nn
