// Einstein summation, and products that are made of others.

#include <cctype>
#include <cmath>
#include <map>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

// Labels of the dimensions that "..." stands for: characters that no equation can contain.
constexpr char kFirstHidden = '\x01';

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',') {
      terms.emplace_back();
    } else if (c != ' ') {
      terms.back() += c;
    }
  }
  return terms;
}

// Replaces "..." by hidden labels, aligned at the right, so that batches broadcast.
std::string expand_ellipsis(const std::string& term, int64_t rank, int64_t hidden, int64_t* used) {
  const size_t at = term.find("...");
  std::string letters = term;
  if (at != std::string::npos) {
    const int64_t own = rank < 0 ? hidden : rank - static_cast<int64_t>(term.size() - 3);
    TAPER_CHECK(own >= 0, "einsum(): the number of subscripts in the equation (", term.size() - 3,
                ") is more than the number of dimensions (", rank, ") for an operand");
    if (used) *used = std::max(*used, own);
    std::string middle;
    for (int64_t i = 0; i < own; ++i) middle += static_cast<char>(kFirstHidden + own - 1 - i);
    letters = term.substr(0, at) + middle + term.substr(at + 3);
  }
  for (const char c : letters) {
    TAPER_CHECK(c < 28 || std::isalpha(static_cast<unsigned char>(c)),
                "einsum(): invalid subscript given: '", c, "', subscripts must be in [a-zA-Z]");
  }
  return letters;
}

// A repeated letter takes the diagonal.
Tensor with_unique_labels(Tensor operand, std::string& letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t again = letters.find(letters[i], i + 1);
    if (again == std::string::npos) continue;
    TAPER_CHECK(operand.size(static_cast<int64_t>(i)) == operand.size(static_cast<int64_t>(again)),
                "einsum(): subscript ", letters[i],
                " is repeated for an operand but the sizes don't match, ",
                operand.size(static_cast<int64_t>(again)),
                " != ", operand.size(static_cast<int64_t>(i)));
    operand = operand.diagonal(0, static_cast<int64_t>(i), static_cast<int64_t>(again))
                  .movedim(-1, static_cast<int64_t>(i));
    letters.erase(again, 1);
    --i;
  }
  return operand;
}

// The operand with its dimensions in the order of `all`, size 1 where it has no such letter.
Tensor aligned(const Tensor& operand, const std::string& letters, const std::string& all) {
  std::vector<int64_t> order;
  for (const char c : all) {
    const size_t at = letters.find(c);
    if (at != std::string::npos) order.push_back(static_cast<int64_t>(at));
  }
  Tensor out = operand.permute(order);
  for (size_t d = 0; d < all.size(); ++d) {
    if (letters.find(all[d]) == std::string::npos) out = out.unsqueeze(static_cast<int64_t>(d));
  }
  return out;
}

// Contracts two operands over `summed` letters by one batched matrix product.
Tensor contract(const Tensor& a, const std::string& a_letters, const Tensor& b,
                const std::string& b_letters, const std::string& kept, std::string& out_letters) {
  std::string batch, left, right, summed;
  const auto has = [](const std::string& s, char c) { return s.find(c) != std::string::npos; };
  std::string all = a_letters;
  for (const char c : b_letters) {
    if (!has(all, c)) all += c;
  }
  const auto size_in = [](const Tensor& t, const std::string& letters, char c) {
    const size_t at = letters.find(c);
    return at == std::string::npos ? int64_t{1} : t.size(static_cast<int64_t>(at));
  };
  Tensor x = a, y = b;
  std::string x_letters = a_letters, y_letters = b_letters;
  for (const char c : all) {
    const bool in_a = has(a_letters, c), in_b = has(b_letters, c), stays = has(kept, c);
    const int64_t sa = size_in(a, a_letters, c), sb = size_in(b, b_letters, c);
    TAPER_CHECK(!in_a || !in_b || sa == sb || sa == 1 || sb == 1,
                "einsum(): operands do not broadcast with remapped shapes: subscript ", c,
                " has size ", sa, " and ", sb);
    if (in_a && in_b && sa == sb) {
      (stays ? batch : summed) += c;
    } else if (in_a && (sa != 1 || !in_b)) {
      left += c;
      if (in_b)
        y = y.squeeze(static_cast<int64_t>(y_letters.find(c))),
        y_letters.erase(y_letters.find(c), 1);
    } else {
      right += c;
      if (in_a)
        x = x.squeeze(static_cast<int64_t>(x_letters.find(c))),
        x_letters.erase(x_letters.find(c), 1);
    }
  }
  const auto reorder = [](const Tensor& t, const std::string& letters, const std::string& order) {
    std::vector<int64_t> dims;
    for (const char c : order) dims.push_back(static_cast<int64_t>(letters.find(c)));
    return t.permute(dims);
  };
  const auto product = [](const Tensor& t, size_t first, size_t count) {
    int64_t n = 1;
    for (size_t d = first; d < first + count; ++d) n *= t.size(static_cast<int64_t>(d));
    return n;
  };
  out_letters = batch + left + right;
  // Nothing to sum: a product of elements, which also takes operands of different dtypes.
  if (summed.empty())
    return aligned(x, x_letters, out_letters) * aligned(y, y_letters, out_letters);
  x = reorder(x, x_letters, batch + left + summed);
  y = reorder(y, y_letters, batch + summed + right);
  const int64_t nb = product(x, 0, batch.size()), m = product(x, batch.size(), left.size()),
                k = product(x, batch.size() + left.size(), summed.size()),
                n = product(y, batch.size() + summed.size(), right.size());
  Dims shape;
  for (size_t d = 0; d < batch.size() + left.size(); ++d)
    shape.push_back(x.size(static_cast<int64_t>(d)));
  for (size_t d = 0; d < right.size(); ++d) {
    shape.push_back(y.size(static_cast<int64_t>(batch.size() + summed.size() + d)));
  }
  return x.reshape({nb, m, k}).bmm(y.reshape({nb, k, n})).view(shape);
}

}  // namespace

Tensor einsum(const std::string& equation, TensorList operands) {
  TAPER_CHECK(!operands.empty(), "einsum(): must provide at least one operand");
  const size_t arrow = equation.find("->");
  const std::vector<std::string> terms = split_terms(equation.substr(0, arrow));
  TAPER_CHECK(terms.size() == operands.size(),
              "einsum(): ", terms.size() > operands.size() ? "fewer" : "more",
              " operands were provided than specified in the equation: ", operands.size(), " for ",
              terms.size());
  int64_t hidden = 0;
  std::vector<std::string> letters;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < terms.size(); ++i) {
    std::string own = expand_ellipsis(terms[i], operands[i].dim(), 0, &hidden);
    TAPER_CHECK(static_cast<int64_t>(own.size()) == operands[i].dim(),
                "einsum(): the number of subscripts in the equation (", own.size(),
                ") does not match the number of dimensions (", operands[i].dim(), ") for operand ",
                i, " and no ellipsis was given");
    tensors.push_back(with_unique_labels(operands[i], own));
    letters.push_back(own);
  }
  std::string result;
  if (arrow != std::string::npos) {
    std::string target;
    for (const char c : equation.substr(arrow + 2)) {
      if (c != ' ') target += c;
    }
    result = expand_ellipsis(target, -1, hidden, nullptr);
  } else {
    // Implicit output: the ellipsis, then letters that occur once, in alphabetical order.
    for (int64_t i = hidden - 1; i >= 0; --i) result += static_cast<char>(kFirstHidden + i);
    std::map<char, int> count;
    for (const std::string& term : terms) {
      for (const char c : term) {
        if (c != '.') ++count[c];
      }
    }
    for (const auto& [c, n] : count) {
      if (n == 1) result += c;
    }
  }
  for (const char c : result) {
    bool found = false;
    for (const std::string& own : letters) found = found || own.find(c) != std::string::npos;
    TAPER_CHECK(found, "einsum(): output subscript ", c,
                " does not appear in the equation for any input operand");
  }
  Tensor out = tensors[0];
  std::string out_letters = letters[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    std::string kept = result;
    for (size_t j = i + 1; j < tensors.size(); ++j) kept += letters[j];
    std::string merged;
    out = contract(out, out_letters, tensors[i], letters[i], kept, merged);
    out_letters = merged;
  }
  for (size_t d = out_letters.size(); d-- > 0;) {
    if (result.find(out_letters[d]) == std::string::npos) {
      out = out.sum(static_cast<int64_t>(d));
      out_letters.erase(d, 1);
    }
  }
  return aligned(out, out_letters, result);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  check_same_device("linalg.cross", self, other);
  TAPER_CHECK(self.dim() == other.dim() || dim,
              "linalg.cross: inputs must have the same number of dimensions.");
  int64_t axis = -1;
  if (dim) {
    axis = wrap_dim(*dim, self.dim());
  } else {
    for (int64_t d = 0; d < self.dim() && axis < 0; ++d) {
      if (self.size(d) == 3) axis = d;
    }
    TAPER_CHECK(axis >= 0, "no dimension of size 3 in input");
  }
  TAPER_CHECK(self.size(axis) == 3 && other.size(axis) == 3, "linalg.cross: inputs dimension ",
              axis, " must have length 3. Got ", self.size(axis), " and ", other.size(axis));
  const auto part = [axis](const Tensor& t, int64_t i) { return t.select(axis, i); };
  return taper::stack(
      std::vector<Tensor>{part(self, 1) * part(other, 2) - part(self, 2) * part(other, 1),
                          part(self, 2) * part(other, 0) - part(self, 0) * part(other, 2),
                          part(self, 0) * part(other, 1) - part(self, 1) * part(other, 0)},
      axis);
}

// [*, p, m] and [*, r, m] -> [*, p, r]; the gradient at distance 0 is 0.
Tensor cdist(const Tensor& x1, const Tensor& x2, double p) {
  TAPER_CHECK_TYPE(x1.is_floating_point() && x2.is_floating_point(),
                   "cdist only supports floating-point dtypes, but got ", x1.scalar_type(), " and ",
                   x2.scalar_type());
  TAPER_CHECK(x1.dim() >= 2 && x2.dim() >= 2,
              "cdist only supports at least 2D tensors, X1 got: ", x1.dim(),
              "D, X2 got: ", x2.dim(), "D");
  TAPER_CHECK(x1.size(-1) == x2.size(-1),
              "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  TAPER_CHECK(p >= 0, "cdist only supports non-negative p values");
  return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, -1);
}

}  // namespace taper::ops
