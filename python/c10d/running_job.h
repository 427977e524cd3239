// SPDX-License-Identifier: MIT
// The collective at hand: by a schedule, which may have to be loaded first, or directly.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "c10d/direct.h"
#include "c10d/job.h"
#include "c10d/words.h"
#include "serve/messenger.h"
#include "serve/schedules.h"

namespace tacos::torch_backend {

/// What collectives of a group are done with.
struct Tools {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  Team& team;
  Transport& transport;
  Messenger& messenger;
  Schedules& schedules;
  Words& words;
  std::chrono::milliseconds timeout;
};

class RunningJob {
 public:
  /// Both must stay where they are.
  RunningJob(Job job, const Tools& tools);
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  /// After all others were told of it. Fails where nothing more will work.
  [[nodiscard]] Status start();
  /// Whether all is done that this rank has to do, and nobody has called anything else.
  [[nodiscard]] Result<bool> advance();
  /// Lets others have the core, where it is known how; whether it is.
  [[nodiscard]] bool pause();

  [[nodiscard]] const Job& job() const { return job_; }
  /// Why no schedule does it; empty where one does.
  [[nodiscard]] const std::string& why_directly() const { return why_directly_; }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

 private:
  [[nodiscard]] Status choose();
  void go_directly(std::string reason);
  [[nodiscard]] Status load();
  [[nodiscard]] Status check_others() const;

  Job job_;
  const Tools& tools_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  LoadedSchedule* schedule_ = nullptr;
  std::unique_ptr<DirectRun> direct_;
  /// To be loaded once all ranks have called the same.
  std::optional<Schedules::Use> loads_;
  /// How it is done follows from what all ranks say.
  bool undecided_ = false;
  /// Nothing is left to be sent or received here.
  bool moved_ = false;
  std::string why_directly_;
};

}  // namespace tacos::torch_backend
