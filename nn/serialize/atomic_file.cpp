#include "taper/nn/serialize/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "taper/core/error.h"
#include "taper/nn/serialize/file.h"

namespace taper::serialize {

namespace {

[[noreturn]] void fail_write(const std::string& path, int error) {
  detail::fail_file("cannot write", path, error);
}

// The file that `path` stands for: symbolic links are followed, so that a link stays a link.
std::string resolve(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return path;
  if (S_ISDIR(status.st_mode)) fail_write(path, EISDIR);
  // Renaming onto a device or a pipe would replace it.
  TAPER_CHECK(S_ISREG(status.st_mode), "cannot write '", path, "': it is not a regular file");
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved) fail_write(path, errno);
  std::string result(resolved);
  std::free(resolved);
  return result;
}

// Opens the temporary file and locks it, so that two writers of one path take turns. A file that a
// killed process left behind is reused.
detail::Descriptor open_temporary(const std::string& temporary, const std::string& path) {
  for (;;) {
    detail::Descriptor file(
        ::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file.get() < 0) fail_write(path, errno);
    while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat opened, named;
    if (::fstat(file.get(), &opened) != 0) fail_write(path, errno);
    // The writer before us may have renamed what we opened.
    if (::lstat(temporary.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev) {
      if (::ftruncate(file.get(), 0) != 0) fail_write(path, errno);
      return file;
    }
  }
}

void sync_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const detail::Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems refuse to sync a folder; the file itself is safe by now.
  if (descriptor.get() >= 0) (void)::fsync(descriptor.get());
}

}  // namespace

void FileWriter::write(const void* data, size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(descriptor_, next, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      fail_write(path_, errno);
    }
    next += n;
    size -= static_cast<size_t>(n);
    written_ += static_cast<size_t>(n);
  }
}

void atomic_write_file(const std::string& path, const std::function<void(FileWriter&)>& write) {
  TAPER_CHECK_VALUE(!path.empty(), "cannot write a file: its path is empty");
  const std::string target = resolve(path);
  const std::string temporary = target + ".tmp";
  const detail::Descriptor file = open_temporary(temporary, path);
  try {
    FileWriter writer(file.get(), path);
    write(writer);
    struct stat existing;
    if (::stat(target.c_str(), &existing) == 0) {
      (void)::fchmod(file.get(), existing.st_mode & 07777);  // keeps who may read it
    }
    if (::fsync(file.get()) != 0) fail_write(path, errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail_write(path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(target);
}

void atomic_write_file(const std::string& path, std::string_view contents) {
  atomic_write_file(path, [&](FileWriter& file) { file.write(contents); });
}

}  // namespace taper::serialize
