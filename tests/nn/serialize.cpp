#include "taper/nn/serialize.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "support/rows.h"
#include "taper/autograd/grad_mode.h"
#include "taper/nn/modules/linear.h"
#include "taper/nn/serialize/safetensors.h"

// save and load: what goes in comes out, and a file that does not fit changes nothing.

using namespace taper;
using namespace support;
using serialize::InputArchive;
using serialize::OutputArchive;

namespace {

struct File {
  File() {
    char name[] = "/tmp/taper_serialize_XXXXXX";
    const int descriptor = ::mkstemp(name);
    if (descriptor >= 0) ::close(descriptor);
    path = name;
  }
  ~File() { std::remove(path.c_str()); }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string path;
};

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t hidden = 3)
      : first(register_module("first", nn::Linear(2, hidden))),
        second(register_module("second", nn::Linear(hidden, 1))) {
    steps = register_buffer("steps", zeros({}, kLong));
  }
  nn::Linear first, second;
  Tensor steps;
};
TAPER_MODULE(Net);

// Keeps something beside its tensors, in its own way.
struct CountingImpl : nn::Module {
  CountingImpl() { weight = register_parameter("weight", ones({2})); }
  void save(OutputArchive& archive) const override {
    Module::save(archive);
    archive.write("count", IValue(count));
  }
  void load(InputArchive& archive) override {
    Module::load(archive);
    IValue value;
    archive.read("count", value);
    count = static_cast<int>(value.toInt());
  }
  Tensor weight;
  int count = 0;
};

std::vector<double> all_values(const nn::Module& module) {
  std::vector<double> out;
  for (const auto& item : module.state_dict()) {
    for (const double value : values(item.value())) out.push_back(value);
  }
  return out;
}

}  // namespace

TEST_CASE("tensors of every dtype come back") {
  for (const ScalarType dtype :
       {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kShort, kChar, kByte, kBool}) {
    const Tensor saved = make({0, 1, 1, 0, 1, 0}, {2, 3}, dtype);
    std::stringstream file;
    save(saved.t(), file);
    Tensor loaded;
    load(loaded, file);
    CHECK(loaded.scalar_type() == dtype);
    CHECK(loaded.sizes().vec() == Sizes{3, 2});
    CHECK(near(loaded, {0, 0, 1, 1, 1, 0}, 0));
  }
}

TEST_CASE("a defined tensor takes over what was saved and stays the same tensor") {
  std::stringstream file;
  save(make({1, 2, 3}, {3}, kDouble), file);
  Tensor target = zeros({2});
  const Tensor handle = target;
  load(target, file);
  CHECK(near(handle, {1, 2, 3}, 0));
  CHECK(handle.scalar_type() == kDouble);
}

TEST_CASE("empty, 0-dim and undefined tensors, in a list") {
  const File file;
  save({empty({0, 3}), make({7}, {}, kLong), Tensor()}, file.path);
  std::vector<Tensor> loaded{ones({1})};
  load(loaded, file.path);
  REQUIRE(loaded.size() == 3);
  CHECK(loaded[0].sizes().vec() == Sizes{0, 3});
  CHECK(loaded[1].dim() == 0);
  CHECK(near(loaded[1], {7}, 0));
  CHECK_FALSE(loaded[2].defined());
}

TEST_CASE("values of every kind come back exactly") {
  const double numbers[] = {0.1, 3.0, 1e-310, kInf, -kInf, kNan};
  OutputArchive out;
  for (size_t i = 0; i < std::size(numbers); ++i) out.write("d" + std::to_string(i), numbers[i]);
  out.write("int", INT64_MIN);
  out.write("bool", true);
  out.write("text", "a \"text\"\nwith \xc3\xa9");
  out.write("none", IValue());
  out.write("ints", std::vector<int64_t>{1, -2});
  out.write("no_doubles", std::vector<double>{});
  out.write("doubles", std::vector<double>{.5, kInf});
  out.write("texts", std::vector<std::string>{"a", ""});
  out.write("tensors", std::vector<Tensor>{ones({2}), zeros({1})});
  std::stringstream file;
  out.save_to(file);
  InputArchive in;
  in.load_from(file);
  const auto read = [&](const std::string& key) {
    IValue value;
    in.read(key, value);
    return value;
  };
  for (size_t i = 0; i < std::size(numbers); ++i) {
    CHECK(near({read("d" + std::to_string(i)).toDouble()}, {numbers[i]}, 0));
  }
  CHECK(read("int").toInt() == INT64_MIN);
  CHECK(read("bool").toBool());
  CHECK(read("text").toStringRef() == "a \"text\"\nwith \xc3\xa9");
  CHECK(read("none").isNone());
  CHECK(read("ints").toIntVector() == std::vector<int64_t>{1, -2});
  CHECK(read("no_doubles").toDoubleVector().empty());
  CHECK(read("doubles").toDoubleVector() == std::vector<double>{.5, kInf});
  CHECK(read("texts").toStringVector() == std::vector<std::string>{"a", ""});
  CHECK(read("tensors").toTensorVector().size() == 2);
  CHECK(error_of([&] { read("int").toStringRef(); }) == "Expected String but got Int");
  CHECK(error_of([&] { read("other"); }).find("there is no value 'other'") != std::string::npos);
  CHECK_FALSE(error_of([&] { out.write("int", 1); }).empty());
}

TEST_CASE("nested archives") {
  OutputArchive out, inner, innermost;
  innermost.write("x", ones({1}));
  inner.write("deep", innermost);
  inner.write("n", 3);
  out.write("inner", inner);
  std::stringstream file;
  out.save_to(file);
  InputArchive in, read, none;
  in.load_from(file);
  CHECK(in.keys() == std::vector<std::string>{"inner"});
  in.read("inner", read);
  CHECK(read.keys() == std::vector<std::string>{"deep", "n"});
  Tensor x;
  read.nested("deep").read("x", x);
  CHECK(near(x, {1}, 0));
  CHECK_FALSE(in.try_read("inn", none));
  CHECK_FALSE(error_of([&] { in.read("other", none); }).empty());
}

TEST_CASE("a module comes back, under the names of its state_dict") {
  const File file;
  Net saved, loaded;
  {
    NoGradGuard quiet;
    saved->steps.fill_(5);
  }
  save(saved, file.path);
  const auto content = serialize::load_safetensors(file.path);
  for (const auto& item : saved->state_dict()) CHECK(content.count(item.key()) == 1);
  CHECK(content.size() == saved->state_dict().size());
  const Tensor weight = loaded->first->weight;
  load(loaded, file.path);
  CHECK(all_values(*loaded) == all_values(*saved));
  CHECK(values(weight) == values(saved->first->weight));
  CHECK(weight.requires_grad());

  // The same through a shared_ptr, as LibTorch programs have it, and from a plain safetensors file.
  auto shared = std::make_shared<NetImpl>();
  serialize::save_safetensors(content, file.path);
  load(shared, file.path);
  CHECK(all_values(*shared) == all_values(*saved));
}

TEST_CASE("a module with a save and load of its own") {
  std::stringstream file;
  auto saved = std::make_shared<CountingImpl>(), loaded = std::make_shared<CountingImpl>();
  saved->count = 3;
  {
    NoGradGuard quiet;
    saved->weight.fill_(2);
  }
  save(saved, file);
  load(loaded, file);
  CHECK(loaded->count == 3);
  CHECK(near(loaded->weight, {2, 2}, 0));
}

TEST_CASE("a file that does not fit the module lists everything and changes nothing") {
  const File file;
  Net wide(4), net;
  const std::vector<double> before = all_values(*net);
  save(wide, file.path);
  std::string message = error_of([&] { load(net, file.path); });
  for (const char* words : {"size mismatch for first.weight", "[4, 2]", "[3, 2]",
                            "size mismatch for second.weight", file.path.c_str()}) {
    INFO(message << " should contain " << words);
    CHECK(message.find(words) != std::string::npos);
  }
  CHECK(all_values(*net) == before);

  auto content = serialize::load_safetensors(file.path);
  content.erase("steps");
  content.emplace("third.weight", ones({1}));
  for (const auto& item : net->state_dict()) {
    if (item.key() != "steps") content[item.key()] = zeros_like(item.value());
  }
  serialize::save_safetensors(content, file.path);
  message = error_of([&] { load(net, file.path); });
  INFO(message);
  CHECK(message.find("Missing key(s): \"steps\"") != std::string::npos);
  CHECK(message.find("Unexpected key(s): \"third.weight\"") != std::string::npos);
  CHECK(all_values(*net) == before);
}

TEST_CASE("a damaged file is refused wherever it is cut or changed") {
  const File file;
  Net saved, net;
  const std::vector<double> before = all_values(*net);
  save(saved, file.path);
  const std::string bytes = file.bytes();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    file.write(bytes.substr(0, size));
    CHECK_FALSE(error_of([&] { load(net, file.path); }).empty());
  }
  file.write(bytes + "x");
  CHECK_FALSE(error_of([&] { load(net, file.path); }).empty());
  std::string lying = bytes;
  lying[0] = static_cast<char>(lying[0] ^ 1);
  file.write(lying);
  CHECK_FALSE(error_of([&] { load(net, file.path); }).empty());
  CHECK(all_values(*net) == before);
  CHECK_FALSE(error_of([&] { load(net, "/nonexistent/file"); }).empty());
  CHECK_FALSE(error_of([&] { save(net, "/nonexistent/file"); }).empty());
}

TEST_CASE("a damaged value is refused") {
  const File file;
  serialize::save_safetensors({}, file.path,
                              {{"taper.n", "3x"}, {"taper.m", "{\"double\": \"x\"}"}});
  InputArchive in;
  in.load_from(file.path);
  IValue value;
  CHECK(error_of([&] { in.read("n", value); }).find("'n' is damaged") != std::string::npos);
  CHECK(error_of([&] { in.read("m", value); }).find("'m' is damaged") != std::string::npos);
}

TEST_CASE("what cannot be written is refused, and the old file stays") {
  const File file;
  save(ones({2}), file.path);
  const std::string before = file.bytes();
  OutputArchive bad;
  CHECK(error_of([&] { bad.write("text", "\xff"); }).find("not UTF-8") != std::string::npos);
  bad.write("name \xff", ones({1}));
  CHECK_FALSE(error_of([&] { bad.save_to(file.path); }).empty());
  CHECK(file.bytes() == before);
  std::ofstream closed;
  CHECK_FALSE(error_of([&] { save(ones({2}), closed); }).empty());
}
