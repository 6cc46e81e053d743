#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "emulator.h"
#include "support/process.h"
#include "taper/data/data.h"

// Why there is no CUDA device: each reason in a process of its own.

using namespace device_tests;
namespace fs = std::filesystem;

TEST_CASE("why there is no CUDA device", "[.why]") {
  std::printf("why: %s\n", cuda::why_not_available().c_str());
  CHECK_FALSE(cuda::is_available());
  CHECK(cuda::device_count() == 0);
  contains(error_of([] { cuda::current_device(); }),
           "CUDA is not available: " + cuda::why_not_available());
  cuda::manual_seed(1);  // there is no generator to seed, as in LibTorch
  cuda::manual_seed_all(1);
}

namespace {

std::string why(const std::string& environment) {
  const support::Outcome outcome = support::run_test("why there is no CUDA device", environment);
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  const size_t begin = outcome.output.find("why: ");
  REQUIRE(begin != std::string::npos);
  return outcome.output.substr(begin + 5, outcome.output.find('\n', begin) - begin - 5);
}

std::string why_emulated(const std::string& failures) {
  return why("TAPER_CUDA=emulated TAPER_EMULATOR=" + failures);
}

/// A folder with a copy of the library, so that no plugin lies beside it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "taper-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    const fs::path library = TAPER_LIBRARY;
    if (library.extension() != ".a") fs::copy_file(library, path_ / library.filename());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  /// Why there is nothing where plugins are sought here.
  std::string why(const std::string& more = "") const {
    return ::why("TAPER_CUDA=hardware LD_LIBRARY_PATH=" + path_.string() +
                 " TAPER_PLUGIN_PATH=" + path_.string() + " " + more);
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a program is told why it has no CUDA device: settings") {
  CHECK(why("TAPER_CUDA=off") == "TAPER_CUDA=off");
  CHECK(why("TAPER_CUDA=maybe") == "TAPER_CUDA=maybe is none of auto, hardware, emulated, off");
}

TEST_CASE("a program is told why it has no CUDA device: the plugin") {
  const Folder folder;
  contains(folder.why(), "there is no libtaper_cuda.so (sought in ");
  contains(folder.why(), (folder / "").parent_path().string());
  const fs::path plugin = folder / "libtaper_cuda.so";
  std::ofstream(plugin) << "text";
  contains(folder.why(), "libtaper_cuda.so: ");  // the loader's own words
  fs::copy_file(TAPER_NO_MODULE, plugin, fs::copy_options::overwrite_existing);
  contains(folder.why(),
           "libtaper_cuda.so is no CUDA module of Taper: it has no taper_cuda_module");
  fs::copy_file(TAPER_OTHER_VERSION, plugin, fs::copy_options::overwrite_existing);
  contains(folder.why(), "libtaper_cuda.so belongs to Taper 0.0.1-of-long-ago, but this is Taper ");
  fs::copy_file(TAPER_PLUGIN, plugin, fs::copy_options::overwrite_existing);
  contains(folder.why(), "is of the kind \"emulated\", but \"hardware\" was asked for");
}

TEST_CASE("a program is told why it has no CUDA device: driver and devices") {
  contains(why_emulated("fail=cudaGetDeviceCount:1:100"), "the driver sees no CUDA device");
  contains(why("CUDA_VISIBLE_DEVICES= TAPER_CUDA=emulated "
               "TAPER_EMULATOR=fail=cudaGetDeviceCount:1:100"),
           "(CUDA_VISIBLE_DEVICES is \"\")");
  contains(why_emulated("fail=cudaGetDeviceCount:1:35"),
           "the NVIDIA driver is too old: it supports CUDA up to 13.0");
  contains(why_emulated("fail=cudaGetDeviceCount:1:35,fail=cudaDriverGetVersion:1"),
           "no NVIDIA driver was found (libcuda.so.1)");
  contains(why_emulated("fail=cudaGetDeviceCount:1:46"), "the devices are busy");
  contains(why_emulated("devices=none"), "CUDA could not be initialised");
}

TEST_CASE("libraries that are missing", "[.libraries]") {
  const cuda::Versions versions = cuda::versions();
  CHECK(versions.cublas == 0);
  CHECK(versions.cudnn == 0);
  CHECK(versions.cublas_problem == "the emulator was asked for no libraries");
  CHECK(versions.cudnn_problem == versions.cublas_problem);
  CHECK_FALSE(cuda::cudnn_is_available());
  const Tensor x = ones({3, 3}, on_cuda());
  const char* const required = std::getenv("TAPER_BLAS");
  const std::string message = error_of([&] { x.mm(x); });
  if (required) {
    contains(message, "mm: TAPER_BLAS=cublas, but the emulator was asked");
    contains(error_of([&] { conv1d(x.unsqueeze(0), x.unsqueeze(0)); }),
             "TAPER_DNN=cudnn, but the emulator");
  } else {
    CHECK(message == "");
    CHECK(x.mm(x).sum().item<float>() == 27);
    CHECK(conv1d(x.unsqueeze(0), x.unsqueeze(0)).item<float>() == 9);
  }
}

TEST_CASE("without cuBLAS and cuDNN Taper's own kernels serve, unless they are required") {
  const std::string settings = "TAPER_CUDA=emulated TAPER_EMULATOR=libraries=off ";
  for (const char* const more : {"", "TAPER_BLAS=cublas TAPER_DNN=cudnn"}) {
    const support::Outcome outcome =
        support::run_test("libraries that are missing", settings + more);
    INFO(outcome.output);
    CHECK(outcome.status == 0);
  }
}

TEST_CASE("a library that is asked for by a wrong name", "[.wrong]") {
  const cuda::Versions versions = cuda::versions();
  CHECK(versions.cublas == 0);
  CHECK(versions.cublas_problem == "TAPER_BLAS=cudnn is none of auto, own, cublas");
  CHECK(versions.cudnn == 0);
  CHECK(versions.cudnn_problem == "TAPER_DNN=CUDNN is none of auto, own, cudnn");
}

TEST_CASE("a wrong name in TAPER_BLAS or TAPER_DNN is reported before an op throws") {
  const support::Outcome outcome =
      support::run_test("a library that is asked for by a wrong name",
                        "TAPER_CUDA=emulated TAPER_BLAS=cudnn TAPER_DNN=CUDNN");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}

namespace {

class Numbers : public data::datasets::Dataset<Numbers> {
 public:
  data::Example<> get(size_t index) override {
    return {full({2}, static_cast<double>(index)), zeros({}, kLong)};
  }
  std::optional<size_t> size() const override { return 4; }
};

}  // namespace

TEST_CASE("pinned memory without a device", "[.pinned]") {
  contains(error_of([] { ones({3}).pin_memory(); }),
           "pin_memory: Cannot access accelerator device when none is available.");
  contains(error_of([] { empty({3}, TensorOptions().pinned_memory(true)); }),
           "there is none: TAPER_CUDA=off");
  CHECK_FALSE(ones({3}).is_pinned());
  for (int i = 0; i < 2; ++i) {
    data::DataLoader loader(Numbers(), {.batch_size = 2, .pin_memory = true});
    int batches = 0;
    for (const auto& batch : loader) {
      CHECK_FALSE(batch.data.is_pinned());
      ++batches;
    }
    CHECK(batches == 2);
  }
}

TEST_CASE("without a device the loader warns once that nothing is pinned, and the method throws") {
  const support::Outcome outcome =
      support::run_test("pinned memory without a device", "TAPER_CUDA=off");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
  const std::string warning = "Warning: 'pin_memory' is set but no CUDA device is available";
  const size_t first = outcome.output.find(warning);
  REQUIRE(first != std::string::npos);
  CHECK(outcome.output.find(warning, first + 1) == std::string::npos);
}

TEST_CASE("a program that never says cuda", "[.never]") {
  const Tensor x = ones({3}).requires_grad_();
  manual_seed(3);
  (x * rand({3})).sum().backward();
  CHECK(x.grad().is_cpu());
  CHECK(dlopen(TAPER_PLUGIN, RTLD_NOW | RTLD_NOLOAD) == nullptr);
  CHECK(cuda::is_available());
  CHECK(dlopen(TAPER_PLUGIN, RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

TEST_CASE("a program that never says cuda loads no plugin") {
  const support::Outcome outcome =
      support::run_test("a program that never says cuda", "TAPER_CUDA=emulated");
  INFO(outcome.output);
  CHECK(outcome.status == 0);
}
