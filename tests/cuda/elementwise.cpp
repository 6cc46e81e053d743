#include "elementwise.h"

#include <memory>

using namespace cuda_tests;

namespace {

Status call(const KernelTable& table, const UnaryArgs& args, Stream stream) {
  return table.unary(args, stream);
}
Status call(const KernelTable& table, const BinaryArgs& args, Stream stream) {
  return table.binary(args, stream);
}
Status call(const KernelTable& table, const TernaryArgs& args, Stream stream) {
  return table.ternary(args, stream);
}

struct Options {
  uint32_t scalar_mask = 0;
  Value scalar = 0.75;
  Value p[3] = {};
  Value alpha = 1;
  bool zeros = true;  ///< among integers of the last operand
  double slack = 1;   ///< factor on the tolerance
};

/// Runs the op on both sides; false where neither has it.
template <int N, class Op>
bool check_op(Op op, ScalarType dtype, bool answers, const Layouts& layouts,
              const Options& options = {}) {
  INFO("dtype " << dtype_name(dtype) << ", layout " << layouts.name);
  ElementwiseArgs<Op, N> args{};
  args.op = op;
  args.dtype = dtype;
  args.out_dtype = answers ? kBool : dtype;
  args.scalar_mask = options.scalar_mask;
  args.scalar = options.scalar;
  std::copy_n(options.p, 3, args.p);
  args.alpha = options.alpha;
  make_plan<N>(args.plan, layouts);

  const auto bytes_of = [](const Operand& operand, ScalarType type) {
    return static_cast<size_t>(operand.count) * element_size(type);
  };
  // What lies between the elements has to stay as it is.
  Twin<uint8_t> out(std::vector<uint8_t>(bytes_of(layouts.operands[0], args.out_dtype), 1));
  std::vector<std::unique_ptr<Twin<uint8_t>>> in;
  ElementwiseArgs<Op, N> device = args;
  const auto at = [](uint8_t* memory, const Operand& operand, ScalarType type) {
    return memory + static_cast<size_t>(operand.start) * element_size(type);
  };
  args.out = at(out.host(), layouts.operands[0], args.out_dtype);
  device.out = at(out.device(), layouts.operands[0], args.out_dtype);
  for (int k = 0; k < N; ++k) {
    const bool mask = std::is_same_v<Op, TernaryOp> && k == 0 &&
                      static_cast<int>(op) == static_cast<int>(TernaryOp::kWhere);
    const ScalarType type = mask ? kBool : dtype;
    const Operand& operand = layouts.operands[k + 1];
    in.push_back(std::make_unique<Twin<uint8_t>>(some_values(
        type, operand.count, static_cast<uint32_t>(k + 1), k + 1 < N || options.zeros)));
    if (options.scalar_mask >> k & 1) continue;
    args.in[k] = at(in[k]->host(), operand, type);
    device.in[k] = at(in[k]->device(), operand, type);
  }
  const Status expected = call(cpu_table(), args, stream_for(kCPU));
  const Status got = call(cuda_table(), device, cuda_stream());
  CHECK(got.code == expected.code);
  if (!expected.ok()) return false;
  require_ok(got);
  check_outputs(out, args.out_dtype, answers, options.slack);
  return true;
}

// Layouts that take every path of the kernels: packets with a tail, and single elements.
const std::vector<Layouts>& few_layouts() {
  static const std::vector<Layouts> few = [] {
    const std::vector<int64_t> odd = {11, 23};
    return std::vector<Layouts>{
        all_dense({1027}),
        {"strided",
         odd,
         {dense(odd), operand(odd, {1, 11}), operand(odd, {0, 1}), operand(odd, {46, -2})}}};
  }();
  return few;
}

constexpr const char* kUnaryNames[] = {
#define TAPER_NAME(name, dtypes) #name,
    TAPER_UNARY_OPS(TAPER_NAME)};
constexpr const char* kBinaryNames[] = {TAPER_BINARY_OPS(TAPER_NAME)};
constexpr const char* kTernaryNames[] = {TAPER_TERNARY_OPS(TAPER_NAME)};
constexpr char kUnaryClasses[] = {
#undef TAPER_NAME
#define TAPER_LETTER(name, dtypes) #dtypes[0],
    TAPER_UNARY_OPS(TAPER_LETTER)};
constexpr char kBinaryClasses[] = {TAPER_BINARY_OPS(TAPER_LETTER)};
#undef TAPER_LETTER

}  // namespace

TEST_CASE("every unary op gives on CUDA what it gives on the CPU") {
  for (int i = 0; i < static_cast<int>(UnaryOp::kCount); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    INFO(kUnaryNames[i]);
    Options options;
    options.p[0] = op == UnaryOp::kPowScalar ? Value(3) : Value(1.5);
    options.p[1] = 2.5;
    options.p[2] = 0.5;
    int taken = 0;
    for (const ScalarType dtype : kAllDtypes) {
      for (const Layouts& layouts : few_layouts()) {
        taken += check_op<1>(op, dtype, kUnaryClasses[i] == 'P', layouts, options);
      }
    }
    CHECK(taken >= 8);
  }
}

TEST_CASE("every binary op gives on CUDA what it gives on the CPU") {
  for (int i = 0; i < static_cast<int>(BinaryOp::kCount); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    INFO(kBinaryNames[i]);
    Options options;
    options.zeros = false;
    options.p[0] = 0.5;
    options.p[1] = 2.5;
    options.p[2] = 1.25;
    // 1 + erf(x) of a negative x has lost digits, on either side.
    if (op == BinaryOp::kGeluGrad) options.slack = 20;
    const bool answers = kBinaryClasses[i] == 'C';
    int taken = 0;
    for (const ScalarType dtype : kAllDtypes) {
      for (const Layouts& layouts : few_layouts()) {
        options.scalar_mask = 0;
        taken += check_op<2>(op, dtype, answers, layouts, options);
        options.scalar = 2.5;
        for (const uint32_t mask : {1u, 2u}) {
          options.scalar_mask = mask;
          check_op<2>(op, dtype, answers, layouts, options);
        }
      }
    }
    CHECK(taken >= 8);
  }
}

TEST_CASE("every ternary op gives on CUDA what it gives on the CPU") {
  for (int i = 0; i < static_cast<int>(TernaryOp::kCount); ++i) {
    const auto op = static_cast<TernaryOp>(i);
    INFO(kTernaryNames[i]);
    Options options;
    options.p[0] = 3;
    int taken = 0;
    for (const ScalarType dtype : kAllDtypes) {
      for (const Layouts& layouts : few_layouts()) {
        options.scalar_mask = 0;
        taken += check_op<3>(op, dtype, false, layouts, options);
        if (op != TernaryOp::kWhere) continue;
        for (const uint32_t mask : {2u, 4u}) {
          options.scalar_mask = mask;
          check_op<3>(op, dtype, false, layouts, options);
        }
      }
    }
    CHECK(taken >= 8);
  }
}

TEST_CASE("elementwise kernels reach every element of every layout, and nothing else") {
  for (const ScalarType dtype : kAllDtypes) {
    for (const Layouts& layouts : all_layouts()) {
      check_op<1>(UnaryOp::kNeg, dtype, false, layouts);
      check_op<1>(UnaryOp::kLogicalNot, dtype, true, layouts);
      check_op<1>(UnaryOp::kExp, dtype, false, layouts);
      check_op<2>(BinaryOp::kAdd, dtype, false, layouts);
      check_op<2>(BinaryOp::kLt, dtype, true, layouts);
      check_op<3>(TernaryOp::kWhere, dtype, false, layouts);
      check_op<3>(TernaryOp::kAddcmul, dtype, false, layouts);
    }
  }
}

TEST_CASE("threads go on to further elements when there are more than a grid has") {
  // The emulated card's four multiprocessors get 64 blocks: 2^14 threads.
  constexpr int64_t kThreads = 1 << 14;
  const std::vector<int64_t> matrix = {3, 2 * kThreads + 5};
  const Layouts strided = {
      "strided",
      matrix,
      {dense(matrix), operand(matrix, {1, 3}), operand(matrix, {0, 1}), operand(matrix, {1, 0})}};
  for (const ScalarType dtype : {kFloat, kByte}) {
    const int64_t packet = 16 / static_cast<int64_t>(element_size(dtype));
    const Layouts contiguous = all_dense({kThreads * packet + 3 * packet + 1});
    for (const Layouts* const layouts : {&contiguous, &strided}) {
      check_op<1>(UnaryOp::kSquare, dtype, false, *layouts);
      check_op<1>(UnaryOp::kPowScalar, dtype, false, *layouts, {.p = {2}});
      check_op<2>(BinaryOp::kMul, dtype, false, *layouts);
    }
  }
}

TEST_CASE("parameters, numbers and alpha reach CUDA's functors as the CPU's") {
  const Layouts layouts = all_dense({37});
  for (const ScalarType dtype : kAllDtypes) {
    Options options;
    options.alpha = -2;
    check_op<2>(BinaryOp::kAdd, dtype, false, layouts, options);
    options.scalar = 3;
    options.scalar_mask = 2;
    check_op<2>(BinaryOp::kSub, dtype, false, layouts, options);
    // Outside the range of the narrow integers.
    for (const int64_t low : {int64_t{-3000}, int64_t{5}, int64_t{3000}}) {
      options = {};
      options.p[0] = low;
      options.p[1] = low + 2;
      check_op<1>(UnaryOp::kClamp, dtype, false, layouts, options);
      check_op<1>(UnaryOp::kThreshold, dtype, false, layouts, options);
    }
    for (const double exponent : {0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, 2.5, -3.0}) {
      options.p[0] = exponent;
      check_op<1>(UnaryOp::kPowScalar, dtype, false, layouts, options);
    }
    // A half equals the number that it was made from.
    options = {};
    options.scalar = 0.1;
    options.scalar_mask = 2;
    check_op<2>(BinaryOp::kEq, dtype, true, layouts, options);
  }
}

TEST_CASE("an op may write over its input") {
  Twin<float> x(std::vector<float>(1000, 1.5f));
  BinaryArgs args{};
  args.op = BinaryOp::kAdd;
  args.dtype = args.out_dtype = kFloat;
  args.alpha = 1;
  make_plan<2>(args.plan, all_dense({1000}));
  args.out = x.host(), args.in[0] = x.host(), args.in[1] = x.host();
  require_ok(cpu_table().binary(args, stream_for(kCPU)));
  args.out = x.device(), args.in[0] = x.device(), args.in[1] = x.device();
  require_ok(cuda_table().binary(args, cuda_stream()));
  check_equal(x);
}

TEST_CASE("an integer divided by zero gives a rest and a quotient on CUDA, and no error") {
  const std::pair<BinaryOp, std::vector<int32_t>> rows[] = {
      {BinaryOp::kDivTrunc, {0, 0, 0, 4}},
      {BinaryOp::kDivFloor, {0, -1, 0, 4}},
      {BinaryOp::kFmod, {7, -7, 0, 1}},
      {BinaryOp::kRemainder, {7, -7, 0, 1}},
  };
  for (const auto& [op, expected] : rows) {
    Twin<int32_t> a(std::vector<int32_t>{7, -7, 0, 9}), b(std::vector<int32_t>{0, 0, 0, 2});
    Twin<int32_t> out(4, 1);
    BinaryArgs args{};
    args.op = op;
    args.dtype = args.out_dtype = kInt;
    args.out = out.device(), args.in[0] = a.device(), args.in[1] = b.device();
    make_plan<2>(args.plan, all_dense({4}));
    require_ok(cuda_table().binary(args, cuda_stream()));
    CHECK(out.download() == expected);
  }
}

TEST_CASE("an empty tensor launches nothing") {
  UnaryArgs args{};
  args.op = UnaryOp::kNeg;
  args.dtype = args.out_dtype = kFloat;
  make_plan<1>(args.plan, all_dense({3, 0}));
  require_ok(cuda_table().unary(args, cuda_stream()));
}
