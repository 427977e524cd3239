// SPDX-License-Identifier: MIT
// A folder of a test's own, gone with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

namespace tacos {

class TemporaryFolder {
 public:
  TemporaryFolder() : name_(::testing::TempDir() + "tacos-XXXXXX") {
    if (::mkdtemp(name_.data()) == nullptr) {
      ADD_FAILURE() << "no folder could be made in " << ::testing::TempDir();
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  /// Of a file in it.
  [[nodiscard]] std::string path(const std::string& file) const { return name_ + "/" + file; }

 private:
  std::string name_;
};

}  // namespace tacos
