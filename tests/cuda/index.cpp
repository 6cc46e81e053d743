#include "indexing.h"
#include "numbers.h"

using namespace cuda_tests;

// index_select, index_update, gather, scatter, index_get, index_put.

namespace {

constexpr ScatterOp kOps[] = {ScatterOp::kAssign, ScatterOp::kAdd, ScatterOp::kMul, ScatterOp::kMax,
                              ScatterOp::kMin};

size_t product(std::initializer_list<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes) all *= size;
  return static_cast<size_t>(all);
}

struct AxisShape {
  int64_t outer, size, inner, count;
};

template <class Index>
void select(const AxisShape& shape, int64_t offset) {
  for_every_dtype([&]<class T>(T, ScalarType dtype) {
    INFO(to_string(dtype) << " outer " << shape.outer << " size " << shape.size << " inner "
                          << shape.inner << " count " << shape.count << " offset " << offset);
    const size_t numel = product({shape.outer, shape.size, shape.inner});
    Twin<T> self(random_values<T>(numel + static_cast<size_t>(offset), dtype, 1));
    Twin<T> out(product({shape.outer, shape.count, shape.inner}));
    Twin<Index> index(random_indices<Index>(static_cast<size_t>(shape.count), 0, shape.size, 2));
    on_both([&](const KernelTable& table, Stream stream, bool device) {
      const IndexAxisArgs args{dtype,
                               sizeof(Index) == 8 ? kLong : kInt,
                               shape.outer,
                               shape.size,
                               shape.inner,
                               shape.count,
                               place(index, device)};
      return table.index_select(place(out, device), place(self, device, offset), args, stream);
    });
    check_equal(out);
  });
}

template <class T>
void update(const AxisShape& shape, ScalarType dtype, ScatterOp op, int64_t padding, Value alpha) {
  INFO(to_string(dtype) << " op " << static_cast<int>(op) << " outer " << shape.outer << " size "
                        << shape.size << " inner " << shape.inner << " count " << shape.count);
  Twin<T> self(random_values<T>(product({shape.outer, shape.size, shape.inner}), dtype, 3));
  Twin<T> source(random_values<T>(product({shape.outer, shape.count, shape.inner}), dtype, 4));
  Twin<int64_t> index(random_indices<int64_t>(static_cast<size_t>(shape.count), 0, shape.size, 5));
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    const IndexAxisArgs args{dtype,       kLong,       shape.outer,         shape.size,
                             shape.inner, shape.count, place(index, device)};
    return table.index_update(op, place(self, device), place(source, device), args, alpha, padding,
                              stream);
  });
  check_close(self, 0);  // the same numbers in the same order; NaN has many bit patterns
}

}  // namespace

TEST_CASE("CUDA selects the rows that the CPU selects") {
  for (const AxisShape& shape :
       {AxisShape{1, 1, 1, 1}, AxisShape{3, 7, 5, 11}, AxisShape{2, 9, 16, 13},
        AxisShape{1, 5, 48, 3}, AxisShape{2, 300, 1, 1025}, AxisShape{2, 3, 4, 0}}) {
    select<int64_t>(shape, 0);
    select<int32_t>(shape, 0);
  }
  select<int64_t>({2, 9, 16, 13}, 1);  // rows that are aligned to no more than an element
}

TEST_CASE("CUDA updates rows as the CPU does, whatever meets") {
  for_every_dtype([&]<class T>(T, ScalarType dtype) {
    for (const ScatterOp op : kOps) {
      update<T>({2, 5, 3, 9}, dtype, op, -1, Value(2));   // a thread along the index
      update<T>({2, 5, 16, 70}, dtype, op, 3, Value(1));  // groups, packets, padding
      update<T>({1, 3, 7, 33}, dtype, op, -1, Value(2));  // groups, single elements
    }
  });
  update<float>({1, 1, 300, 40}, kFloat, ScatterOp::kAdd, -1, Value(0.5));
  update<BFloat16>({1, 1, 1, 1}, kBFloat16, ScatterOp::kAdd, -1, Value(1));
  update<float>({1, 4, 4, 0}, kFloat, ScatterOp::kAdd, -1, Value(1));
}

TEST_CASE("CUDA combines very many updates of one element, in whatever order") {
  constexpr int64_t kTargets = 4, kCount = 1500;  // more than a thread combines alone
  for_every_dtype([&]<class T>(T, ScalarType dtype) {
    for (const int64_t inner : {1, 7, 16, 304}) {
      for (const ScatterOp op : kOps) {
        if (inner > 16 && op != ScatterOp::kAdd) continue;
        INFO(to_string(dtype) << " op " << static_cast<int>(op) << " inner " << inner);
        std::vector<T> values = whole_numbers<T>(static_cast<size_t>(kCount * inner), 4);
        for (T& value : values) {
          if (dtype == kBool) value = static_cast<T>(value != T{});
          // Of factors other than these no sum of exponents would do.
          if (op == ScatterOp::kMul && dtype != kBool) {
            value = static_cast<T>(static_cast<double>(value) > 0 ? 1.f : -1.f);
          }
        }
        std::vector<T> before = whole_numbers<T>(static_cast<size_t>(kTargets * inner), 3);
        if (dtype == kBool) std::fill(before.begin(), before.end(), T{});
        Twin<T> self(before);
        Twin<T> source(values);
        // Two long groups, a short one, and one that nobody is for.
        std::vector<int64_t> places(kCount);
        for (size_t i = 0; i < places.size(); ++i) places[i] = i % 30 == 7 ? 1 : i % 3 == 0 ? 3 : 0;
        Twin<int64_t> index(places);
        on_both([&](const KernelTable& table, Stream stream, bool device) {
          const IndexAxisArgs args{dtype, kLong, 1, kTargets, inner, kCount, place(index, device)};
          return table.index_update(op, place(self, device), place(source, device), args, Value(2),
                                    -1, stream);
        });
        check_close(self, 0);
      }
    }
  });
}

TEST_CASE("CUDA sorts many updates by more than one digit") {
  update<float>({1, 300, 1, 5000}, kFloat, ScatterOp::kAdd, 7, Value(1));
  update<Half>({2, 70000, 1, 2049}, kHalf, ScatterOp::kAdd, -1, Value(1));
  update<int32_t>({1, 2, 1, 2500}, kInt, ScatterOp::kAssign, -1, Value(1));
}

TEST_CASE("An index out of range is reported and the rest is done") {
  Twin<float> self(random_values<float>(12, kFloat, 1)), out(12, -1.f);
  Twin<int64_t> index({2, 4, 0});
  IndexAxisArgs args{kFloat, kLong, 1, 4, 3, 3, index.device()};
  require_ok(cuda_table().index_select(out.device(), self.device(), args, cuda_stream()));
  check_fault(4, 4);
  const std::vector<float> got = out.download();
  for (size_t i = 0; i < 3; ++i) {
    CHECK(got[i] == self.host()[6 + i]);
    CHECK(got[3 + i] == -1.f);
    CHECK(got[6 + i] == self.host()[i]);
  }

  Twin<int32_t> negative({1, -1, 1});
  args = {kFloat, kInt, 1, 4, 3, 3, negative.device()};
  require_ok(cuda_table().index_update(ScatterOp::kAdd, out.device(), self.device(), args, Value(1),
                                       -1, cuda_stream()));
  check_fault(-1, 4);
}

// ---- gather and scatter -------------------------------------------------------------------------

namespace {

// Self, index and values are matrices, or cuboids; the index chooses along `dim`.
struct Gathering {
  std::vector<int64_t> self_sizes, index_sizes;
  size_t dim;
  bool self_transposed = false;  // its last two dimensions lie the other way round
  int64_t index_expanded = -1;   // the index does not change along this dimension
};

std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes, bool transposed = false) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * sizes[d];
  if (transposed) {
    strides[sizes.size() - 1] = sizes[sizes.size() - 2];
    strides[sizes.size() - 2] = 1;
  }
  return strides;
}

size_t product(const std::vector<int64_t>& sizes) {
  size_t all = 1;
  for (const int64_t size : sizes) all *= static_cast<size_t>(size);
  return all;
}

GatherArgs make_args(const Gathering& g, ScalarType dtype) {
  GatherArgs args{};
  args.dtype = dtype;
  const auto self = dense_strides(g.self_sizes, g.self_transposed);
  args.size = g.self_sizes[g.dim];
  args.stride = self[g.dim];
  auto walked = self;
  walked[g.dim] = 0;
  const auto values = dense_strides(g.index_sizes);
  auto index = values;
  if (g.index_expanded >= 0) index[static_cast<size_t>(g.index_expanded)] = 0;
  make_elementwise_plan<2>(args.plan, static_cast<int>(g.index_sizes.size()), g.index_sizes.data(),
                           {values.data(), index.data(), walked.data()});
  return args;
}

const Gathering kGatherings[] = {
    {{7, 5}, {3, 5}, 0},
    {{7, 5}, {7, 40}, 1},  // more than a thread goes along
    {{6, 1}, {50, 1}, 0},
    {{6, 8}, {6, 3}, 1, true},
    {{4, 3, 8}, {2, 70, 8}, 1},
    {{4, 3, 8}, {2, 70, 8}, 1, false, 2},  // rows
    {{9, 16}, {40, 16}, 0, false, 1},
    {{9, 4}, {40, 4}, 0, false, 0},  // all of a column goes to one place
    {{5}, {1}, 0},
};

template <class T>
void run_scatter(const Gathering& gathering, ScalarType dtype, ScatterOp op, bool scalar) {
  GatherArgs args = make_args(gathering, dtype);
  args.op = op;
  args.scalar_source = scalar;
  args.scalar = dtype == kBool ? Value(1) : is_floating_point(dtype) ? Value(1.7) : Value(-3);
  Twin<T> self(random_values<T>(product(gathering.self_sizes), dtype, 6));
  Twin<T> source(random_values<T>(product(gathering.index_sizes), dtype, 7));
  Twin<int64_t> index(random_indices<int64_t>(product(gathering.index_sizes), 0, args.size, 8));
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    args.self = place(self, device);
    args.values = scalar ? nullptr : place(source, device);
    args.index = device ? index.device() : index.host();
    return table.scatter(args, stream);
  });
  check_close(self, 0);
}

}  // namespace

TEST_CASE("CUDA gathers what the CPU gathers") {
  for (const Gathering& gathering : kGatherings) {
    for_every_dtype([&]<class T>(T, ScalarType dtype) {
      INFO(to_string(dtype) << " case " << &gathering - kGatherings);
      GatherArgs args = make_args(gathering, dtype);
      Twin<T> self(random_values<T>(product(gathering.self_sizes), dtype, 6));
      Twin<T> out(product(gathering.index_sizes));
      Twin<int64_t> index(random_indices<int64_t>(product(gathering.index_sizes), 0, args.size, 8));
      on_both([&](const KernelTable& table, Stream stream, bool device) {
        args.self = place(self, device);
        args.values = place(out, device);
        args.index = device ? index.device() : index.host();
        return table.gather(args, stream);
      });
      check_equal(out);
    });
  }
}

TEST_CASE("CUDA scatters as the CPU does, whatever meets") {
  for (const Gathering& gathering : kGatherings) {
    for_every_dtype([&]<class T>(T, ScalarType dtype) {
      for (const ScatterOp op : kOps) {
        INFO(to_string(dtype) << " op " << static_cast<int>(op) << " case "
                              << &gathering - kGatherings);
        run_scatter<T>(gathering, dtype, op, false);
        // A number in place of values makes a difference to loads alone.
        if (op == ScatterOp::kAssign || op == ScatterOp::kAdd) {
          run_scatter<T>(gathering, dtype, op, true);
        }
      }
    });
  }
}

TEST_CASE("gather and scatter report an index out of range") {
  GatherArgs args = make_args({{4, 3}, {2, 3}, 0}, kFloat);
  Twin<float> self(random_values<float>(12, kFloat, 1)), values(random_values<float>(6, kFloat, 2));
  Twin<int64_t> index({0, 1, 2, 3, 0, 1});
  index.host()[4] = -2;
  index.upload();
  args.self = self.device();
  args.values = values.device();
  args.index = index.device();
  require_ok(cuda_table().gather(args, cuda_stream()));
  check_fault(-2, 4);
  args.op = ScatterOp::kAssign;
  require_ok(cuda_table().scatter(args, cuda_stream()));
  check_fault(-2, 4);
  args.op = ScatterOp::kAdd;
  require_ok(cuda_table().scatter(args, cuda_stream()));
  check_fault(-2, 4);
}

// ---- index_get and index_put --------------------------------------------------------------------

namespace {

struct Dimension {
  int64_t size, values, self;
  std::vector<int64_t> index;  // strides of the index tensors
};

// A dense self of self_sizes, whose dimensions `dims` are indexed; the positions innermost first.
struct Advanced {
  std::vector<int64_t> self_sizes;
  std::vector<size_t> dims;
  std::vector<Dimension> positions;
  size_t values, indices;  // elements of the values, and of each index tensor
};

const Advanced kAdvanced[] = {
    // x[i], i of 50 with duplicates: rows of 16 elements
    {{9, 16}, {0}, {{16, 1, 1, {0}}, {50, 16, 0, {1}}}, 800, 50},
    // x[:, i], few
    {{3, 7}, {1}, {{5, 1, 0, {1}}, {3, 5, 7, {0}}}, 15, 5},
    // x[i, j] with all elements of their own
    {{6, 8}, {0, 1}, {{77, 1, 0, {1, 1}}}, 77, 77},
    // x[i, :, j], i a column and j a row, values stretched over one dimension
    {{5, 3, 4}, {0, 2}, {{3, 1, 4, {0, 0}}, {6, 3, 0, {0, 1}}, {7, 0, 0, {1, 0}}}, 18, 7},
    // x[i, j, k], rows of 4
    {{3, 4, 5, 4}, {0, 1, 2}, {{4, 1, 1, {0, 0, 0}}, {40, 4, 0, {1, 1, 1}}}, 160, 40},
    // x[i] of one index
    {{6, 3}, {0}, {{3, 1, 1, {0}}}, 3, 1},
};

template <class T>
void run_advanced(const Advanced& a, ScalarType dtype, bool get, bool accumulate) {
  AdvancedIndexArgs args{};
  args.dtype = dtype;
  args.count = static_cast<int32_t>(a.dims.size());
  args.plan.numel = 1;
  const auto strides = dense_strides(a.self_sizes);
  for (const Dimension& dimension : a.positions) {
    const int d = args.plan.rank++;
    args.plan.numel *= dimension.size;
    args.plan.sizes[d] = dimension.size;
    args.plan.strides[0][d] = get && dimension.values == 0 ? 18 : dimension.values;
    args.plan.strides[1][d] = dimension.self;
    for (size_t k = 0; k < a.dims.size(); ++k) args.index_strides[k][d] = dimension.index[k];
  }
  Twin<T> self(random_values<T>(product(a.self_sizes), dtype, 9));
  Twin<T> values(
      random_values<T>(get ? static_cast<size_t>(args.plan.numel) : a.values, dtype, 10));
  std::vector<std::unique_ptr<Twin<int64_t>>> indices;
  for (size_t k = 0; k < a.dims.size(); ++k) {
    const int64_t size = a.self_sizes[a.dims[k]];
    indices.push_back(std::make_unique<Twin<int64_t>>(
        random_indices<int64_t>(a.indices, -size, size, 11 + static_cast<uint32_t>(k))));
    args.self_sizes[k] = size;
    args.self_strides[k] = strides[a.dims[k]];
  }
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    args.self = place(self, device);
    args.values = place(values, device);
    for (size_t k = 0; k < indices.size(); ++k) {
      args.indices[k] = device ? indices[k]->device() : indices[k]->host();
    }
    return get ? table.index_get(args, stream) : table.index_put(args, accumulate, stream);
  });
  check_close(get ? values : self, 0);
}

}  // namespace

TEST_CASE("CUDA reads and writes by index tensors as the CPU does") {
  for (const Advanced& a : kAdvanced) {
    for_every_dtype([&]<class T>(T, ScalarType dtype) {
      INFO(to_string(dtype) << " case " << &a - kAdvanced);
      run_advanced<T>(a, dtype, true, false);
      run_advanced<T>(a, dtype, false, false);
      run_advanced<T>(a, dtype, false, true);
    });
  }
}

TEST_CASE("index_get and index_put report an index out of range") {
  Twin<float> self(random_values<float>(12, kFloat, 1)), values(random_values<float>(2, kFloat, 2));
  Twin<int64_t> row(std::vector<int64_t>{-4, 1}), column(std::vector<int64_t>{1, 3});
  AdvancedIndexArgs args{};
  args.dtype = kFloat;
  args.self = self.device();
  args.values = values.device();
  args.plan = {2, 1, false, {2}, {{1}, {0}}};
  args.count = 2;
  args.indices[0] = row.device();
  args.indices[1] = column.device();
  args.index_strides[0][0] = args.index_strides[1][0] = 1;
  args.self_sizes[0] = 4;
  args.self_sizes[1] = 3;
  args.self_strides[0] = 3;
  args.self_strides[1] = 1;
  require_ok(cuda_table().index_get(args, cuda_stream()));
  check_fault(3, 3);
  require_ok(cuda_table().index_put(args, true, cuda_stream()));
  check_fault(3, 3);
  // One index tensor, which is not added up first.
  row.host()[0] = -5;
  row.upload();
  args.count = 1;
  require_ok(cuda_table().index_put(args, false, cuda_stream()));
  check_fault(-5, 4);
}
