#include "taper/kernels/cuda/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "taper/kernels/cuda/message.h"

namespace taper::kernels::cuda {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Folders, some of them patterns, in which toolkits and pip keep libraries.
std::vector<std::string> folders() {
  std::vector<std::string> found;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable(name); !root.empty()) {
      found.insert(found.end(), {root + "/lib64", root + "/lib"});
    }
  }
  for (const char* const root : {"/usr/local/cuda", "/opt/cuda", "/usr/local/cuda-*"}) {
    found.insert(found.end(), {std::string(root) + "/lib64", std::string(root) + "/lib"});
  }
  std::vector<std::string> roots;
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string root = variable(name); !root.empty()) roots.push_back(root);
  }
  if (const std::string home = variable("HOME"); !home.empty()) roots.push_back(home + "/.local");
  roots.insert(roots.end(), {"/usr/local", "/usr"});
  for (const std::string& root : roots) {
    for (const char* const packages : {"/lib/python3*/site-packages", "/lib/python3*/dist-packages",
                                       "/lib/python3/dist-packages"}) {
      found.push_back(root + packages + "/nvidia/*/lib");
    }
  }
  return found;
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> found;
  glob_t paths{};
  if (glob(pattern.c_str(), 0, nullptr, &paths) == 0) {
    // Of several versions of one thing the last is the newest.
    for (size_t i = paths.gl_pathc; i-- > 0;) found.emplace_back(paths.gl_pathv[i]);
  }
  globfree(&paths);
  return found;
}

/// The file behind a handle; empty where the system does not say.
std::string place_of(void* handle) {
  const link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map ? map->l_name : "";
}

}  // namespace

Library::Library(std::initializer_list<const char*> names) {
  const std::vector<std::string> places = folders();
  const auto open = [&](const std::string& file) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) return false;
    problem_.clear();  // of one that was found before, and could not be opened
    file_ = place_of(handle_);
    return true;
  };
  for (const char* const name : names) {
    if (open(name)) return;
    for (const std::string& folder : places) {
      for (const std::string& path : matches(folder + "/" + name)) {
        if (open(path)) return;
        // It is there, but something that it needs is not.
        if (problem_.empty()) problem_ = std::string(dlerror());
      }
    }
  }
  if (!problem_.empty()) return;
  problem_ = std::string(*names.begin()) + " was not found, neither where the system looks nor in";
  for (const std::string& folder : places) problem_ += " " + folder;
}

void* Library::symbol(const char* name) {
  void* const found = handle_ ? dlsym(handle_, name) : nullptr;
  if (!found && problem_.empty()) problem_ = std::string("the library has no ") + name;
  return found;
}

void Library::open_part(const char* name) {
  if (!handle_ || !problem_.empty()) return;
  const std::string beside = file_.substr(0, file_.rfind('/') + 1) + name;
  // Never closed, as the library itself is not.
  if (dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  const std::string why = dlerror();
  if (dlopen(name, RTLD_NOW | RTLD_LOCAL)) return;
  problem_ = file_ + " was found, but not its part " + name + ": " + why;
}

LibraryChoice::LibraryChoice(const char* name, const char* library, const std::string& (*problem)())
    : variable_(name),
      value_(variable(name)),
      is_own_(value_ == "own"),
      is_needed_(value_ == library),
      problem_(problem) {
  if (is_own_ || is_needed_ || value_.empty() || value_ == "auto") return;
  wrong_ = variable_ + ("=" + value_) + " is none of auto, own, " + library;
}

bool LibraryChoice::is_library() const {
  if (is_own_) return false;
  return is_needed_ || !wrong_.empty() || problem_().empty();
}

Status LibraryChoice::check() const {
  if (!wrong_.empty()) return {Code::kDeviceError, 0, 0, keep(wrong_)};
  if (problem_().empty()) return {};
  return {Code::kDeviceError, 0, 0, keep(variable_ + ("=" + value_) + ", but " + problem_())};
}

}  // namespace taper::kernels::cuda
