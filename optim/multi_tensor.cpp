#include "taper/optim/multi_tensor.h"

#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::optim::detail {

void check_grads(const char* op, const std::vector<OptimizerParamGroup>& groups) {
  for (const OptimizerParamGroup& group : groups) {
    for (const Tensor& param : group.params()) {
      const Tensor& grad = param.grad();
      TAPER_CHECK(!grad.defined() || (grad.sizes().equals(param.sizes()) &&
                                      grad.scalar_type() == param.scalar_type() &&
                                      grad.device() == param.device()),
                  op, ": a parameter of shape ", param.sizes(), " and dtype ", param.scalar_type(),
                  " on ", param.device().str(), " has a gradient of shape ", grad.sizes(),
                  " and dtype ", grad.scalar_type(), " on ", grad.device().str());
    }
  }
}

void* TensorLists::conformed(Tensor& state, const Tensor& param) {
  if (!state.defined()) state = zeros(param.sizes(), param.options());
  TAPER_CHECK(state.sizes().equals(param.sizes()), op_, ": a parameter of shape ", param.sizes(),
              " has a state of shape ", state.sizes());
  TAPER_CHECK(state.device() == param.device(), op_,
              ": Expected all tensors to be on the same device, but a parameter is on ",
              param.device().str(), " and its state on ", state.device().str(),
              "; move a module before its optimizer's first step");
  if (state.scalar_type() != param.scalar_type() || !state.is_contiguous()) {
    state = state.to(param.scalar_type()).contiguous();
  }
  return state.data_ptr();
}

TensorLists::List& TensorLists::list_for(const Tensor& param) {
  for (List& list : lists_) {
    if (list.dtype == param.scalar_type() && list.device == param.device()) return list;
  }
  lists_.push_back({param.device(), param.scalar_type(), {}});
  return lists_.back();
}

void TensorLists::add(const Tensor& param, double step, std::initializer_list<Tensor*> states) {
  const Tensor& given = param.grad();
  const Tensor* grad = &given;
  if (!given.is_contiguous()) {
    grads_.push_back(given.contiguous());
    grad = &grads_.back();
  }
  kernels::TensorRef ref{};
  if (param.is_contiguous()) {
    ref.param = param.data_ptr();
    params_.push_back(param.unsafe_impl());
  } else {
    copies_.emplace_back(&param, param.contiguous());
    ref.param = copies_.back().second.data_ptr();
  }
  ref.grad = grad->data_ptr();
  int k = 0;
  for (Tensor* state : states) ref.state[k++] = state ? conformed(*state, param) : nullptr;
  ref.numel = param.numel();
  ref.step = step;
  list_for(param).tensors.push_back(ref);
}

void TensorLists::add(const Tensor& param, int64_t* steps, std::initializer_list<Tensor*> states) {
  add(param, static_cast<double>(*steps + 1), states);
  counters_.push_back(steps);
}

void TensorLists::run(kernels::Status (*kernels::KernelTable::*kernel)(
                          const kernels::OptimizerArgs&, kernels::Stream),
                      kernels::OptimizerArgs args, const Tensor& found_inf,
                      const Tensor& inv_scale) {
  for (const List& list : lists_) {
    const auto there = [&](const Tensor& number) {
      return number.defined() ? number.to(list.device) : number;
    };
    const Tensor inf = there(found_inf), scale = there(inv_scale);
    args.found_inf = inf.defined() ? inf.const_data_ptr<float>() : nullptr;
    args.inv_scale = scale.defined() ? scale.const_data_ptr<float>() : nullptr;
    args.dtype = list.dtype;
    args.tensors = list.tensors.data();
    args.count = static_cast<int64_t>(list.tensors.size());
    kernels::check(
        (kernels::kernels_for(list.device).*kernel)(args, kernels::stream_for(list.device)), op_,
        list.device, list.dtype);
  }
  for (int64_t* steps : counters_) ++*steps;
  // A graph that saved a parameter must notice that it has changed.
  for (TensorImpl* param : params_) ++param->version();
  for (auto& [param, copy] : copies_) Tensor(*param).copy_(copy);
}

}  // namespace taper::optim::detail
