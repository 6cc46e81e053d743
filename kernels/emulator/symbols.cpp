#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>

#include "taper/kernels/emulator/machine.h"

// The name of a function, as the linker left it in the symbol table of its library or program. What
// the dynamic loader knows does not do: kernels are not exported.

namespace taper::emulator {

namespace {

/// The names of a file's functions, by where they begin. Empty where it is stripped.
class SymbolTable {
 public:
  explicit SymbolTable(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      size_ = static_cast<size_t>(info.st_size);
      void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) bytes_ = static_cast<const char*>(mapped);
    }
    close(file);
    if (bytes_) read();
  }

  /// Null where no function begins there.
  const char* find(uint64_t address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? nullptr : found->second;
  }

 private:
  /// `count` of T at `offset` in the file; null where it ends before.
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(bytes_ + offset);
  }

  void read() {
    const auto* const header = at<ElfW(Ehdr)>(0);
    if (!header || std::string_view(bytes_, SELFMAG) != ELFMAG) return;
    const auto* const sections = at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    if (!sections) return;
    for (int i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
      const uint64_t count = sections[i].sh_size / sizeof(ElfW(Sym));
      const auto* const symbols = at<ElfW(Sym)>(sections[i].sh_offset, count);
      const ElfW(Shdr)& strings = sections[sections[i].sh_link];
      const auto* const text = at<char>(strings.sh_offset, strings.sh_size);
      if (!symbols || !text || strings.sh_size == 0 || text[strings.sh_size - 1] != 0) continue;
      for (uint64_t s = 0; s < count; ++s) {
        if (ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC) continue;
        if (symbols[s].st_name < strings.sh_size) {
          names_.emplace(symbols[s].st_value, text + symbols[s].st_name);
        }
      }
    }
  }

  const char* bytes_ = nullptr;  // mapped for good: the names lie in it
  size_t size_ = 0;
  std::map<uint64_t, const char*> names_;
};

struct Place {
  uintptr_t address;
  std::string file;    // of the library or program that has it
  uintptr_t base = 0;  // where that was loaded
};

int look_into(dl_phdr_info* info, size_t, void* data) {
  Place& place = *static_cast<Place*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const uintptr_t offset = place.address - info->dlpi_addr - part.p_vaddr;
    if (part.p_type != PT_LOAD || offset >= part.p_memsz) continue;
    place.file = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    place.base = info->dlpi_addr;
    return 1;
  }
  return 0;
}

}  // namespace

const char* function_name(const void* function) {
  Place place{reinterpret_cast<uintptr_t>(function), {}};
  if (dl_iterate_phdr(look_into, &place) == 0) return nullptr;
  const std::lock_guard lock(machine_mutex());
  static auto* const tables = new std::map<std::string, SymbolTable>;
  auto found = tables->find(place.file);
  if (found == tables->end()) found = tables->try_emplace(place.file, place.file.c_str()).first;
  return found->second.find(place.address - place.base);
}

}  // namespace taper::emulator
