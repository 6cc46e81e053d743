#include "elementwise.h"

using namespace cuda_tests;

namespace {

std::vector<uint8_t> values_to_cast(ScalarType from, ScalarType to, int64_t count) {
  std::vector<uint8_t> bytes = some_values(from, count, 1);
  // A floating number outside an integer's range has no right answer.
  if (!is_floating_point(from) || !is_integral(to, false)) return bytes;
  visit_dtype(from, [&](auto zero) {
    using T = decltype(zero);
    T* const values = reinterpret_cast<T*>(bytes.data());
    for (int64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(values[i]);
      if (!(value >= -4 && value <= 4)) values[i] = static_cast<T>(2.5f);
      if (value < 0 && to == kByte) values[i] = static_cast<T>(static_cast<float>(-value));
    }
  });
  return bytes;
}

void check_copy(ScalarType to, ScalarType from, const Layouts& layouts) {
  INFO(dtype_name(from) << " to " << dtype_name(to) << ", layout " << layouts.name);
  const Operand& out_operand = layouts.operands[0];
  const Operand& in_operand = layouts.operands[1];
  Twin<uint8_t> out(
      std::vector<uint8_t>(static_cast<size_t>(out_operand.count) * element_size(to), 1));
  Twin<uint8_t> in(values_to_cast(from, to, in_operand.count));
  CopyArgs args{};
  args.out_dtype = to;
  args.in_dtype = from;
  make_plan<1>(args.plan, layouts);
  const size_t to_start = static_cast<size_t>(out_operand.start) * element_size(to);
  const size_t from_start = static_cast<size_t>(in_operand.start) * element_size(from);
  args.out = out.host() + to_start;
  args.in = in.host() + from_start;
  require_ok(cpu_table().copy(args, stream_for(kCPU)));
  args.out = out.device() + to_start;
  args.in = in.device() + from_start;
  require_ok(cuda_table().copy(args, cuda_stream()));
  check_outputs(out, to, to == from);
}

}  // namespace

TEST_CASE("a copy moves every dtype between all layouts") {
  for (const ScalarType dtype : kAllDtypes) {
    for (const Layouts& layouts : all_layouts()) check_copy(dtype, dtype, layouts);
  }
}

TEST_CASE("a copy casts every dtype to every other, dense, strided and transposed") {
  const std::vector<int64_t> square = {41, 37};
  const Layouts kinds[] = {
      all_dense({131}),
      {"strided", square, {operand(square, {80, 2}), operand(square, {-2, 90}), {}, {}}},
      {"transposed", square, {dense(square), operand(square, {1, 41}), {}, {}}}};
  for (const ScalarType to : kAllDtypes) {
    for (const ScalarType from : kAllDtypes) {
      for (const Layouts& layouts : kinds) check_copy(to, from, layouts);
    }
  }
}

TEST_CASE("tiles of a transposed copy fit every edge and batch") {
  for (const int64_t rows : {8, 31, 32, 33, 64, 65}) {
    for (const int64_t columns : {9, 32, 70}) {
      const std::vector<int64_t> sizes = {2, rows, columns};
      for (const int64_t step : {1, -1}) {
        const Layouts layouts = {
            "transposed in a batch",
            sizes,
            {dense(sizes), operand(sizes, {rows * columns, step, rows}), {}, {}}};
        check_copy(kFloat, kFloat, layouts);
        check_copy(kByte, kByte, layouts);
      }
    }
  }
  // Channels last to channels first, and the other way.
  const std::vector<int64_t> planes = {2, 20, 5, 9};
  check_copy(kHalf, kHalf,
             {"channels", planes, {dense(planes), operand(planes, {900, 1, 180, 20}), {}, {}}});
  check_copy(kDouble, kDouble,
             {"channels", planes, {operand(planes, {900, 1, 180, 20}), dense(planes), {}, {}}});
}

TEST_CASE("a double becomes a half in one rounding") {
  // Just above the middle between two halves: by way of float it would be the middle.
  for (const ScalarType half : {kHalf, kBFloat16}) {
    const double last = half == kHalf ? 0x1p-11 : 0x1p-8;
    const std::vector<double> numbers = {1 + last + 0x1p-40, 1 + last, 1 + last - 0x1p-40,
                                         -1 - last - 0x1p-40};
    Twin<uint8_t> out(std::vector<uint8_t>(8));
    Twin<double> in(numbers);
    CopyArgs args{};
    args.out_dtype = half;
    args.in_dtype = kDouble;
    make_plan<1>(args.plan, all_dense({4}));
    args.out = out.host(), args.in = in.host();
    require_ok(cpu_table().copy(args, stream_for(kCPU)));
    args.out = out.device(), args.in = in.device();
    require_ok(cuda_table().copy(args, cuda_stream()));
    check_equal(out);
  }
}
