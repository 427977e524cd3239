// SPDX-License-Identifier: MIT
// Runs a fuzz target on every file below the folders that it is given: the part of fuzzing that
// every test run does, with any compiler. Folders that are not there are empty.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fuzz/target.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    // Said before it runs, so that the last line names the input that broke something.
    fmt::print("{}\n", file.string());
    (void)std::fflush(stdout);
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    // A copy of the exact size: reading beyond it is then seen by sanitizers.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    (void)LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  fmt::print("{} inputs replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
