// SPDX-License-Identifier: MIT
// A list that need not be closed, so that the file can be read whenever the process ends.
#include "c10d/trace.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace tacos::torch_backend {
namespace {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

Trace::Trace(std::FILE* file, int rank)
    : file_(file),
      rank_(rank),
      shift_(std::chrono::system_clock::now().time_since_epoch() -
             Clock::now().time_since_epoch()) {}

Result<std::unique_ptr<Trace>> Trace::open(const std::string& folder,
                                           const std::string& group,
                                           int rank) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const std::string name = group.empty() ? fmt::format("rank{}.json", rank)
                                         : fmt::format("rank{}-group{}.json", rank, group);
  const std::string path = (std::filesystem::path(folder) / name).string();
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return input_error(fmt::format("cannot be written: {}", std::strerror(errno)),
                       "TACOS_TRACE " + path);
  }
  fmt::print(file,
             "[\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"args\":{{\"name\":\"rank "
             "{0}\"}}}}",
             rank);
  return std::unique_ptr<Trace>(new Trace(file, rank));
}

Trace::~Trace() {
  fmt::print(file_, "\n]\n");
  (void)std::fclose(file_);
}

double Trace::microseconds(Clock::time_point time) const {
  return std::chrono::duration<double, std::micro>(time.time_since_epoch() + shift_).count();
}

void Trace::add(const Event& event) {
  fmt::print(file_,
             ",\n{{\"ph\":\"X\",\"name\":{},\"cat\":\"tacos\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
             "\"dur\":{:.3f},\"args\":{{\"bytes\":{},\"by\":{},\"waited_us\":{:.3f}}}}}",
             json_text(event.title),
             rank_,
             event.aside ? 1 : 0,
             microseconds(event.started),
             microseconds(event.ended) - microseconds(event.started),
             event.bytes,
             json_text(event.by),
             microseconds(event.started) - microseconds(event.asked));
}

}  // namespace tacos::torch_backend
