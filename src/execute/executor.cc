// SPDX-License-Identifier: MIT
#include <chrono>
#include <thread>
#include <utility>

#include "tacos/execute.h"

#include "execute/machine.h"
#include "execute/script.h"

namespace tacos {

void Connection::wait(std::uint32_t looks) {
  constexpr std::uint32_t kYields = 4096;
  constexpr std::chrono::microseconds kSleep{50};
  if (looks > kYields) {
    std::this_thread::sleep_for(kSleep);
  } else {
    std::this_thread::yield();
  }
}

Executor::Executor(std::unique_ptr<execution::Machine> machine) : machine_(std::move(machine)) {}
Executor::Executor(Executor&& other) noexcept = default;
Executor& Executor::operator=(Executor&& other) noexcept = default;
Executor::~Executor() = default;

Result<Executor> Executor::load(const Program& program,
                                NodeId npu,
                                Transport& transport,
                                const ExecuteOptions& options) {
  Result<execution::Script> script = execution::make_script(program, npu);
  return script ? load_script(*std::move(script), transport, options)
                : Result<Executor>(script.error());
}
Result<Executor> Executor::load(const Loop& loop,
                                NodeId npu,
                                Transport& transport,
                                const ExecuteOptions& options) {
  Result<execution::Script> script = execution::make_script(loop, npu);
  return script ? load_script(*std::move(script), transport, options)
                : Result<Executor>(script.error());
}
Result<Executor> Executor::load_script(execution::Script&& script,
                                       Transport& transport,
                                       const ExecuteOptions& options) {
  Result<std::unique_ptr<Connection>> connection =
      transport.open(execution::ends_of(script, options));
  if (!connection) {
    return connection.error();
  }
  return Executor(
      std::make_unique<execution::Machine>(std::move(script), *std::move(connection), options));
}

Status Executor::bind(std::size_t count, ElementType type, ReduceOp op) {
  return machine_->bind(count, type, op);
}
std::size_t Executor::input_bytes() const {
  return machine_->buffer_bytes(Buffer::kInput);
}
std::size_t Executor::output_bytes() const {
  return machine_->buffer_bytes(Buffer::kOutput);
}
Status Executor::run(const void* input, void* output) {
  return machine_->run(input, output);
}
void Executor::start(const void* input, void* output) {
  machine_->start(input, output);
}
Result<bool> Executor::advance() {
  return machine_->advance();
}
void Executor::pause() {
  machine_->pause();
}
const ExecuteStats& Executor::stats() const {
  return machine_->stats();
}

}  // namespace tacos
