#include <algorithm>
#include <set>
#include <sstream>

#include "op_table/compare.h"
#include "op_table/gradients.h"
#include "op_table/op_table.h"

// What a row's cases are put through. Failures are collected: one wrong case does not hide the
// next.

namespace op_table {
namespace {

std::vector<const Table*>& tables() {
  static std::vector<const Table*> list;
  return list;
}

class RowTest {
 public:
  RowTest(const Row& row, const GoldenRow& golden) : row_(row), golden_(golden) {}

  void run() {
    for (const Case& c : golden_.cases) {
      case_ = &c;
      if (row_.options.free_integers && integers()) continue;
      guard("values", [&] { values(Layout::kContiguous); });
      if (c.outcome != Case::Outcome::kValues || refused()) continue;
      const bool narrow = c.tag != "dtypes" || c.inputs[0].dtype == kFloat;
      if (row_.options.layouts && narrow && !c.has_gradients()) {
        guard("transposed inputs", [&] { values(Layout::kTransposed); });
        guard("stepped inputs", [&] { values(Layout::kStepped); });
        guard("expanded inputs", [&] { expanded(); });
      }
      if ((c.tag == "dtypes" || c.tag == "shapes") && !c.outputs.empty()) {
        guard("in place", [&] { in_place(); });
        guard("out", [&] { out_form(); });
      }
      if (c.tag == "dtypes" && golden_.elementwise) guard("many elements", [&] { tiled(); });
      if (c.has_gradients()) {
        for (const auto& [what, wrong] : check_gradients(row_, c)) fail(what, wrong);
      }
    }
    INFO(report_.str());
    CHECK(failures_ == 0);
  }

 private:
  template <class Body>
  void guard(const char* what, Body body) {
    try {
      body();
    } catch (const std::exception& error) {
      fail(what, std::string("throws: ") + error.what());
    }
  }

  void fail(const std::string& what, const std::string& message) {
    if (message.empty()) return;
    if (++failures_ > 12) return;
    report_ << "  " << what << ", " << case_->tag << " " << case_->words << ":\n    " << message
            << "\n";
  }

  bool refused() const { return row_.options.floating_only && integers(); }
  bool integers() const {
    return case_->tag == "dtypes" && !is_floating_point(case_->inputs[0].dtype);
  }

  Inputs inputs(Layout layout) const {
    Inputs result;
    for (size_t i = 0; i < case_->inputs.size(); ++i) {
      const Recipe& recipe = case_->inputs[i];
      result[i] = lay_out(recipe.values(), recipe.sizes, recipe.dtype, layout);
    }
    return result;
  }

  void values(Layout layout) {
    if (case_->outcome == Case::Outcome::kError || refused()) return error();
    const Inputs in = inputs(layout);
    Outputs out;
    try {
      out = row_.run(in);
    } catch (const Error& error) {
      if (case_->outcome == Case::Outcome::kUnsupported) return;
      throw;
    }
    if (case_->outcome == Case::Outcome::kUnsupported)
      return;  // more than PyTorch offers is welcome
    fail(layout == Layout::kContiguous ? "values" : "values of non-contiguous inputs",
         difference(out, *case_, row_.options));
    const Inputs fresh = inputs(Layout::kContiguous);
    for (size_t i = 0; i < case_->inputs.size(); ++i) {
      const Recipe& recipe = case_->inputs[i];
      if (recipe.constant && is_floating_point(recipe.dtype)) continue;  // running statistics
      if (!support::near(in[i], support::values(fresh[i]), 0)) {
        fail("values", "input " + std::to_string(i) + " was changed");
      }
    }
  }

  void error() {
    const Inputs in = inputs(Layout::kContiguous);
    std::string message;
    try {
      row_.run(in);
    } catch (const Error& error) {
      message = error.what();
    }
    if (message.empty()) return fail("error", "nothing was thrown");
    // The op's name (that of the 2d form for 1d), or the words that people search for.
    std::string op = row_.op;
    if (op.size() > 2 && op.back() == 'd' && std::isdigit(op[op.size() - 2]))
      op.resize(op.size() - 2);
    for (const std::string& words :
         {op, case_->message.substr(0, 24), std::string("Dimension out of range")}) {
      if (message.find(words) != std::string::npos) return;
    }
    fail("error", "the message does not name the op: " + message);
  }

  // Stride 0 against the same elements written out.
  void expanded() {
    Inputs wide, copies;
    bool any = false;
    for (size_t i = 0; i < case_->inputs.size(); ++i) {
      const Recipe& recipe = case_->inputs[i];
      std::vector<double> elements = recipe.values();
      if (recipe.sizes.empty() || recipe.sizes[0] < 2 || elements.empty() || recipe.constant ||
          recipe.domain == "distinct" || recipe.domain == "sorted") {
        wide[i] = copies[i] = lay_out(elements, recipe.sizes, recipe.dtype, Layout::kContiguous);
        continue;
      }
      any = true;
      const size_t row = elements.size() / static_cast<size_t>(recipe.sizes[0]);
      for (size_t j = row; j < elements.size(); ++j) elements[j] = elements[j - row];
      Sizes strides = support::packed_strides(recipe.sizes);
      strides[0] = 0;
      wide[i] = support::make(elements, recipe.sizes, recipe.dtype, &strides);
      copies[i] = lay_out(elements, recipe.sizes, recipe.dtype, Layout::kContiguous);
    }
    if (!any) return;
    const Outputs expected = row_.run(copies), got = row_.run(wide);
    if (expected.size() != got.size()) return fail("expanded inputs", "another number of results");
    for (size_t i = 0; i < got.size(); ++i) {
      const Stored stored{expected[i].scalar_type(), expected[i].sizes().vec(),
                          support::values(expected[i])};
      fail("expanded inputs",
           difference(got[i], stored, value_tolerance(stored.dtype, case_->scale, row_.options)));
    }
  }

  void in_place() {
    Inputs in = inputs(Layout::kContiguous);
    const Stored& expected = case_->outputs[0];
    const Tensor self = in[0];
    const uint32_t version = self.defined() ? self._version() : 0;
    const bool same_shape = expected.sizes == self.sizes().vec();
    const bool castable = !(is_floating_point(expected.dtype) && !self.is_floating_point()) &&
                          !(expected.dtype != kBool && self.scalar_type() == kBool);
    try {
      if (!row_.run_inplace(in)) return;
    } catch (const Error&) {
      if (!same_shape || !castable) return;
      throw;
    }
    if (!castable) return fail("in place", "a result that can't be stored in self's dtype");
    if (!in[0].is_same(self)) return fail("in place", "self became another tensor");
    if (self._version() == version && !support::near(self, case_->inputs[0].values(), 0)) {
      fail("in place", "the version stayed the same");
    }
    Stored cast = expected;
    cast.dtype = self.scalar_type();
    fail("in place",
         difference(self, cast, value_tolerance(cast.dtype, case_->scale, row_.options)));
  }

  void out_form() {
    const Inputs in = inputs(Layout::kContiguous);
    const Stored& expected = case_->outputs[0];
    const Tolerance tolerance = value_tolerance(expected.dtype, case_->scale, row_.options);
    Tensor grown =
        taper::empty({0}, taper::TensorOptions(expected.dtype).device(support::device()));
    if (!row_.run_out(grown, in)) return;
    fail("out, to be resized", difference(grown, expected, tolerance));
    Tensor kept = lay_out(std::vector<double>(expected.values.size()), expected.sizes,
                          expected.dtype, Layout::kTransposed);
    const void* memory = kept.data_ptr();
    row_.run_out(kept, in);
    fail("out, transposed", difference(kept, expected, tolerance));
    if (kept.numel() > 0 && kept.data_ptr() != memory) fail("out", "the memory was replaced");
    if (is_floating_point(expected.dtype)) {
      Tensor whole =
          taper::empty(expected.sizes, taper::TensorOptions(kLong).device(support::device()));
      if (support::error_of([&] { row_.run_out(whole, in); }).empty()) {
        fail("out", "a floating result in an integer out");
      }
    }
  }

  // The same elements over and over: long loops, their tails, and several threads.
  void tiled() {
    const auto n = static_cast<int64_t>(case_->outputs[0].values.size());
    const int64_t times = support::scaled(70001) / n + 1;
    Inputs in;
    for (size_t i = 0; i < case_->inputs.size(); ++i) {
      const Recipe& recipe = case_->inputs[i];
      if (support::count(recipe.sizes) != n) return;
      const std::vector<double> tile = recipe.values();
      std::vector<double> elements;
      for (int64_t k = 0; k < times; ++k) elements.insert(elements.end(), tile.begin(), tile.end());
      in[i] = support::make(elements, {times * n}, recipe.dtype);
    }
    Case large = *case_;
    for (Stored& stored : large.outputs) {
      if (stored.values.size() != static_cast<size_t>(n)) return;
      const std::vector<double> tile = stored.values;
      for (int64_t k = 1; k < times; ++k)
        stored.values.insert(stored.values.end(), tile.begin(), tile.end());
      stored.sizes = {times * n};
    }
    fail("many elements", difference(row_.run(in), large, row_.options));
  }

  const Row& row_;
  const GoldenRow& golden_;
  const Case* case_ = nullptr;
  std::ostringstream report_;
  int failures_ = 0;
};

}  // namespace

Table::Table(const char* name, std::vector<Row> rows, std::vector<Wrong> wrong)
    : name(name), rows(std::move(rows)), wrong(std::move(wrong)) {
  tables().push_back(this);
}

const std::vector<const Table*>& all_tables() { return tables(); }

void Table::run() const {
  const auto& data = golden(name);
  for (const Row& row : rows) {
    DYNAMIC_SECTION(row.call) {
      const auto found = data.find(row.call);
      INFO("run tests/golden/generate.py " << name);
      REQUIRE(found != data.end());
      RowTest(row, found->second).run();
    }
  }
  for (const Wrong& call : wrong) {
    if (call.only_cpu && !support::device().is_cpu()) continue;
    DYNAMIC_SECTION("wrong: " << call.call) {
      const std::string message = support::error_of(call.run);
      INFO("message: " << message);
      CHECK(support::says(message, call.words));
      CHECK_FALSE(message.empty());
    }
  }
}

TEST_CASE("every op of the catalogue has a row", "[op_table]") {
  // Random numbers have tests of their own; copy_ changes its self and is tested with the casts.
  const std::set<std::string> elsewhere = {"bernoulli", "multinomial", "feature_dropout", "copy_"};
  std::set<std::string> present;
  for (const Table* table : all_tables()) {
    for (const Row& row : table->rows) present.insert(row.op);
  }
  for (int id = 0; id < static_cast<int>(OpId::kCount); ++id) {
    const std::string op = op_name(static_cast<OpId>(id));
    if (elsewhere.count(op)) continue;
    INFO("no row for " << op << " in tests/op_table");
    CHECK(present.count(op) == 1);
  }
}

}  // namespace op_table
