// Pooling over windows, and resizing. One spatial dimension is height 1 of two.

#include <cmath>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

using kernels::PoolPlan;

struct Window {
  int64_t h, w;
};

// [channels, h, w] or [batch, channels, h, w] as dense planes.
struct Planes {
  Tensor input;  // dense, without history
  PoolPlan plan = {};
};

Planes planes_of(const char* op, const Tensor& self) {
  check_defined(op, self, "self");
  check_floating(op, self);
  TAPER_CHECK(self.dim() == 3 || self.dim() == 4, op,
              ": Expected 3D or 4D (batch mode) tensor, but got tensor of size ", self.sizes());
  Planes out;
  out.input = self.detach().contiguous();
  out.plan.dtype = self.scalar_type();
  out.plan.in_h = self.size(-2);
  out.plan.in_w = self.size(-1);
  out.plan.planes = self.dim() == 3 ? self.size(0) : self.size(0) * self.size(1);
  TAPER_CHECK(
      self.size(-1) > 0 && self.size(-2) > 0 && self.size(-3) > 0, op,
      ": Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got: ",
      self.sizes());
  return out;
}

Dims output_shape(const Tensor& self, const PoolPlan& plan) {
  Dims shape(self.sizes());
  shape[shape.size() - 2] = plan.out_h;
  shape[shape.size() - 1] = plan.out_w;
  return shape;
}

Window pair(const char* op, IntArrayRef values, const char* name) {
  TAPER_CHECK(values.size() == 1 || values.size() == 2, op, ": ", name,
              " must either be a single int, or a tuple of two ints, but got ", values);
  return {values.front(), values.back()};
}

Planes windows(const char* op, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
               IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  Planes out = planes_of(op, self);
  PoolPlan& plan = out.plan;
  const Window k = pair(op, kernel_size, "kernel_size");
  const Window s = stride.empty() ? k : pair(op, stride, "stride");
  const Window p = pair(op, padding, "padding"), d = pair(op, dilation, "dilation");
  TAPER_CHECK(k.h > 0 && k.w > 0, op, ": kernel size should be greater than zero, but got ",
              kernel_size);
  TAPER_CHECK(s.h > 0 && s.w > 0, op, ": stride should not be zero, but got ", stride);
  TAPER_CHECK(d.h > 0 && d.w > 0, op, ": dilation should be greater than zero, but got ", dilation);
  TAPER_CHECK(p.h >= 0 && p.w >= 0, op, ": pad must be non-negative, but got pad: ", padding);
  TAPER_CHECK(p.h <= k.h / 2 && p.w <= k.w / 2, op,
              ": pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel_size);
  plan.kernel_h = k.h, plan.kernel_w = k.w;
  plan.stride_h = s.h, plan.stride_w = s.w;
  plan.pad_h = p.h, plan.pad_w = p.w;
  plan.dilation_h = d.h, plan.dilation_w = d.w;
  plan.out_h = kernels::window_output_size(plan.in_h, k.h, s.h, p.h, d.h, ceil_mode);
  plan.out_w = kernels::window_output_size(plan.in_w, k.w, s.w, p.w, d.w, ceil_mode);
  TAPER_CHECK(plan.out_h >= 1 && plan.out_w >= 1, op, ": Given input size: (", plan.in_h, "x",
              plan.in_w, "). Calculated output size: (", plan.out_h, "x", plan.out_w,
              "). Output size is too small");
  return out;
}

// 1d pooling is 2d pooling of height 1.
template <class Pool>
Tensor as_2d(const Tensor& self, const char* op, const Pool& pool) {
  TAPER_CHECK(self.dim() == 2 || self.dim() == 3, op, ": Expected 2D or 3D input, but got ",
              self.sizes());
  return pool(self.unsqueeze(-2)).squeeze(-2);
}
std::vector<int64_t> lifted(int64_t first, IntArrayRef values) {
  if (values.empty()) return {};
  return {first, values.front()};
}

// Differentiable: puts g back where each window's winner was.
Tensor max_pool_gradient(const Tensor& g, const Tensor& flat_index, const Dims& shape) {
  const Tensor flat = zeros(shape, g.options()).flatten(-2);
  return flat.scatter_add(-1, flat_index.flatten(-2), g.flatten(-2)).view(shape);
}

// The window index is a byte per output; a flat index only where the caller wants it or windows are
// large.
struct MaxPool {
  Tensor out, window_index, flat_index;
};

MaxPool run_max_pool(const Tensor& self, const Planes& planes, bool want_flat, bool want_index) {
  const PoolPlan& plan = planes.plan;
  MaxPool result;
  const Dims shape = output_shape(self, plan);
  result.out = new_result(shape, plan.dtype, self.device());
  const bool bytes = plan.kernel_h * plan.kernel_w <= 256 && !want_flat;
  if (want_index || want_flat) {
    (bytes ? result.window_index : result.flat_index) =
        new_result(shape, bytes ? kByte : kLong, self.device());
  }
  check(kernels_of(self).max_pool_forward(
            result.out.data_ptr(),
            result.window_index.defined() ? result.window_index.data_ptr<uint8_t>() : nullptr,
            result.flat_index.defined() ? result.flat_index.data_ptr<int64_t>() : nullptr,
            planes.input.data_ptr(), plan, stream_of(self)),
        "max_pool2d");
  return result;
}

// Position in the input plane from the position in the window.
Tensor to_flat_index(const Tensor& window_index, const PoolPlan& plan) {
  const TensorOptions whole = TensorOptions(kLong).device(window_index.device());
  const Tensor inside = window_index.to(kLong);
  const Tensor row = inside.floor_divide(plan.kernel_w), col = inside.remainder(plan.kernel_w);
  const Tensor top = (arange(plan.out_h, whole) * plan.stride_h - plan.pad_h).unsqueeze(1);
  const Tensor left = arange(plan.out_w, whole) * plan.stride_w - plan.pad_w;
  return (top + row * plan.dilation_h) * plan.in_w + (left + col * plan.dilation_w);
}

void record_max_pool(const MaxPool& pool, const Tensor& self, const PoolPlan& plan) {
  const Tensor& index = pool.window_index.defined() ? pool.window_index : pool.flat_index;
  record(pool.out, "MaxPool2DWithIndicesBackward0", inputs(self), saving(index),
         [plan, shape = Dims(self.sizes())](Backward& b) {
           const Tensor &g = b.grad_output(), index = b.saved(0);
           const bool bytes = index.scalar_type() == kByte;
           if (autograd::grad_enabled()) {
             b.grad(0) = max_pool_gradient(g, bytes ? to_flat_index(index, plan) : index, shape);
             return;
           }
           const Tensor grad = g.contiguous(), out = new_result(shape, plan.dtype, g.device());
           check(kernels_of(g).max_pool_backward(
                     out.data_ptr(), grad.data_ptr(), bytes ? index.data_ptr<uint8_t>() : nullptr,
                     bytes ? nullptr : index.data_ptr<int64_t>(), nullptr, plan, stream_of(g)),
                 "max_pool2d");
           b.grad(0) = out;
         });
}

}  // namespace

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Planes planes =
      windows("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const bool tracked = recording(self);
  const bool large = planes.plan.kernel_h * planes.plan.kernel_w > 256;
  const MaxPool pool = run_max_pool(self, planes, tracked && large, tracked);
  if (tracked) record_max_pool(pool, self, planes.plan);
  return pool.out;
}

TensorPair max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const Planes planes =
      windows("max_pool2d_with_indices", self, kernel_size, stride, padding, dilation, ceil_mode);
  const MaxPool pool = run_max_pool(self, planes, true, true);
  if (recording(self)) record_max_pool(pool, self, planes.plan);
  return {pool.out, pool.flat_index};
}

Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return as_2d(self, "max_pool1d", [&](const Tensor& x) {
    return taper::max_pool2d(x, lifted(1, kernel_size), lifted(1, stride), lifted(0, padding),
                             lifted(1, dilation), ceil_mode);
  });
}

// ---- Averages: linear, so that the backward's backward is the forward.

namespace {

enum class Average { kWindow, kAdaptive };

Tensor average_backward(const Tensor& g, const Dims& shape, const PoolPlan& plan, Average kind);

Tensor average(const Tensor& self, const PoolPlan& plan, Average kind) {
  const Tensor input = self.detach().contiguous();
  const Tensor out = new_result(output_shape(self, plan), plan.dtype, self.device());
  const auto kernel = kind == Average::kWindow ? kernels_of(out).avg_pool_forward
                                               : kernels_of(out).adaptive_avg_pool_forward;
  check(kernel(out.data_ptr(), input.data_ptr(), plan, stream_of(out)), "avg_pool2d");
  if (recording(self)) {
    record(out, kind == Average::kWindow ? "AvgPool2DBackward0" : "AdaptiveAvgPool2DBackward0",
           inputs(self), saving_nothing(), [shape = Dims(self.sizes()), plan, kind](Backward& b) {
             b.grad(0) = average_backward(b.grad_output(), shape, plan, kind);
           });
  }
  return out;
}

Tensor average_backward(const Tensor& g, const Dims& shape, const PoolPlan& plan, Average kind) {
  const Tensor grad = g.detach().contiguous();
  const Tensor out = new_result(shape, plan.dtype, g.device());
  const auto kernel = kind == Average::kWindow ? kernels_of(out).avg_pool_backward
                                               : kernels_of(out).adaptive_avg_pool_backward;
  check(kernel(out.data_ptr(), grad.data_ptr(), plan, stream_of(out)), "avg_pool2d");
  if (recording(g)) {
    record(out, "AvgPool2DBackwardBackward0", inputs(g), saving_nothing(),
           [plan, kind](Backward& b) { b.grad(0) = average(b.grad_output(), plan, kind); });
  }
  return out;
}

}  // namespace

Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                  std::optional<int64_t> divisor_override) {
  TAPER_CHECK(!divisor_override || *divisor_override != 0, "avg_pool2d: divisor must be not zero");
  PoolPlan plan = windows("avg_pool2d", self, kernel_size, stride, padding, 1, ceil_mode).plan;
  plan.count_include_pad = count_include_pad;
  plan.divisor_override = divisor_override.value_or(0);
  return average(self, plan, Average::kWindow);
}

Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                  IntArrayRef padding, bool ceil_mode, bool count_include_pad) {
  return as_2d(self, "avg_pool1d", [&](const Tensor& x) {
    return taper::avg_pool2d(x, lifted(1, kernel_size), lifted(1, stride), lifted(0, padding),
                             ceil_mode, count_include_pad);
  });
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  PoolPlan plan = planes_of("adaptive_avg_pool2d", self).plan;
  const Window size = pair("adaptive_avg_pool2d", output_size, "output_size");
  plan.out_h = size.h;
  plan.out_w = size.w;
  TAPER_CHECK(plan.out_h >= 0 && plan.out_w >= 0,
              "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but "
              "received ",
              output_size);
  return average(self, plan, Average::kAdaptive);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  return as_2d(self, "adaptive_avg_pool1d", [&](const Tensor& x) {
    return taper::adaptive_avg_pool2d(x, lifted(1, output_size));
  });
}

namespace {

// The largest of each of `count` windows along a dimension, which may overlap and differ in size,
// and where along the dimension it lies (the first, if several are equal).
TensorPair adaptive_max(const Tensor& self, int64_t dim, int64_t count) {
  const int64_t size = self.size(dim);
  std::vector<Tensor> values, indices;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * size / count, end = ((i + 1) * size + count - 1) / count;
    const auto [value, index] = self.narrow(dim, start, end - start).max(dim);
    values.push_back(value);
    indices.push_back(index + start);
  }
  return {taper::stack(values, dim), taper::stack(indices, dim)};
}

}  // namespace

// A composition: first along rows, then of their results along columns.
TensorPair adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size) {
  const PoolPlan plan = planes_of("adaptive_max_pool2d", self).plan;
  const Window size = pair("adaptive_max_pool2d", output_size, "output_size");
  const int64_t out_h = size.h == -1 ? plan.in_h : size.h;
  const int64_t out_w = size.w == -1 ? plan.in_w : size.w;
  TAPER_CHECK(
      out_h >= 0 && out_w >= 0 && plan.in_h > 0 && plan.in_w > 0,
      "adaptive_max_pool2d: expected sizes that are not negative, and an input with pixels, "
      "but got output_size ",
      output_size, " for an input of shape ", self.sizes());
  if (out_h == 0 || out_w == 0) {
    Dims sizes(self.sizes());
    sizes[static_cast<int>(self.dim()) - 2] = out_h;
    sizes[static_cast<int>(self.dim()) - 1] = out_w;
    return {zeros(sizes, self.options()), zeros(sizes, self.options().dtype(kLong))};
  }
  const auto [of_rows, columns] = adaptive_max(self, -1, out_w);
  const auto [values, rows] = adaptive_max(of_rows, -2, out_h);
  return {values, rows * plan.in_w + columns.gather(-2, rows)};
}

TensorPair adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  TAPER_CHECK(self.dim() == 2 || self.dim() == 3,
              "adaptive_max_pool1d: Expected 2D or 3D input, but got shape ", self.sizes());
  const auto [values, indices] =
      taper::adaptive_max_pool2d(self.unsqueeze(-2), lifted(1, output_size));
  return {values.squeeze(-2), indices.squeeze(-2)};
}

// ---- Resizing, linear as well.

namespace {

using kernels::ResizeMode;

struct Resize {
  ResizeMode mode;
  double scale_h, scale_w;  // input pixels per output pixel
  PoolPlan plan;
};

Tensor resize_backward(const Tensor& g, const Dims& shape, const Resize& resize);

Tensor resized(const Tensor& self, const Resize& resize) {
  const Tensor input = self.detach().contiguous();
  const Tensor out = new_result(output_shape(self, resize.plan), resize.plan.dtype, self.device());
  check(kernels_of(out).resize_forward(resize.mode, out.data_ptr(), input.data_ptr(),
                                       resize.scale_h, resize.scale_w, resize.plan, stream_of(out)),
        "upsample");
  if (recording(self)) {
    const char* const name = resize.mode == ResizeMode::kNearest ? "UpsampleNearest2DBackward0"
                                                                 : "UpsampleBilinear2DBackward0";
    record(out, name, inputs(self), saving_nothing(),
           [shape = Dims(self.sizes()), resize](Backward& b) {
             b.grad(0) = resize_backward(b.grad_output(), shape, resize);
           });
  }
  return out;
}

Tensor resize_backward(const Tensor& g, const Dims& shape, const Resize& resize) {
  const Tensor grad = g.detach().contiguous();
  const Tensor out = new_result(shape, resize.plan.dtype, g.device());
  check(
      kernels_of(out).resize_backward(resize.mode, out.data_ptr(), grad.data_ptr(), resize.scale_h,
                                      resize.scale_w, resize.plan, stream_of(out)),
      "upsample");
  if (recording(g)) {
    record(out, "UpsampleBackwardBackward0", inputs(g), saving_nothing(),
           [resize](Backward& b) { b.grad(0) = resized(b.grad_output(), resize); });
  }
  return out;
}

// A scale that the user gave wins over the ratio of sizes, as in PyTorch.
double source_step(int64_t in, int64_t out, std::optional<double> scale, bool align_corners) {
  if (align_corners)
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
  return scale && *scale > 0 ? 1.0 / *scale : static_cast<double>(in) / static_cast<double>(out);
}

Tensor upsample(const char* op, ResizeMode mode, const Tensor& self, IntArrayRef output_size,
                std::optional<double> scale_h, std::optional<double> scale_w) {
  TAPER_CHECK(self.dim() == 4, op, ": It is expected input_size equals to 4, but got size ",
              self.dim());
  TAPER_CHECK(output_size.size() == 2, op,
              ": It is expected output_size equals to 2, but got size ", output_size.size());
  Resize resize{mode, 0, 0, planes_of(op, self).plan};
  resize.plan.out_h = output_size[0];
  resize.plan.out_w = output_size[1];
  TAPER_CHECK(output_size[0] > 0 && output_size[1] > 0, op,
              ": Input and output sizes should be greater than 0, but got output ", output_size);
  const bool corners = mode == ResizeMode::kBilinearAlignCorners;
  resize.scale_h = source_step(resize.plan.in_h, output_size[0], scale_h, corners);
  resize.scale_w = source_step(resize.plan.in_w, output_size[1], scale_w, corners);
  return resized(self, resize);
}

}  // namespace

Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_nearest2d", ResizeMode::kNearest, self, output_size, scales_h,
                  scales_w);
}
Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                          std::optional<double> scales) {
  return taper::upsample_nearest2d(self.unsqueeze(-2), lifted(1, output_size), std::nullopt, scales)
      .squeeze(-2);
}
Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                           std::optional<double> scales_h, std::optional<double> scales_w) {
  return upsample("upsample_bilinear2d",
                  align_corners ? ResizeMode::kBilinearAlignCorners : ResizeMode::kBilinear, self,
                  output_size, scales_h, scales_w);
}

}  // namespace taper::ops
