// SPDX-License-Identifier: MIT
// What pictures are made of: places of nodes, when links are busy; and pictures and pages that the
// library draws.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "tacos/bundle.h"
#include "tacos/draw.h"
#include "tacos/view.h"

#include "bindings.h"
#include "columns.h"
#include "draw/layout.h"
#include "errors.h"
#include "export/pictures/passages.h"
#include "work.h"

namespace tacos::python {
namespace {

/// x and y of every node, one after the other; y down.
py::array places(const Network& network) {
  std::vector<double> coordinates;
  const draw::Layout layout = draw::lay_out(network.topology);
  for (const draw::Place& place : layout.nodes) {
    coordinates.insert(coordinates.end(), {place.x, place.y});
  }
  return owned_array(std::move(coordinates));
}

/// Every transfer on each of its links: link, start and end in ps.
py::tuple passages(const Bundle& bundle) {
  std::vector<std::uint32_t> links;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  take(run(py::none(), [&](const Watch&) {
    return exporting::each_transfer(bundle, [&](const Transfer& transfer, Ticks /*end*/) {
      exporting::each_passage(bundle, transfer, [&](const exporting::Passage& passage) {
        links.push_back(passage.link.value());
        starts.push_back(passage.start.ps);
        ends.push_back((passage.start + passage.busy).ps);
      });
    });
  }));
  return py::make_tuple(
      owned_array(std::move(links)), owned_array(std::move(starts)), owned_array(std::move(ends)));
}

/// By link and span of time, the share of it in which the link is busy: links x bins, row by row.
py::array occupancy(const Bundle& bundle, std::uint32_t bins) {
  const double span = static_cast<double>(bundle.schedule.collective_time().ps) / bins;
  std::vector<float> busy(std::size_t{bundle.topology.num_links()} * bins, 0);
  if (!(span > 0)) {
    return owned_array(std::move(busy));
  }
  take(run(py::none(), [&](const Watch&) {
    return exporting::each_transfer(bundle, [&](const Transfer& transfer, Ticks /*end*/) {
      exporting::each_passage(bundle, transfer, [&](const exporting::Passage& passage) {
        float* const row = busy.data() + passage.link.index() * bins;
        const double from = static_cast<double>(passage.start.ps) / span;
        const double to = static_cast<double>((passage.start + passage.busy).ps) / span;
        const auto last = std::min<double>(bins, std::ceil(to));
        for (auto bin = static_cast<std::uint32_t>(from); bin < last; ++bin) {
          row[bin] += static_cast<float>(std::min(to, bin + 1.0) - std::max<double>(from, bin));
        }
      });
    });
  }));
  return owned_array(std::move(busy));
}

py::array ends(const Bundle& bundle) {
  std::vector<std::int64_t> all;
  all.reserve(bundle.schedule.num_transfers());
  take(run(py::none(), [&](const Watch&) {
    return exporting::each_transfer(
        bundle, [&](const Transfer& /*transfer*/, Ticks end) { all.push_back(end.ps); });
  }));
  return owned_array(std::move(all));
}

std::string drawn(const Network& network) {
  return draw_network(network.topology);
}

/// Links in the colours of how busy they are; or when they are, row by row. `bound` is in
/// picoseconds.
std::string drawn_schedule(const Bundle& bundle,
                           bool timeline,
                           std::optional<std::int64_t> bound,
                           py::object listener) {
  DrawOptions options;
  if (bound) {
    options.bound = Ticks{*bound};
  }
  return take(run(std::move(listener), [&](const Watch&) {
    return timeline ? draw_timeline(bundle, options) : draw_network(bundle, options);
  }));
}

/// The viewer's page, for one schedule or two.
std::string page(const std::vector<std::shared_ptr<Bundle>>& bundles,
                 int threads,
                 py::object listener) {
  std::vector<Bundle> shown;
  shown.reserve(bundles.size());
  for (const auto& bundle : bundles) {
    shown.push_back(*bundle);
  }
  return take(run(std::move(listener), [&](const Watch& watch) {
    return view_page(shown, {.threads = threads, .progress = watch.progress});
  }));
}

}  // namespace

void bind_pictures(py::module_& module) {
  module.def("places", &places);
  module.def("passages", &passages);
  module.def("occupancy", &occupancy);
  module.def("ends", &ends);
  module.def("draw_topology", &drawn);
  module.def("draw_schedule", &drawn_schedule);
  module.def("view_page", &page);
}

}  // namespace tacos::python
