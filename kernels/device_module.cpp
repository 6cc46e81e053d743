#include "taper/kernels/device_module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "taper/build_id.h"
#include "taper/core/cuda.h"
#include "taper/core/error.h"
#include "taper/core/thread_state.h"
#include "taper/kernels/backend.h"

#if defined(TAPER_STATIC)
// A static link may hold the module itself.
extern "C" const taper::kernels::DeviceModule* taper_cuda_module(
    const taper::kernels::HostServices* host) __attribute__((weak));
#endif

namespace taper::kernels {

namespace {

constexpr const char* kEntry = "taper_cuda_module";

struct Choice {
  const char* library;  // file name
  const char* kind;
};
constexpr Choice kHardware = {"libtaper_cuda.so", "hardware"};
constexpr Choice kEmulated = {"libtaper_cuda_emulated.so", "emulated"};

struct Found {
  const DeviceModule* module = nullptr;
  int devices = 0;
  std::string why;  // there is no module, or no device
};

std::string text_of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Beside the library that this code is in, the folders of TAPER_PLUGIN_PATH, where Taper is
/// installed: of a program that has Taper in it, the first is its own.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_module_is_loaded), &info) && info.dli_fname) {
    const std::string file = info.dli_fname;
    const size_t slash = file.rfind('/');
    found.push_back(slash == std::string::npos ? "." : file.substr(0, slash));
  }
  const std::string path = text_of_environment("TAPER_PLUGIN_PATH");
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) found.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string installed = TAPER_INSTALL_LIBRARY_DIR;
  if (std::find(found.begin(), found.end(), installed) == found.end()) found.push_back(installed);
  return found;
}

bool accept(const DeviceModule* module, const Choice& choice, const std::string& from,
            Found& found) {
  if (!module || module->abi != kDeviceAbi) {
    found.why = from + " is of another version of Taper (module interface " +
                (module ? std::to_string(module->abi) : "none") + ", this Taper has " +
                std::to_string(kDeviceAbi) + ")";
  } else if (module->build_id != std::string(TAPER_BUILD_ID)) {
    found.why =
        from + " belongs to Taper " + module->build_id + ", but this is Taper " + TAPER_BUILD_ID;
  } else if (module->kind != std::string(choice.kind)) {
    found.why = from + " is of the kind \"" + module->kind + "\", but \"" + choice.kind +
                "\" was asked for";
  } else {
    found.module = module;
    return true;
  }
  return false;
}

void open_library(const Choice& choice, const HostServices* host, Found& found) {
  std::string sought;
#if defined(TAPER_STATIC)
  if (taper_cuda_module) {
    if (accept(taper_cuda_module(host), choice, "the CUDA module in this program", found)) return;
    sought = "this program";
  }
#endif
  for (const std::string& folder : folders()) {
    const std::string file = folder + "/" + choice.library;
    // Stays open: its threads and its memory outlive every tensor.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
      const char* const error = dlerror();
      // A file that is not there is the ordinary case; anything else is worth telling.
      const std::string text = error ? error : "";
      if (text.find("No such file") == std::string::npos ||
          text.find(choice.library) == std::string::npos) {
        found.why = text;
        return;
      }
      sought += (sought.empty() ? "" : ", ") + folder;
      continue;
    }
    const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(library, kEntry));
    if (!entry) {
      found.why = file + " is no CUDA module of Taper: it has no " + kEntry;
      return;
    }
    found.why.clear();
    accept(entry(host), choice, file, found);
    return;
  }
  found.why += std::string(found.why.empty() ? "" : ", and ") + "there is no " + choice.library +
               " (sought in " + sought + "; TAPER_PLUGIN_PATH names more folders)";
}

Found find() {
  Found found;
  const std::string wanted = text_of_environment("TAPER_CUDA");
  if (wanted == "off") {
    found.why = "TAPER_CUDA=off";
    return found;
  }
  if (!wanted.empty() && wanted != "auto" && wanted != "hardware" && wanted != "emulated") {
    found.why = "TAPER_CUDA=" + wanted + " is none of auto, hardware, emulated, off";
    return found;
  }
  open_library(wanted == "emulated" ? kEmulated : kHardware, stream_for(kCPU).host, found);
  if (!found.module) return found;
  const Status status = found.module->runtime.device_count(&found.devices);
  if (!status.ok() || found.devices == 0) {
    found.why = status.ok() || !status.what ? "no CUDA device was found" : status.what;
    found.devices = 0;
  }
  found.devices = std::min(found.devices, taper::detail::kMaxCudaDevices);
  return found;
}

bool loaded = false;

const Found& once() {
  // Never destroyed: tensors may be freed while the program ends.
  static const Found* const found = [] {
    auto* const made = new Found(find());
    __atomic_store_n(&loaded, made->module != nullptr, __ATOMIC_RELEASE);
    return made;
  }();
  return *found;
}

[[noreturn]] TAPER_COLD void fail_without(const char* what, const std::string& why) {
  taper::detail::fail<NotImplementedError>(
      what, ": CUDA is not available: ", why,
      ". Use the device \"cpu\", for example: torch::Device device(torch::cuda::is_available() ? "
      "torch::kCUDA : torch::kCPU)");
}

}  // namespace

const DeviceModule* find_cuda_module(std::string* why) {
  const Found& found = once();
  if (why) *why = found.why;
  return found.devices > 0 ? found.module : nullptr;
}

const DeviceModule& cuda_module(const char* what) {
  const Found& found = once();
  if (TAPER_UNLIKELY(found.devices == 0)) fail_without(what, found.why);
  return *found.module;
}

bool cuda_module_is_loaded() { return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE); }

int cuda_device_count(const char* what) {
  cuda_module(what);
  return once().devices;
}

void fail_runtime(const Status& status, const char* what, Device device) {
  namespace d = taper::detail;
  switch (status.code) {
    case Code::kIndexOutOfRange:
      d::fail<IndexError>(index_of_op(status.what ? status.what : what), " ", status.value,
                          " is out of bounds for dimension with size ", status.limit, " (found on ",
                          device, ", reported by ", what,
                          ", the first call after it that waited; CUDA_LAUNCH_BLOCKING=1 reports "
                          "it at the call itself)");
    case Code::kInvalidValue:
      d::fail<ValueError>(status.what ? status.what : "invalid value", " (", device,
                          ", reported by ", what, ")");
    case Code::kOutOfMemory:
      d::fail<OutOfMemoryError>(status.what ? status.what : "CUDA out of memory.");
    default:
      d::fail<Error>(what, ": ", device, ": ", status.what ? status.what : "unknown error");
  }
}

}  // namespace taper::kernels
