#include "taper/data/transforms.h"

#include "support.h"

using namespace data_test;
namespace transforms = data::transforms;
namespace datasets = data::datasets;

namespace {

// Transforms of samples, reached without the way that makes whole batches: a dataset that only has
// `get`.
template <class D>
class OneByOne : public datasets::Dataset<OneByOne<D>, typename D::ExampleType> {
 public:
  explicit OneByOne(D dataset) : dataset_(std::move(dataset)) {}
  typename D::ExampleType get(size_t index) override { return dataset_.get(index); }
  std::optional<size_t> size() const override { return dataset_.size(); }

 private:
  D dataset_;
};

datasets::LabeledTensorDataset images(int64_t n = 6, ScalarType dtype = kFloat) {
  return {counting({n, 3, 4, 4}, dtype), arange(n)};
}

const std::vector<size_t> kSome = {4, 0, 3, 3};

// The same batch both ways.
template <class D, class T>
void check_both_ways(D dataset, T transform) {
  auto whole = dataset.map(transform).map(transforms::Stack<>());
  auto single = OneByOne<D>(dataset).map(transform).map(transforms::Stack<>());
  static_assert(datasets::StackedDataset<D>);
  static_assert(!datasets::StackedDataset<OneByOne<D>>);
  data::DataLoader a(whole, {.batch_size = 4});
  data::DataLoader b(single, {.batch_size = 4});
  manual_seed(5);
  std::vector<data::Example<>> first, second;
  for (auto& batch : a) first.push_back(batch);
  manual_seed(5);
  for (auto& batch : b) second.push_back(batch);
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    CHECK(same_bytes(first[i].data.contiguous(), second[i].data.contiguous()));
    CHECK(same_bytes(first[i].target, second[i].target));
  }
}

}  // namespace

TEST_CASE("Transforms give the same batch at once and sample by sample") {
  check_both_ways(images(), transforms::Normalize<>({0.5, 1.5, 2.5}, {1, 2, 4}));
  check_both_ways(images(), transforms::Normalize<>(0.5, 3));
  check_both_ways(images(6, kDouble), transforms::Normalize<>(0.5, 3));
  check_both_ways(images(6, kLong), transforms::Normalize<>(0.5, 3));
  check_both_ways(images(), transforms::TensorLambda<>([](Tensor x) { return x.mul(2); }));
  check_both_ways(images(), transforms::RandomHorizontalFlip());
  check_both_ways(images(), transforms::RandomCrop(3, 1));
  check_both_ways(images(), transforms::Compose(transforms::RandomHorizontalFlip(),
                                                transforms::RandomCrop(4, 2),
                                                transforms::Normalize({0.5}, {2})));
  check_both_ways(datasets::LabeledTensorDataset(counting({6, 4, 3}, kByte), arange(6)),
                  transforms::ToTensor());
  // One channel's numbers on images without a channel dimension add one.
  check_both_ways(datasets::LabeledTensorDataset(counting({6, 4, 3}, kFloat), arange(6)),
                  transforms::Normalize<>(0.5, 2));
}

TEST_CASE("A transform that overrides apply is applied sample by sample") {
  struct Relabel : transforms::TensorTransform<> {
    Tensor operator()(Tensor input) override { return input; }
    data::Example<> apply(data::Example<> example) override {
      example.target = example.target + 100;
      return example;
    }
  };
  auto dataset = images().map(Relabel());
  static_assert(!datasets::StackedDataset<decltype(dataset)>);
  auto batch = dataset.map(transforms::Stack<>()).get_batch(kSome);
  CHECK(ints(batch.target) == std::vector<int64_t>{104, 100, 103, 103});
}

TEST_CASE("Normalize subtracts and divides per channel") {
  transforms::Normalize<> normalize({1., 2.}, {2., 4.});
  const Tensor out = normalize(full({2, 1, 1}, 5.0));
  CHECK(out[0].item<float>() == 2.0f);
  CHECK(out[1].item<float>() == 0.75f);
  CHECK_THROWS_AS(transforms::Normalize<>(0.5, 0.0), ValueError);
  CHECK_THROWS_AS(transforms::Normalize<>({}, {}), ValueError);
}

TEST_CASE("ToTensor scales grey levels and puts channels first") {
  transforms::ToTensor to_tensor;
  const Tensor grey = to_tensor(full({4, 5}, 255, kByte));
  CHECK(grey.sizes() == IntArrayRef({1, 4, 5}));
  CHECK(grey.max().item<float>() == 1.0f);
  const Tensor colour = to_tensor(counting({4, 5, 3}, kByte));
  CHECK(colour.sizes() == IntArrayRef({3, 4, 5}));
  CHECK(colour.index({1, 0, 2}).item<float>() == 7.0f / 255);
  const Tensor floats = full({2}, 0.25);
  CHECK(to_tensor(floats).is_same(floats));
  CHECK_THROWS_AS(to_tensor(counting({3, 4, 50}, kByte)), ValueError);
  CHECK_THROWS_AS(to_tensor(counting({3, 4}, kLong)), TypeError);
}

TEST_CASE("Random crops and flips stay inside the image") {
  manual_seed(1);
  const Tensor image = counting({1, 4, 4}, kFloat);
  bool flipped = false, kept = false;
  std::map<float, int> corners;
  for (int i = 0; i < 200; ++i) {
    const Tensor flip = transforms::RandomHorizontalFlip()(image);
    (flip.index({0, 0, 0}).item<float>() == 3 ? flipped : kept) = true;
    const Tensor crop = transforms::RandomCrop(3)(image);
    REQUIRE(crop.sizes() == IntArrayRef({1, 3, 3}));
    ++corners[crop.index({0, 0, 0}).item<float>()];
  }
  CHECK((flipped && kept));
  CHECK(corners.size() == 4);
  for (const float corner : {0, 1, 4, 5}) CHECK(corners[corner] > 20);
  CHECK(equal(transforms::RandomHorizontalFlip(0)(image), image));
  CHECK(equal(transforms::RandomHorizontalFlip(1)(image), image.flip({-1})));
  CHECK(equal(transforms::RandomCrop(4)(image), image));
  CHECK_THROWS_AS(transforms::RandomCrop(5)(image), ValueError);
  CHECK_THROWS_AS(transforms::RandomCrop(0), ValueError);
  CHECK_THROWS_AS(transforms::RandomHorizontalFlip(1.5), ValueError);
}

TEST_CASE("Outside a loader random transforms follow manual_seed") {
  const auto draw = [] {
    manual_seed(9);
    std::vector<int64_t> numbers;
    for (int i = 0; i < 5; ++i) numbers.push_back(data::sample_random().integer(1000));
    return numbers;
  };
  const auto numbers = draw();
  CHECK(numbers == draw());
  CHECK(std::set<int64_t>(numbers.begin(), numbers.end()).size() > 1);
}

TEST_CASE("Stack collates tensors and numbers, and names samples that differ") {
  transforms::Stack<> stack;
  CHECK_THAT(error_of<ValueError>([&] {
               stack.apply_batch(
                   {{counting({2}, kFloat), full({}, 0)}, {counting({3}, kFloat), full({}, 0)}});
             }),
             ContainsSubstring("sample 0 of the batch has [2] and sample 1 has [3]"));
  CHECK_THROWS_AS(stack.apply_batch({}), ValueError);
  transforms::Stack<data::Example<Tensor, int>> numbers;
  const data::Example<> batch = numbers.apply_batch({{full({2}, 1.0), 7}, {full({2}, 2.0), -1}});
  CHECK(batch.target.scalar_type() == kLong);
  CHECK(ints(batch.target) == std::vector<int64_t>{7, -1});
  transforms::Stack<data::TensorExample> alone;
  CHECK(alone.apply_batch({full({2}, 1.0), full({2}, 2.0)}).data.sizes() == IntArrayRef({2, 2}));
}

TEST_CASE("Lambda, BatchLambda and Collate as in LibTorch") {
  using Example = data::Example<>;
  auto dataset =
      Numbers(5)
          .map(transforms::Lambda<Example>([](Example e) { return Example(e.data + 1, e.target); }))
          .map(transforms::BatchLambda<std::vector<Example>, std::vector<Example>>(
              [](std::vector<Example> batch) {
                batch.pop_back();
                return batch;
              }))
          .map(transforms::Collate<int, std::vector<Example>>([](std::vector<Example> batch) {
            int sum = 0;
            for (const Example& e : batch) sum += e.data.item<int>();
            return sum;
          }));
  CHECK(dataset.get_batch(std::vector<size_t>{0, 1, 2}) == 3);
  CHECK(dataset.size() == 5u);
}

TEST_CASE("Tensor datasets") {
  datasets::TensorDataset rows(counting({4, 2}, kFloat));
  CHECK(ints(rows.get(2).data) == std::vector<int64_t>{4, 5});
  CHECK(ints(rows.get_stacked(std::vector<size_t>{3, 0}).data) == std::vector<int64_t>{6, 7, 0, 1});
  datasets::TensorDataset stacked(std::vector<Tensor>{full({2}, 1.0), full({2}, 2.0)});
  CHECK(stacked.size() == 2u);
  CHECK_THROWS_AS(datasets::TensorDataset(full({}, 1.0)), ValueError);
  CHECK_THAT(error_of<ValueError>(
                 [] { datasets::LabeledTensorDataset(counting({4}, kFloat), arange(3)); }),
             ContainsSubstring("data has 4 samples and targets have 3"));
}
