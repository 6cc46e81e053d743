// How a module goes into an archive: each parameter and buffer under its name, each submodule
// nested under its own, so that a saved model has the names of its state dictionary.

#include "taper/nn/module.h"
#include "taper/nn/serialize/archive.h"

namespace taper::nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : parameters_) {
    if (item.value().defined()) archive.write(item.key(), item.value());
  }
  for (const auto& item : buffers_) {
    if (item.value().defined()) archive.write(item.key(), item.value(), /*is_buffer=*/true);
  }
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  serialize::DeferredReads deferred(archive);
  for (auto& item : parameters_) {
    if (item.value().defined()) archive.read(item.key(), item.value());
  }
  for (auto& item : buffers_) {
    if (item.value().defined()) archive.read(item.key(), item.value(), /*is_buffer=*/true);
  }
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::InputArchive nested = archive.nested(child.key());
    child.value()->load(nested);
  }
  deferred.commit(name(), /*strict=*/false);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const std::shared_ptr<Module>& module) {
  TAPER_CHECK(module, "save: the module is empty");
  module->save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    const std::shared_ptr<Module>& module) {
  TAPER_CHECK(module, "load: the module is empty");
  serialize::DeferredReads deferred(archive);
  module->load(archive);
  deferred.commit(module->name(), /*strict=*/true);
  return archive;
}

}  // namespace taper::nn
