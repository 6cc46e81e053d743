#include "taper/data/atomic_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "support.h"

using namespace data_test;

TEST_CASE("A file is replaced whole and leaves nothing beside it") {
  const TempFolder folder;
  const std::string path = folder / "a";
  data::atomic_write_file(path, "one");
  CHECK(read_file(path) == "one");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  data::atomic_write_file(path, [](data::FileWriter& file) {
    file.write("two ");
    file.write("three");
    CHECK(file.written() == 9);
  });
  CHECK(read_file(path) == "two three");
  CHECK(folder.files() == 1);
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("An exception while writing leaves the old file") {
  const TempFolder folder;
  const std::string path = folder / "a";
  data::atomic_write_file(path, "old");
  CHECK_THROWS_AS(data::atomic_write_file(path,
                                          [](data::FileWriter& file) {
                                            file.write("half");
                                            throw std::runtime_error("stop");
                                          }),
                  std::runtime_error);
  CHECK(read_file(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("A temporary file that a killed process left is taken over") {
  const TempFolder folder;
  write_file(folder / "a.tmp", "a long piece of something half written");
  data::atomic_write_file(folder / "a", "new");
  CHECK(read_file(folder / "a") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("A full disk gives one message and leaves the old file") {
  const TempFolder folder;
  const std::string path = folder / "a";
  data::atomic_write_file(path, "old");
  // A limit on the size of files stands in for the disk.
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message;
  try {
    data::atomic_write_file(path, std::string(5000, 'x'));
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(message == "cannot write '" + path + "': File too large");
  CHECK(read_file(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("Places that can't be written are named") {
  const TempFolder folder;
  CHECK(error_of([&] { data::atomic_write_file(folder / "no/such/file", "x"); }) ==
        "cannot write '" + (folder / "no/such/file") + "': No such file or directory");
  CHECK_THAT(error_of([&] { data::atomic_write_file(folder.path(), "x"); }),
             ContainsSubstring("Is a directory"));
  CHECK_THAT(error_of([&] { data::atomic_write_file("", "x"); }), ContainsSubstring("empty"));
  // Renaming onto a device would replace it.
  CHECK_THAT(error_of([&] { data::atomic_write_file("/dev/null", "x"); }),
             ContainsSubstring("not a regular file"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("A symbolic link stays a link") {
  const TempFolder folder;
  write_file(folder / "real", "old");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  data::atomic_write_file(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_file(folder / "real") == "new");
}

TEST_CASE("Writers of one path take turns") {
  const TempFolder folder;
  const std::string path = folder / "a";
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        data::atomic_write_file(path, [&](data::FileWriter& file) {
          for (int k = 0; k < 50; ++k) file.write(std::string(100, static_cast<char>('a' + t)));
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = read_file(path);
  CHECK(text == std::string(5000, text[0]));
  CHECK(folder.files() == 1);
}
