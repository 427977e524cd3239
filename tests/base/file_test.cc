// SPDX-License-Identifier: MIT
#include "base/files/file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tacos {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("tacos-file-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(at(name)).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::ptrdiff_t num_files() const {
    return std::distance(fs::directory_iterator(folder_), {});
  }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat info {};
    EXPECT_EQ(::stat(at(name).c_str(), &info), 0);
    return info.st_mode & 0777U;
  }
  [[nodiscard]] bool same(const std::string& a, const std::string& b) const {
    return same_target(*find_target(a), *find_target(b));
  }

  fs::path folder_;
};

TEST_F(File, KeepsTheModeOfWhatItReplaces) {
  for (const mode_t expected : {mode_t{0600}, mode_t{0640}, mode_t{0755}}) {
    std::ofstream(at("a")) << "before";
    ASSERT_EQ(::chmod(at("a").c_str(), expected), 0);
    ASSERT_TRUE(write_text_file(at("a"), "after"));
    EXPECT_EQ(mode("a"), expected);
    EXPECT_EQ(contents("a"), "after");
  }
}

TEST_F(File, IsMadeAsTheMaskSays) {
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write_text_file(at("a"), "text"));
  (void)::umask(before);
  EXPECT_EQ(mode("a"), 0640U);
}

TEST_F(File, WritesThroughLinks) {
  fs::create_directory(at("folder"));
  fs::create_symlink("folder/target", at("link"));
  fs::create_symlink("link", at("link-to-link"));
  for (const char* text : {"new", "replaced"}) {
    ASSERT_TRUE(write_text_file(at("link-to-link"), text));
    EXPECT_EQ(contents("folder/target"), text);
    EXPECT_TRUE(fs::is_symlink(at("link")) && fs::is_symlink(at("link-to-link")));
  }
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  fs::create_symlink("-", "dash");
  EXPECT_TRUE(check_writable(*find_target("dash")));
  EXPECT_TRUE(write_text_file("dash", "text"));
  fs::current_path(before);
  EXPECT_EQ(contents("-"), "text");
  fs::create_symlink("circle", at("circle"));
  EXPECT_THAT(write_text_file(at("circle"), "").error().message, HasSubstr("in a circle"));
}

TEST_F(File, LeavesNothingWhenGivenUp) {
  { ASSERT_TRUE(AtomicFile::create(at("a"))); }
  EXPECT_EQ(num_files(), 0);
  Result<AtomicFile> file = AtomicFile::create(at("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ(num_files(), 1);
  remove_partial_files();
  EXPECT_EQ(num_files(), 0);
  remove_partial_files();
}

TEST_F(File, RemembersNoFileThatIsComplete) {
  ASSERT_TRUE(write_text_file(at("a"), "text"));
  remove_partial_files();
  EXPECT_EQ(contents("a"), "text");
  // More at a time than can be remembered are still written.
  std::vector<AtomicFile> many;
  for (int i = 0; i < 10; ++i) {
    many.push_back(AtomicFile::create(at(fmt::format("{}", i))).value());
  }
  for (AtomicFile& file : many) {
    (void)file.commit();
  }
  EXPECT_TRUE(fs::exists(at("9")));
}

TEST_F(File, IsCheckedWithoutATrace) {
  EXPECT_TRUE(check_writable(*find_target(at("a"))));
  EXPECT_EQ(num_files(), 0);
  EXPECT_THAT(check_writable(*find_target(at("no/such/a"))).error().to_string(),
              HasSubstr("no/such/a: cannot be written"));
  EXPECT_THAT(find_target(folder_.string()).error().message, HasSubstr("is a folder"));
  EXPECT_TRUE(check_writable(*find_target("/dev/null")));
  EXPECT_FALSE(check_writable(*find_target("/dev/fd/777")));
}

TEST_F(File, IsOneHoweverItIsSpelt) {
  fs::create_directory(at("folder"));
  fs::create_directory_symlink("folder", at("other"));
  fs::create_symlink("folder/a", at("link"));
  EXPECT_TRUE(same(at("folder/a"), at("folder/../folder//./a")));
  EXPECT_TRUE(same(at("folder/a"), at("other/a")));
  EXPECT_TRUE(same(at("folder/a"), at("link")));
  EXPECT_FALSE(same(at("folder/a"), at("folder/b")));
  EXPECT_FALSE(same(at("folder/a"), at("a")));
  EXPECT_TRUE(same("-", "/dev/stdout"));
  EXPECT_TRUE(same("/dev/fd/1", "/proc/self/fd/1"));
  EXPECT_FALSE(same("-", "./-"));
  EXPECT_FALSE(same("-", "/dev/null"));
  EXPECT_FALSE(same("/dev/null", "/dev/null")) << "it takes both";
}

TEST_F(File, IsNotReadWhenItIsNoText) {
  EXPECT_THAT(read_text_file("/dev/zero").error().to_string(),
              HasSubstr("/dev/zero: has a NUL byte in it"));
  ASSERT_TRUE(write_text_file(at("a"), std::string("text\0more", 9)));
  EXPECT_THAT(read_text_file(at("a")).error().message, HasSubstr("NUL byte"));
  EXPECT_THAT(read_text_file(folder_.string()).error().message, HasSubstr("is a folder"));
}

TEST_F(File, NeedsADirectoryForMany) {
  EXPECT_TRUE(check_directory(folder_.string()));
  EXPECT_THAT(check_directory("/dev/null").error().message, HasSubstr("is no directory"));
  EXPECT_THAT(check_directory(at("nowhere")).error().message, HasSubstr("is no directory"));
}

}  // namespace
}  // namespace tacos
