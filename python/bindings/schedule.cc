// SPDX-License-Identifier: MIT
// Schedules: what they are of, their transfers as columns or one batch after the other, files.
#include "tacos/schedule.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "tacos/bundle.h"
#include "tacos/columns.h"
#include "tacos/export.h"
#include "tacos/verify.h"

#include "bindings.h"
#include "columns.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

/// The columns, read-only, over memory that they keep alive together.
py::dict to_dict(const ScheduleColumns& columns) {
  auto kept = std::make_unique<std::shared_ptr<const void>>(columns.memory);
  const py::capsule owner(kept.get(), [](void* memory) {
    delete static_cast<std::shared_ptr<const void>*>(memory);  // NOLINT
  });
  (void)kept.release();
  py::dict dict;
  dict["start"] = shared_array(columns.start, owner);
  dict["op"] = shared_array(
      std::span(reinterpret_cast<const std::uint8_t*>(columns.op.data()), columns.op.size()),
      owner);
  dict["links"] = shared_array(columns.links, owner);
  dict["chunks"] = shared_array(columns.chunks, owner);
  const bool simple = columns.first_link.empty();
  dict["first_link"] = simple ? py::object(py::none()) : shared_array(columns.first_link, owner);
  dict["first_chunk"] = simple ? py::object(py::none()) : shared_array(columns.first_chunk, owner);
  return dict;
}

/// Walks a schedule that it keeps alive.
class Walk {
 public:
  explicit Walk(Schedule schedule) : schedule_(std::move(schedule)), cursor_(schedule_.cursor()) {}

  /// The next transfers as tuples (start, op, links, chunks); empty at the end.
  py::list next() {
    take(cursor_->next(batch_));
    py::list transfers(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const Transfer transfer = batch_[i];
      transfers[i] = py::make_tuple(
          transfer.start.ps, transfer.op == Op::kReduce, ids(transfer.links), ids(transfer.chunks));
    }
    return transfers;
  }

 private:
  template <class Id>
  static py::tuple ids(std::span<const Id> list) {
    py::tuple numbers(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      numbers[i] = list[i].value();
    }
    return numbers;
  }

  Schedule schedule_;
  std::unique_ptr<TransferCursor> cursor_;
  TransferBatch batch_;
};

py::dict verified(const Bundle& bundle, int threads, py::object listener) {
  const VerifyReport report = take(run(std::move(listener), [&](const Watch& watch) {
    return verify(bundle.topology,
                  bundle.collective,
                  bundle.schedule,
                  {.link_model = bundle.link_model,
                   .threads = threads,
                   .progress = watch.progress,
                   .cancel = watch.cancel});
  }));
  py::dict dict;
  dict["violations"] = report.violations;
  dict["num_violations"] = report.num_violations;
  dict["num_transfers"] = report.num_transfers;
  dict["collective_time"] = report.collective_time.ps;
  return dict;
}

py::dict describe(const Collective& collective) {
  py::dict dict;
  dict["kind"] = std::string(to_string(collective.kind()));
  dict["name"] = std::string(collective.name());
  dict["form"] = std::string(to_string(collective.form()));
  dict["size"] = collective.size().count;
  dict["num_chunks"] = collective.num_chunks();
  dict["chunk_argument"] = collective.chunk_argument();
  dict["bus_factor"] = collective.bus_factor();
  std::vector<std::uint32_t> participants;
  participants.reserve(collective.num_participants());
  for (const NodeId npu : collective.participants()) {
    participants.push_back(npu.value());
  }
  dict["participants"] = participants;
  dict["root"] = is_rooted(collective.kind()) ? py::object(py::int_(collective.root().value()))
                                              : py::object(py::none());
  return dict;
}

/// Where each chunk begins in the buffer, and where the last one ends.
py::array chunk_offsets(const Collective& collective) {
  const ChunkTable& table = collective.chunks();
  std::vector<std::int64_t> offsets;
  offsets.reserve(std::size_t{table.count()} + 1);
  for (std::uint32_t chunk = 0; chunk < table.count(); ++chunk) {
    offsets.push_back(table.offset(ChunkId(chunk)).count);
  }
  offsets.push_back(table.size().count);
  return owned_array(std::move(offsets));
}

std::string exported_text(const Bundle& bundle,
                          const std::string& format,
                          const ExportOptions& options,
                          py::object listener) {
  const ExportFormat& found = *take(find_export_format(format));
  if (found.text == nullptr) {
    raise(input_error(fmt::format("{} is a folder of files; say where to write it", format)));
  }
  take(check_options(found, options));
  return take(run(std::move(listener), [&](const Watch&) { return found.text(bundle, options); }));
}

void write_exported(const Bundle& bundle,
                    const std::string& path,
                    const std::string& format,
                    const ExportOptions& options,
                    py::object listener) {
  const ExportFormat& found = *take(find_export_format(format));
  take(run(std::move(listener),
           [&](const Watch&) { return export_schedule(bundle, found, path, options); }));
}

void write(const Bundle& bundle, const std::string& path, int threads, py::object listener) {
  take(run(std::move(listener), [&](const Watch& watch) {
    return write_bundle(bundle, path, {.threads = threads, .progress = watch.progress});
  }));
}

void write_lines(const Bundle& bundle, const std::string& path, int threads, py::object listener) {
  take(run(std::move(listener), [&](const Watch& watch) {
    return write_trace(bundle, path, {.threads = threads, .progress = watch.progress});
  }));
}

}  // namespace

ExportOptions export_options(bool in_place, const std::string& protocol, bool credits) {
  for (const char* const known : {"Simple", "LL", "LL128"}) {
    if (protocol == known) {
      return {.in_place = in_place, .protocol = protocol, .credits = credits};
    }
  }
  raise(input_error(fmt::format("unknown protocol '{}'; known are Simple, LL, LL128", protocol)));
}

void bind_schedule(py::module_& module) {
  py::class_<ExportOptions>(module, "ExportOptions").def(py::init(&export_options));
  py::class_<Walk>(module, "Walk").def("next", &Walk::next);
  py::class_<Bundle, std::shared_ptr<Bundle>>(module, "Bundle")
      .def_property_readonly("topology",
                             [](const Bundle& self) {
                               return Network{self.topology, {}};
                             })
      .def_property_readonly("collective",
                             [](const Bundle& self) { return describe(self.collective); })
      .def_property_readonly(
          "link_model", [](const Bundle& self) { return std::string(to_string(self.link_model)); })
      .def_property_readonly("engine", [](const Bundle& self) { return self.engine; })
      .def_property_readonly("seed", [](const Bundle& self) { return self.seed; })
      .def_property_readonly("num_transfers",
                             [](const Bundle& self) { return self.schedule.num_transfers(); })
      .def_property_readonly("num_moves",
                             [](const Bundle& self) { return self.schedule.totals().moves; })
      .def_property_readonly("collective_time",
                             [](const Bundle& self) { return self.schedule.collective_time().ps; })
      .def_property_readonly(
          "hash", [](const Bundle& self) { return fmt::format("{:016x}", self.schedule.hash()); })
      .def("chunk_offsets", [](const Bundle& self) { return chunk_offsets(self.collective); })
      .def("columns",
           [](const Bundle& self, int threads) {
             return to_dict(take(run(
                 py::none(), [&](const Watch&) { return read_columns(self.schedule, threads); })));
           })
      .def("walk", [](const Bundle& self) { return std::make_unique<Walk>(self.schedule); })
      .def("verify", &verified)
      .def("write", &write)
      .def("write_trace", &write_lines)
      .def("export_text", &exported_text)
      .def("export_file", &write_exported);
  module.def("read_bundle", [](const std::string& path) {
    return std::make_shared<Bundle>(take(read_bundle(path)));
  });
}

}  // namespace tacos::python
