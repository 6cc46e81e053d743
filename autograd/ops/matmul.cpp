// Matrix products. All of them are one GEMM call; transposed operands are passed as they lie.

#include "taper/autograd/ops/op.h"
#include "taper/core/cuda.h"

namespace taper::ops {

namespace {

// One matrix, or a batch, as GEMM takes it: row-major or transposed, with a leading dimension.
struct MatrixOperand {
  Tensor tensor;  // copied where neither of its last two dimensions is dense
  int64_t leading = 1;
  int64_t batch_stride = 0;
  bool transposed = false;
};

MatrixOperand as_operand(const Tensor& matrix) {
  const auto lies_right = [](const Tensor& m) {
    const int64_t rows = m.size(-2), cols = m.size(-1);
    const int64_t row_stride = m.stride(-2), col_stride = m.stride(-1);
    const bool row_major = (cols <= 1 || col_stride == 1) && (rows <= 1 || row_stride >= cols);
    const bool col_major = (rows <= 1 || row_stride == 1) && (cols <= 1 || col_stride >= rows);
    return row_major ? 1 : col_major ? 2 : 0;
  };
  MatrixOperand operand{matrix};
  int kind = lies_right(matrix);
  if (kind == 0) {
    operand.tensor = matrix.contiguous();
    kind = 1;
  }
  const Tensor& m = operand.tensor;
  const int64_t rows = m.size(-2), cols = m.size(-1);
  operand.transposed = kind == 2;
  operand.leading = kind == 2 ? (cols > 1 ? m.stride(-1) : std::max<int64_t>(rows, 1))
                              : (rows > 1 ? m.stride(-2) : std::max<int64_t>(cols, 1));
  operand.batch_stride = m.dim() == 3 ? m.stride(0) : 0;
  return operand;
}

// out = alpha * a @ b + beta * out (or + bias, a row); matrices, or batches with equal batch sizes.
void gemm(const char* name, const Tensor& out, const Tensor& a, const Tensor& b, Value alpha,
          Value beta, const Tensor* bias = nullptr) {
  const MatrixOperand left = as_operand(a), right = as_operand(b);
  kernels::GemmPlan plan;
  plan.dtype = out.scalar_type();
  plan.batch = out.dim() == 3 ? out.size(0) : 1;
  plan.m = out.size(-2);
  plan.n = out.size(-1);
  plan.k = a.size(-1);
  plan.a = left.tensor.data_ptr();
  plan.lda = left.leading;
  plan.a_batch_stride = left.batch_stride;
  plan.a_transposed = left.transposed;
  plan.b = right.tensor.data_ptr();
  plan.ldb = right.leading;
  plan.b_batch_stride = right.batch_stride;
  plan.b_transposed = right.transposed;
  plan.c = out.data_ptr();
  plan.ldc = std::max<int64_t>(out.size(-1), 1);
  plan.c_batch_stride = plan.m * plan.n;
  plan.bias = bias ? bias->data_ptr() : nullptr;
  plan.alpha = alpha;
  plan.beta = beta;
  plan.tf32 = out.is_cuda() && cuda::allow_tf32_matmul();
  check(kernels_of(out).gemm(plan, stream_of(out)), name);
}

void check_operands(const char* name, const Tensor& a, const Tensor& b) {
  check_defined(name, a, "self");
  check_defined(name, b, "mat2");
  check_same_device(name, a, b);
  TAPER_CHECK_TYPE(a.scalar_type() == b.scalar_type(), name,
                   ": expected m1 and m2 to have the same dtype, but got: ", a.scalar_type(),
                   " != ", b.scalar_type());
  TAPER_CHECK_TYPE(a.scalar_type() != kBool, name, ": is not implemented for 'Bool'");
}

void check_shapes(const char* name, const Tensor& a, const Tensor& b) {
  TAPER_CHECK(a.size(-1) == b.size(-2), name, ": mat1 and mat2 shapes cannot be multiplied (",
              a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
}

Tensor mm_into(const Tensor& self, const Tensor& mat2, const Into& into) {
  constexpr const char* kName = "mm";
  check_operands(kName, self, mat2);
  TAPER_CHECK(self.dim() == 2, "self must be a matrix (mm), but has shape ", self.sizes());
  TAPER_CHECK(mat2.dim() == 2, "mat2 must be a matrix (mm), but has shape ", mat2.sizes());
  check_shapes(kName, self, mat2);
  const bool tracked = recording(self, mat2);
  if (into.is_out()) check_no_grad_out(kName, tracked);
  const int64_t shape[] = {self.size(0), mat2.size(1)};
  const Tensor out = compute(into, kName, shape, self.scalar_type(), self.device(), [&](Tensor& c) {
    if (c.is_contiguous()) {
      gemm(kName, c, self, mat2, Value(1), Value(0));
    } else {
      const Tensor dense = new_result_like(c);
      gemm(kName, dense, self, mat2, Value(1), Value(0));
      copy_values(c, dense);
    }
  });
  if (tracked) {
    record(out, "MmBackward0", inputs(self, mat2),
           saving(when(mat2.requires_grad(), self), when(self.requires_grad(), mat2)),
           [](Backward& b) {
             const Tensor& g = b.grad_output();
             if (b.wants(0)) b.grad(0) = g.mm(b.saved(1).t());
             if (b.wants(1)) b.grad(1) = b.saved(0).t().mm(g);
           });
  }
  return out;
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) { return mm_into(self, mat2, {}); }
Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  mm_into(self, mat2, Into::out(out));
  return out;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  constexpr const char* kName = "bmm";
  check_operands(kName, self, mat2);
  TAPER_CHECK(self.dim() == 3 && mat2.dim() == 3,
              "bmm: batch1 and batch2 must be 3D tensors, but have shapes ", self.sizes(), " and ",
              mat2.sizes());
  TAPER_CHECK(self.size(0) == mat2.size(0) && self.size(2) == mat2.size(1),
              "bmm: Expected size for first two dimensions of batch2 tensor to be: [", self.size(0),
              ", ", self.size(2), "] but got: [", mat2.size(0), ", ", mat2.size(1), "].");
  const int64_t shape[] = {self.size(0), self.size(1), mat2.size(2)};
  const Tensor out = new_result(shape, self.scalar_type(), self.device(), kName);
  gemm(kName, out, self, mat2, Value(1), Value(0));
  if (recording(self, mat2)) {
    record(out, "BmmBackward0", inputs(self, mat2),
           saving(when(mat2.requires_grad(), self), when(self.requires_grad(), mat2)),
           [](Backward& b) {
             const Tensor& g = b.grad_output();
             if (b.wants(0)) b.grad(0) = g.bmm(b.saved(1).mT());
             if (b.wants(1)) b.grad(1) = b.saved(0).mT().bmm(g);
           });
  }
  return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  TAPER_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, ",
              self.dim(), ", ", vec.dim());
  TAPER_CHECK(self.size(1) == vec.size(0), "size mismatch, got input (", self.size(0), "), mat (",
              self.size(0), "x", self.size(1), "), vec (", vec.size(0), ")");
  return self.mm(vec.unsqueeze(1)).squeeze(1);
}

Tensor dot(const Tensor& self, const Tensor& other) {
  TAPER_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", other.dim(), "D tensors");
  TAPER_CHECK(self.size(0) == other.size(0), "inconsistent tensor size, expected tensor [",
              self.size(0), "] and src [", other.size(0),
              "] to have the same number of elements, but got ", self.size(0), " and ",
              other.size(0), " elements respectively");
  return self.unsqueeze(0).mm(other.unsqueeze(1)).reshape({});
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  TAPER_CHECK(self.dim() == 1 && vec2.dim() == 1, "outer: Expected 1-D arguments, but got ",
              self.dim(), "-D and ", vec2.dim(), "-D");
  return self.unsqueeze(1) * vec2;
}
Tensor ger(const Tensor& self, const Tensor& vec2) { return self.outer(vec2); }

namespace {

// Leading dimensions of both operands broadcast; the last two are multiplied.
Tensor batched_matmul(const Tensor& self, const Tensor& other) {
  const IntArrayRef a = self.sizes(), b = other.sizes();
  const Dims batch = infer_size(a.slice(0, a.size() - 2), b.slice(0, b.size() - 2), "matmul");
  const auto with_batch = [&](int64_t rows, int64_t cols) {
    Dims shape = batch;
    shape.push_back(rows);
    shape.push_back(cols);
    return shape;
  };
  const int64_t m = self.size(-2), k = self.size(-1), n = other.size(-1);
  TAPER_CHECK(other.size(-2) == k, "matmul: mat1 and mat2 shapes cannot be multiplied (", m, "x", k,
              " and ", other.size(-2), "x", n, ")");
  checked_numel(with_batch(m, n), "matmul");
  const int64_t count = checked_numel(batch, "matmul");
  const Tensor left = self.expand(with_batch(m, k)).reshape({count, m, k});
  const Tensor right = other.expand(with_batch(k, n)).reshape({count, k, n});
  return left.bmm(right).view(with_batch(m, n));
}

/// [..., n] as a matrix. Its rows are counted, since -1 could stand for any number where n is 0.
Tensor as_rows(const Tensor& x) {
  const IntArrayRef leading = x.sizes().slice(0, x.sizes().size() - 1);
  return x.reshape({checked_numel(leading, "matmul"), x.size(-1)});
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  check_operands("matmul", self, other);
  TAPER_CHECK(self.dim() >= 1 && other.dim() >= 1,
              "both arguments to matmul need to be at least 1D, but they are ", self.dim(),
              "D and ", other.dim(), "D");
  if (self.dim() == 2 && other.dim() == 2) return self.mm(other);
  if (self.dim() == 1 && other.dim() == 1) return self.dot(other);
  if (self.dim() == 2 && other.dim() == 1) return self.mv(other);
  if (self.dim() == 1) {
    return self.unsqueeze(0).matmul(other).squeeze(-2);
  }
  if (other.dim() <= 2) {
    // One matrix for the whole batch: a single tall product.
    const Tensor flat = as_rows(self);
    const Tensor out = other.dim() == 1 ? flat.mv(other) : flat.mm(other);
    Dims shape(self.sizes().slice(0, self.sizes().size() - 1));
    if (other.dim() == 2) shape.push_back(other.size(1));
    return out.view(shape);
  }
  if (self.numel() == 0 && self.size(-1) != other.size(-2)) check_shapes("matmul", self, other);
  return batched_matmul(self, other);
}

// ---- Products with a sum.

namespace {

Tensor addmm_impl(const char* name, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                  const Scalar& beta, const Scalar& alpha) {
  check_operands(name, mat1, mat2);
  check_same_device(name, self, mat1);
  check_same_dtype(name, self, mat1);
  TAPER_CHECK(mat1.dim() == 2 && mat2.dim() == 2, name,
              ": mat1 and mat2 must be matrices, but have shapes ", mat1.sizes(), " and ",
              mat2.sizes());
  check_shapes(name, mat1, mat2);
  const int64_t shape[] = {mat1.size(0), mat2.size(1)};
  TAPER_CHECK(is_expandable_to(self.sizes(), shape),
              "The expanded size of the tensor must match: ", name, ": self of shape ",
              self.sizes(), " does not broadcast to ", IntArrayRef(shape));
  const Tensor out = new_result(shape, mat1.scalar_type(), mat1.device(), name);
  const bool row = self.dim() == 1 && self.size(0) == shape[1] && self.is_contiguous() &&
                   beta.equal(1) && alpha.equal(1);
  if (row) {
    gemm(name, out, mat1, mat2, Value(1), Value(0), &self);
  } else {
    if (!beta.equal(0)) copy_values(out, self);
    gemm(name, out, mat1, mat2, value_of(alpha, out.scalar_type()),
         value_of(beta, out.scalar_type()));
  }
  if (recording(self, mat1, mat2)) {
    record(out, "AddmmBackward0", inputs(self, mat1, mat2),
           saving(when(mat2.requires_grad(), mat1), when(mat1.requires_grad(), mat2)),
           [beta, alpha](Backward& b) {
             const Tensor& g = b.grad_output();
             const auto scaled = [](const Tensor& x, const Scalar& factor) {
               return factor.equal(1) ? x : x * factor;
             };
             if (b.wants(0)) b.grad(0) = scaled(g, beta);
             if (b.wants(1)) b.grad(1) = scaled(g.mm(b.saved(1).t()), alpha);
             if (b.wants(2)) b.grad(2) = scaled(b.saved(0).t().mm(g), alpha);
           });
  }
  return out;
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  return addmm_impl("addmm", self, mat1, mat2, beta, alpha);
}
Tensor& addmm_(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
               const Scalar& alpha) {
  return self.copy_(addmm_impl("addmm_", self, mat1, mat2, beta, alpha));
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  TAPER_CHECK(mat.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got ",
              self.dim(), ", ", mat.dim(), ", ", vec.dim(), " (addmv)");
  const Tensor column = self.dim() == 0 ? self : self.unsqueeze(-1);
  return addmm_impl("addmv", column, mat, vec.unsqueeze(1), beta, alpha).squeeze(1);
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  constexpr const char* kName = "baddbmm";
  check_operands(kName, batch1, batch2);
  check_same_device(kName, self, batch1);
  check_same_dtype(kName, self, batch1);
  TAPER_CHECK(batch1.dim() == 3 && batch2.dim() == 3 && batch1.size(0) == batch2.size(0), kName,
              ": expected two batches of as many matrices, but got shapes ", batch1.sizes(),
              " and ", batch2.sizes());
  check_shapes(kName, batch1, batch2);
  const int64_t shape[] = {batch1.size(0), batch1.size(1), batch2.size(2)};
  TAPER_CHECK(is_expandable_to(self.sizes(), shape), kName, ": self of shape ", self.sizes(),
              " does not broadcast to ", IntArrayRef(shape));
  const Tensor out = new_result(shape, batch1.scalar_type(), batch1.device(), kName);
  if (!beta.equal(0)) copy_values(out, self);
  gemm(kName, out, batch1, batch2, value_of(alpha, out.scalar_type()),
       value_of(beta, out.scalar_type()));
  if (recording(self, batch1, batch2)) {
    record(out, "BaddbmmBackward0", inputs(self, batch1, batch2),
           saving(when(batch2.requires_grad(), batch1), when(batch1.requires_grad(), batch2)),
           [beta, alpha](Backward& b) {
             const Tensor& g = b.grad_output();
             if (b.wants(0)) b.grad(0) = g * beta;
             if (b.wants(1)) b.grad(1) = g.bmm(b.saved(1).transpose(1, 2)) * alpha;
             if (b.wants(2)) b.grad(2) = b.saved(0).transpose(1, 2).bmm(g) * alpha;
           });
  }
  return out;
}

// input @ weight.t() + bias, for any leading dimensions: input [*, in], weight [out, in], bias
// [out].
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  check_defined("linear", input, "input");
  check_defined("linear", weight, "weight");
  const bool has_bias = bias && bias->defined();
  TAPER_CHECK(input.dim() >= 1, "linear: input must have at least one dimension");
  if (weight.dim() == 1) {
    const Tensor product = input.matmul(weight);
    return has_bias ? product + *bias : product;
  }
  check_dim("linear", weight, 2, "weight");
  TAPER_CHECK(input.size(-1) == weight.size(1),
              "linear: mat1 and mat2 shapes cannot be multiplied (",
              input.size(-1) == 0 ? 0 : input.numel() / input.size(-1), "x", input.size(-1),
              " and ", weight.size(1), "x", weight.size(0), ")");
  const Tensor flat = input.dim() == 2 ? input : as_rows(input);
  const Tensor out = has_bias && bias->dim() == 1
                         ? addmm_impl("linear", *bias, flat, weight.t(), 1, 1)
                         : flat.mm(weight.t());
  if (input.dim() == 2) return has_bias && bias->dim() != 1 ? out + *bias : out;
  Dims shape(input.sizes());
  shape[shape.size() - 1] = weight.size(0);
  const Tensor shaped = out.view(shape);
  return has_bias && bias->dim() != 1 ? shaped + *bias : shaped;
}

Tensor trace(const Tensor& self) {
  TAPER_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  return self.diagonal().sum();
}

// y_k = x1^T W_k x2 + b_k
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias) {
  check_defined("bilinear", input1, "input1");
  check_defined("bilinear", input2, "input2");
  check_dim("bilinear", weight, 3, "weight");
  const auto leading = [](const Tensor& input) {
    return input.sizes().slice(0, input.sizes().size() - 1);
  };
  TAPER_CHECK(input1.dim() > 0 && input2.dim() > 0 && leading(input1).equals(leading(input2)) &&
                  input1.size(-1) == weight.size(1) && input2.size(-1) == weight.size(2),
              "bilinear: expected inputs of shapes [..., ", weight.size(1), "] and [..., ",
              weight.size(2), "] for a weight of shape ", weight.sizes(), ", but got ",
              input1.sizes(), " and ", input2.sizes());
  const Tensor out =
      taper::einsum("...i,kij,...j->...k", std::vector<Tensor>{input1, weight, input2});
  return bias && bias->defined() ? out + *bias : out;
}

}  // namespace taper::ops
