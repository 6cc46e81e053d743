#include "support/rows.h"
#include "taper/nn/nn.h"

// Sizes and numbers that do not fit: an error, never a wrapped size or value.

using namespace taper;
using namespace support;

namespace {

constexpr int64_t kHuge = (int64_t{1} << 62) + 1;

Tensor stretched(IntArrayRef sizes) { return ones({1}).expand(sizes); }
Tensor bytes() { return ones({2}, kByte); }
Tensor halves(int64_t count) { return ones({count}, kHalf); }

}  // namespace

TEST_CASE("overflow: a result's size") {
  const char* const words = "Storage size calculation overflowed with sizes=";
  std::vector<ErrorRow> rows{
      THROWS(stretched({kHuge}).clone(), "clone: Storage size"),
      THROWS(stretched({kHuge}).contiguous(), words),
      THROWS(stretched({kHuge}) + 1, "add: Storage size"),
      THROWS(stretched({kHuge}).exp(), "exp: Storage size"),
      THROWS(stretched({kHuge}).to(kDouble), "to: Storage size"),
      THROWS(stretched({kHuge}).repeat({2}), "repeat: Storage size"),
      THROWS(ones({1}).repeat({kHuge}), words),
      THROWS(ones({1}).repeat_interleave(kHuge), words),
      THROWS(stretched({int64_t{1} << 32, int64_t{1} << 32}), "expand: Storage size"),
      THROWS(cat({stretched({kHuge}), stretched({kHuge})}), "torch.cat(): Storage size"),
      THROWS(stack({stretched({kHuge}), stretched({kHuge})}), "stack: Storage size"),
      THROWS(outer(stretched({int64_t{1} << 40}), stretched({int64_t{1} << 40})), words),
      THROWS(meshgrid({stretched({int64_t{1} << 40}), stretched({int64_t{1} << 40})}), words),
      THROWS(mm(stretched({int64_t{1} << 31, 1}), stretched({1, int64_t{1} << 31})),
             "mm: Storage size"),
      THROWS(cdist(stretched({int64_t{1} << 31, 1}), stretched({int64_t{1} << 31, 1})), words),
      THROWS(triu(stretched({int64_t{1} << 31, int64_t{1} << 31})), words),
      THROWS(bernoulli(stretched({kHuge})), words),
      THROWS(zeros({int64_t{1} << 62, 0}).sum(1), words),
      THROWS(zeros({int64_t{1} << 62, 0}).mm(zeros({0, 4})), words),
      THROWS(constant_pad_nd(ones({1}), {INT64_MAX, INT64_MAX}), "constant_pad_nd: Storage size"),
      THROWS(constant_pad_nd(ones({1}), {INT64_MAX / 2, INT64_MAX / 2}), words),
      THROWS(one_hot(tensor({int64_t{1} << 62})), words),
      THROWS(one_hot(tensor({INT64_MAX})), "Storage size calculation overflowed"),
      THROWS(bincount(tensor({INT64_MAX})), "Storage size calculation overflowed"),
      THROWS(repeat_interleave(ones({2}), tensor({int64_t{1} << 62, int64_t{1} << 62})),
             "Storage size calculation overflowed"),
      THROWS(ones({1}).as_strided({int64_t{1} << 40}, {int64_t{1} << 40}), words),
      THROWS(empty_strided({2, 2}, {int64_t{1} << 62, int64_t{1} << 62}), words),
      THROWS(arange(0, 9e18), "arange: invalid size"),
      THROWS(arange(INT64_MIN, INT64_MAX), "arange: invalid size"),
      THROWS(nn::Linear(int64_t{1} << 32, int64_t{1} << 32), words),
  };
  check_rows(rows);
}

TEST_CASE("overflow: tensors without elements may have large sizes") {
  const int64_t large = int64_t{1} << 40;
  CHECK(zeros({large, 0, large}).numel() == 0);
  CHECK(zeros({int64_t{1} << 62, 0}).softmax(0).numel() == 0);
  CHECK(zeros({1, 0}).repeat({large, large}).sizes() == IntArrayRef({large, 0}));
  CHECK(zeros({0, 1, 1}).expand({0, large, large}).numel() == 0);
  check_rows(std::vector<ErrorRow>{
      THROWS(zeros({int64_t{1} << 40, int64_t{1} << 40, 0}), "Storage size calculation overflowed"),
      THROWS(zeros({0, int64_t{1} << 40, int64_t{1} << 40}), "Stride calculation overflowed"),
  });
}

TEST_CASE("overflow: steps beyond the end") {
  CHECK(near(arange(6).view({2, 3}).slice(1, 1, 3, INT64_MAX), {1, 4}));
  CHECK(arange(4).unfold(0, 2, INT64_MAX).sizes() == IntArrayRef({1, 2}));
}

TEST_CASE("overflow: numbers that the dtype does not hold") {
  const char* const to_float = "value cannot be converted to type float without overflow";
  const char* const to_byte = "value cannot be converted to type uint8_t without overflow";
  const char* const to_half = "value cannot be converted to type c10::Half without overflow";
  check_rows(std::vector<ErrorRow>{
      THROWS(full({1}, 1e50), to_float),
      THROWS(full({2}, 300, kByte), to_byte),
      THROWS(full({2}, -256, kByte), to_byte),
      THROWS(full({2}, -1.5, kByte), to_byte),
      THROWS(full({2}, 128, kChar), "value cannot be converted to type int8_t without overflow"),
      THROWS(full({2}, 3e9, kInt), "value cannot be converted to type int without overflow"),
      THROWS(full({1}, kNan, kLong), "value cannot be converted to type int64_t without overflow"),
      THROWS(full({1}, 0x1p63, kLong),
             "value cannot be converted to type int64_t without overflow"),
      THROWS(full({2}, 65505, kHalf), to_half),
      THROWS(full({2}, 3.4e38, kBFloat16), "c10::BFloat16 without overflow"),
      THROWS(full_like(bytes(), 300), to_byte),
      THROWS(scalar_tensor(300, kByte), to_byte),
      THROWS(tensor(300, kByte), to_byte),
      THROWS(tensor({1, 300}, kByte), to_byte),
      THROWS(bytes().fill_(300), to_byte),
      THROWS(masked_fill(bytes(), tensor({true, false}), 300), to_byte),
      THROWS(bytes().index_put_({tensor({0})}, 300), to_byte),
      THROWS(index_fill(bytes(), 0, tensor({0}), 300), to_byte),
      THROWS(scatter(bytes(), 0, tensor({0}), 300), to_byte),
      THROWS(where(tensor({true, false}), bytes(), 300), to_byte),
      THROWS(constant_pad_nd(bytes(), {1, 1}, 300), to_byte),
      THROWS(add(bytes(), bytes(), 300), to_byte),
      THROWS(index_add(bytes(), 0, tensor({0}), ones({1}, kByte), 300), to_byte),
      THROWS(pow(bytes(), 300), to_byte),
      THROWS(add(ones({2}), ones({2}), 1e50), to_float),
      THROWS(clamp(ones({2}), -1e50, 1e50), to_float),
      THROWS(addcmul(ones({2}), ones({2}), ones({2}), 1e50), to_float),
      THROWS(addmm(ones({2, 2}), ones({2, 2}), ones({2, 2}), 1, 1e50), to_float),
      THROWS(lerp(ones({2}), ones({2}), 1e50), to_float),
      THROWS(threshold(ones({2}), 0, 1e50), to_float),
      THROWS(leaky_relu(ones({2}), 1e50), to_float),
      THROWS(linspace(0, 300, 4, kByte), to_byte),
      THROWS(arange(0, 1e30, 1e29, kLong), "int64_t without overflow"),
      THROWS(tensor(300).item<uint8_t>(), to_byte),
      THROWS(Scalar(1e10).toInt(), "value cannot be converted to type int without overflow"),
      THROWS(Scalar(1e50).toFloat(), to_float),
  });
}

TEST_CASE("overflow: a number in a tensor that the dtype does not hold") {
  CPU_ONLY("on a device, to look at it would be to wait for it");
  check_rows(std::vector<ErrorRow>{
      THROWS(masked_fill(bytes(), tensor({true, false}), tensor(300)),
             "value cannot be converted to type uint8_t without overflow"),
  });
}

TEST_CASE("overflow: where PyTorch wraps or lets a number become infinite") {
  check_rows(std::vector<ValueRow>{
      GIVES(full({1}, -1, kByte), {255}),
      GIVES(full({1}, -255, kByte), {1}),
      GIVES(full({2}, kInf, kHalf), {kInf, kInf}),
      GIVES(full({1}, kNan, kBool), {1}),
      GIVES(full({1}, 300, kBool), {1}),
      GIVES(full({1}, 65504, kHalf), {65504}),
      GIVES(full({1}, 1e5, kHalf), {kInf}),
      GIVES(tensor({1e5, 1.}, kHalf), {kInf, 1}),
      GIVES(scatter(bytes(), 0, tensor({0}), -1), {255, 1}),
      GIVES(bytes() + 300, {45, 45}),
      GIVES(bytes() * 300, {44, 44}),
      GIVES(ones({1}) + 1e50, {kInf}),
      GIVES(halves(2) * 1e6, {kInf, kInf}),
      GIVES(clamp(bytes(), 0, 300), {1, 1}),
      GIVES(bytes().lt(300), {1, 1}),
      GIVES(arange(0, 1000, 300, kByte), {0, 44, 88, 132}),
      GIVES(tensor(300).to(kByte), {44}),
      GIVES(pow(ones({1}), 1e50), {1}),
      GIVES(median(zeros({0}, kByte)), {0}),
      GIVES(median(zeros({0}, kInt)), {-0x1p31}),
  });
  CHECK(Scalar(-1).to<uint8_t>() == 255);
  CHECK(std::isinf(Scalar(kInf).toFloat()));
}
