#include "taper/optim/multi_tensor.h"

#include "taper/core/ops.h"

namespace taper::optim::detail {

void check_grad(const char* op, const Tensor& param) {
  const Tensor& grad = param.grad();
  TAPER_CHECK(grad.sizes().equals(param.sizes()) && grad.scalar_type() == param.scalar_type() &&
                  grad.device() == param.device(),
              op, ": a parameter of shape ", param.sizes(), " and dtype ", param.scalar_type(),
              " on ", param.device().str(), " has a gradient of shape ", grad.sizes(),
              " and dtype ", grad.scalar_type(), " on ", grad.device().str());
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
  for (const Tensor* state : states) ref.state[k++] = state ? state->data_ptr() : nullptr;
  ref.numel = param.numel();
  ref.step = step;
  list_for(param).tensors.push_back(ref);
}

void TensorLists::run(kernels::Status (*kernels::KernelTable::*kernel)(
                          const kernels::OptimizerArgs&, kernels::Stream),
                      const char* op, kernels::OptimizerArgs args, const Tensor& found_inf,
                      const Tensor& inv_scale) {
  args.found_inf = found_inf.defined() ? found_inf.const_data_ptr<float>() : nullptr;
  args.inv_scale = inv_scale.defined() ? inv_scale.const_data_ptr<float>() : nullptr;
  for (const List& list : lists_) {
    args.dtype = list.dtype;
    args.tensors = list.tensors.data();
    args.count = static_cast<int64_t>(list.tensors.size());
    kernels::check(
        (kernels::kernels_for(list.device).*kernel)(args, kernels::stream_for(list.device)), op,
        list.device, list.dtype);
  }
  // A graph that saved a parameter must notice that it has changed.
  for (TensorImpl* param : params_) ++param->version();
  for (auto& [param, copy] : copies_) Tensor(*param).copy_(copy);
}

}  // namespace taper::optim::detail
