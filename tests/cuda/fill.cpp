#include "elementwise.h"

using namespace cuda_tests;

TEST_CASE("fill writes one number to every layout") {
  for (const ScalarType dtype : kAllDtypes) {
    for (const Layouts& layouts : all_layouts()) {
      for (const Value value : {Value(1), Value(-3), Value(0.1)}) {
        INFO(dtype_name(dtype) << ", layout " << layouts.name << ", value " << value.d);
        const Operand& operand = layouts.operands[0];
        const size_t size = element_size(dtype), start = static_cast<size_t>(operand.start) * size;
        Twin<uint8_t> out(std::vector<uint8_t>(static_cast<size_t>(operand.count) * size, 7));
        FillArgs args{};
        args.dtype = dtype;
        args.value = value;
        make_plan<0>(args.plan, layouts);
        args.out = out.host() + start;
        require_ok(cpu_table().fill(args, stream_for(kCPU)));
        args.out = out.device() + start;
        require_ok(cuda_table().fill(args, cuda_stream()));
        check_equal(out);
      }
    }
  }
}

TEST_CASE("range counts up, down and from both ends") {
  struct Range {
    Value start, step, end;
    bool symmetric;
  };
  const Range ranges[] = {{0, 1, 0, false},    {5, -2, 0, false},     {0.25, 0.1, 0, false},
                          {-3, 0.25, 3, true}, {1e9, 1e7, 2e9, true}, {100, -1, 50, true}};
  for (const ScalarType dtype : kAllDtypes) {
    for (const Range& range : ranges) {
      // Numbers outside an integer's range have no right answer.
      if (range.start.d > 200 && is_integral(dtype, false) && element_size(dtype) < 8) continue;
      if (range.start.d < 0 && dtype == kByte) continue;
      // The last: more packets than the emulated card's grid has threads.
      for (const int64_t count : {0, 1, 2, 15, 16, 17, 50, (1 << 18) + 17}) {
        if (count > 50 && (dtype != kByte || range.symmetric)) continue;
        for (const size_t start : {0, 1}) {
          INFO(dtype_name(dtype) << " from " << range.start.d << ", " << count);
          const size_t size = element_size(dtype);
          Twin<uint8_t> out(
              std::vector<uint8_t>((static_cast<size_t>(count) + start + 1) * size, 1));
          const auto run = [&](const KernelTable& table, uint8_t* memory, Stream stream) {
            require_ok(table.range(memory + start * size, dtype, count, range.start, range.step,
                                   range.end, range.symmetric, stream));
          };
          run(cpu_table(), out.host(), stream_for(kCPU));
          run(cuda_table(), out.device(), cuda_stream());
          check_outputs(out, dtype, false);
        }
      }
    }
  }
}

TEST_CASE("triangle keeps one side of the diagonal") {
  struct Shape {
    int64_t batch, rows, cols;
  };
  for (const Shape shape : {Shape{1, 5, 5}, Shape{3, 4, 7}, Shape{2, 33, 3}, Shape{1, 1, 40},
                            Shape{2, 40, 1}, Shape{0, 3, 3}}) {
    for (const int64_t diagonal : {0, 1, -2, 6, 100, -100}) {
      for (const bool lower : {true, false}) {
        for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kBool}) {
          for (const size_t start : {0, 1}) {
            INFO(shape.batch << " x " << shape.rows << " x " << shape.cols << ", diagonal "
                             << diagonal << ", lower " << lower << ", " << dtype_name(dtype));
            const auto count = shape.batch * shape.rows * shape.cols;
            const size_t size = element_size(dtype);
            Twin<uint8_t> in(some_values(dtype, count + 2, 5));
            Twin<uint8_t> out(std::vector<uint8_t>(in.size(), 1));
            const auto run = [&](const KernelTable& table, uint8_t* to, const uint8_t* from,
                                 Stream stream) {
              require_ok(table.triangle(to + start * size, from + start * size, dtype, shape.batch,
                                        shape.rows, shape.cols, diagonal, lower, stream));
            };
            run(cpu_table(), out.host(), in.host(), stream_for(kCPU));
            run(cuda_table(), out.device(), in.device(), cuda_stream());
            check_equal(out);
          }
        }
      }
    }
  }
}
