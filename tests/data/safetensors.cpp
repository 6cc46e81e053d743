#include "taper/data/formats/safetensors.h"

#include "support.h"

using namespace data_test;

namespace {

std::string safetensors(const std::string& header, size_t bytes) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(bytes, '\0');
}

constexpr ScalarType kDtypes[] = {kBool, kByte, kChar,     kShort, kInt,
                                  kLong, kHalf, kBFloat16, kFloat, kDouble};

}  // namespace

TEST_CASE("safetensors: a file of the Python package is read, and written back byte for byte") {
  const data::Safetensors file = data::read_safetensors(golden("all.safetensors"));
  CHECK(file.metadata == data::StringMap{{"format", "pt"}, {"note", "na\xc3\xafve \"quotes\""}});
  CHECK(file.tensors.size() == 12);
  for (const ScalarType dtype : kDtypes) {
    CAPTURE(dtype_name(dtype));
    CHECK(same_bytes(file.tensors.at(dtype_name(dtype)), counting({3, 4}, dtype)));
  }
  CHECK(file.tensors.at("scalar").item<float>() == 3.5f);
  CHECK(file.tensors.at("empty").sizes() == IntArrayRef({0, 3}));
  const TempFolder folder;
  data::save_safetensors(file.tensors, folder / "out", file.metadata);
  CHECK(read_file(folder / "out") == read_file(golden("all.safetensors")));
}

TEST_CASE("safetensors: empty maps, odd names and views survive the way there and back") {
  const TempFolder folder;
  data::save_safetensors({}, folder / "a");
  CHECK(data::load_safetensors(folder / "a").empty());
  const data::TensorMap tensors{{"", counting({2}, kInt)},
                                {"a\"b\\c\n", counting({4, 3}, kHalf).t()},
                                {"ü", counting({3}, kDouble)}};
  data::save_safetensors(tensors, folder / "b", {{"k", ""}});
  const data::TensorMap loaded = data::load_safetensors(folder / "b");
  REQUIRE(loaded.size() == 3);
  for (const auto& [name, tensor] : tensors) {
    CHECK(same_bytes(loaded.at(name), tensor.contiguous()));
  }
}

TEST_CASE("safetensors: NaN payloads and signed zeros keep their bits") {
  const TempFolder folder;
  Tensor x = empty({3}, kFloat);
  const uint32_t bits[3] = {0x7fa00001u, 0x80000000u, 0xff800000u};
  std::memcpy(x.data_ptr(), bits, sizeof bits);
  data::save_safetensors({{"x", x}}, folder / "a");
  CHECK(same_bytes(data::load_safetensors(folder / "a").at("x"), x));
}

TEST_CASE("safetensors: what doesn't fit is refused with a message") {
  const TempFolder folder;
  const std::string path = folder / "bad";
  const auto load = [&](const std::string& text) {
    write_file(path, text);
    return error_of([&] { data::load_safetensors(path); });
  };
  const auto entry = [](const std::string& name, const std::string& rest) {
    return "\"" + name + "\":{\"dtype\":\"F32\"," + rest + "}";
  };
  const std::string a = entry("a", R"("shape":[2],"data_offsets":[0,8])");
  const std::string b = entry("b", R"("shape":[1],"data_offsets":[8,12])");
  write_file(path, safetensors("{" + a + "," + b + "}", 12));
  CHECK(data::load_safetensors(path).size() == 2);

  CHECK_THAT(error_of([&] { data::load_safetensors(folder / "none"); }),
             ContainsSubstring("No such file or directory"));
  CHECK_THAT(load(""), ContainsSubstring("it has only 0 bytes"));
  CHECK_THAT(load(std::string(7, 'x')), ContainsSubstring("it has only 7 bytes"));
  CHECK_THAT(load(std::string(20, '\xff')),
             ContainsSubstring("header claims 18446744073709551615 bytes"));
  CHECK_THAT(load(safetensors("{" + a, 8)), ContainsSubstring("not JSON"));
  CHECK_THAT(load(safetensors("[]", 0)), ContainsSubstring("not a JSON object"));
  CHECK_THAT(load(safetensors("{" + a + "," + b + "}", 11)),
             ContainsSubstring("need 12 bytes, and there are 11"));
  CHECK_THAT(load(safetensors("{" + a + "," + b + "}", 13)),
             ContainsSubstring("take 12 bytes, and there are 13"));
  CHECK_THAT(load(safetensors("{" + a + "," + a + "}", 8)), ContainsSubstring("'a' appears twice"));
  CHECK_THAT(
      load(safetensors("{" + a + "," + entry("b", R"("shape":[1],"data_offsets":[4,8])") + "}", 8)),
      ContainsSubstring("overlaps"));
  CHECK_THAT(load(safetensors(
                 "{" + a + "," + entry("b", R"("shape":[1],"data_offsets":[12,16])") + "}", 16)),
             ContainsSubstring("hole"));
  CHECK_THAT(load(safetensors("{" + entry("a", R"("shape":[3],"data_offsets":[0,8])") + "}", 8)),
             ContainsSubstring("needs 12 bytes"));
  CHECK_THAT(load(safetensors("{" + entry("a", R"("shape":[-1],"data_offsets":[0,8])") + "}", 8)),
             ContainsSubstring("-1 where a size belongs"));
  CHECK_THAT(load(safetensors("{" + entry("a", R"("shape":[1.5],"data_offsets":[0,8])") + "}", 8)),
             ContainsSubstring("1.5 where a size belongs"));
  CHECK_THAT(
      load(safetensors(
          "{" + entry("a", R"("shape":[4611686018427387904,4],"data_offsets":[0,0])") + "}", 0)),
      ContainsSubstring("impossible shape"));
  CHECK_THAT(load(safetensors("{" + entry("a", R"("shape":[2],"data_offsets":[8,0])") + "}", 8)),
             ContainsSubstring("data_offsets are [8,0]"));
  CHECK_THAT(load(safetensors("{" + entry("a", R"("shape":[2])") + "}", 8)),
             ContainsSubstring("has no data_offsets"));
  CHECK_THAT(load(safetensors(R"({"a":3})", 0)), ContainsSubstring("is not an object"));
  CHECK_THAT(load(safetensors(R"({"__metadata__":{"a":3}})", 0)),
             ContainsSubstring("not a string"));
  CHECK_THAT(load(safetensors(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1)),
             ContainsSubstring("F8_E4M3"));
  CHECK_THAT(load(safetensors(std::string(100000, '['), 0)),
             ContainsSubstring("nested too deeply"));
  CHECK_THAT(
      load(safetensors(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 0) + "\x07"),
      ContainsSubstring("holds a bool that is 7"));
}

TEST_CASE("safetensors: every truncation of a good file is an error and never a crash") {
  const TempFolder folder;
  const std::string text = read_file(golden("all.safetensors"));
  for (size_t size = 0; size < text.size(); ++size) {
    write_file(folder / "cut", text.substr(0, size));
    CHECK_THROWS_AS(data::load_safetensors(folder / "cut"), Error);
  }
}

TEST_CASE("safetensors: bad arguments of the writer leave the old file") {
  const TempFolder folder;
  data::save_safetensors({{"x", counting({2}, kInt)}}, folder / "a");
  const std::string before = read_file(folder / "a");
  CHECK_THAT(error_of<ValueError>([&] { data::save_safetensors({{"x", Tensor()}}, folder / "a"); }),
             ContainsSubstring("tensor 'x' is undefined"));
  CHECK_THROWS_AS(data::save_safetensors({{"__metadata__", counting({2}, kInt)}}, folder / "a"),
                  ValueError);
  CHECK_THROWS_AS(data::save_safetensors({{"\xff", counting({2}, kInt)}}, folder / "a"),
                  ValueError);
  CHECK(read_file(folder / "a") == before);
  CHECK(folder.files() == 1);
}
