// SPDX-License-Identifier: MIT
// Topologies of synthesizers: TACCL's JSON and that of SCCL (msccl-tools).
//
// Both have matrices [dst][src]. TACCL's costs are in us, for the size that the file was made for,
// which is taken to be 1 MB. It knows some machines by name: with two betas it is an NDv2, with one
// the GPUs hang on a switch. SCCL counts chunks per round and has no bandwidth at all; one
// chunk per round counts as one NVLink of 25 GB/s. O(NPUs^2).
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text/json_reader.h"
#include "base/text/quantity.h"
#include "import/board.h"
#include "import/formats.h"
#include "import/text/fields.h"

namespace tacos::importing {
namespace {

constexpr std::size_t kMostGpus = 4096;
using Numbers = std::vector<std::vector<double>>;

/// Of numbers that are not negative; square.
Result<Numbers> read_matrix(const Json& file, const char* key, const std::string& where) {
  if (!file.contains(key) || !file[key].is_array() || file[key].size() > kMostGpus) {
    return json_error(where, key, "must be a square matrix, a list of lists of numbers");
  }
  const Json& rows = file[key];
  Numbers numbers;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string path = fmt::format("{}[{}]", key, row);
    if (!rows[row].is_array() || rows[row].size() != rows.size()) {
      return json_error(
          where,
          path,
          fmt::format("must have {} numbers, since there are {} rows", rows.size(), rows.size()));
    }
    std::vector<double>& made = numbers.emplace_back();
    for (const Json& cell : rows[row]) {
      if (!cell.is_number() || cell.get<double>() < 0 || cell.get<double>() > 1e15) {
        return json_error(where, path, "must have numbers that are not negative");
      }
      made.push_back(cell.get<double>());
    }
  }
  return numbers;
}

/// Microseconds for a megabyte.
Result<Bandwidth> bandwidth_of(double beta, const std::string& where, const std::string& path) {
  if (!(beta >= 1e-6 && beta <= 1e12)) {
    return json_error(where, path, "is no cost in us of a MB");
  }
  return Bandwidth{std::llround(1e12 / beta)};
}

class TacclReader {
 public:
  TacclReader(const Source& source, const Json& file)
      : source_(source), file_(file), board_(source) {}

  Result<Topology> read() {
    ObjectReader reader(file_, source_.where(), "");
    gpus_ = static_cast<std::size_t>(reader.required("gpus_per_node", kMostGpus));
    if (reader.failure()) {
      return *reader.failure();
    }
    if (!file_.contains("alpha") || !file_["alpha"].is_number() || gpus_ == 0 ||
        !(file_["alpha"].get<double>() >= 0 && file_["alpha"].get<double>() < 1e9)) {
      return json_error(source_.where(), "alpha", "must be the latency of links in us");
    }
    alpha_ = {std::llround(file_["alpha"].get<double>() * 1e6)};
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      board_.add_npu(fmt::format("gpu{}", gpu));
    }
    Status added = file_.contains("links") ? add_matrix() : add_known();
    if (added) {
      added = add_nics();
    }
    return added ? board_.build() : Result<Topology>(added.error());
  }

 private:
  using Node = Board::Node;

  Status add_matrix() {
    const Result<Numbers> links = read_matrix(file_, "links", source_.where());
    const Result<Numbers> betas = links ? read_matrix(file_, "betas", source_.where()) : links;
    if (!betas) {
      return betas.error();
    }
    if (links->size() != gpus_ || betas->size() != gpus_) {
      return json_error(
          source_.where(), "links", fmt::format("and betas must be for {} GPUs", gpus_));
    }
    for (Node to = 0; to < gpus_; ++to) {
      for (Node from = 0; from < gpus_; ++from) {
        if (from == to || (*links)[to][from] == 0) {
          continue;
        }
        const Result<Bandwidth> bandwidth = bandwidth_of(
            (*betas)[to][from], source_.where(), fmt::format("betas[{}][{}]", to, from));
        if (!bandwidth) {
          return bandwidth.error();
        }
        board_.link(from, to, *bandwidth, alpha_);
      }
    }
    return ok();
  }

  Status add_known() {
    const Json betas = file_.value("node_betas_list", Json());
    std::vector<Bandwidth> speeds;
    for (std::size_t i = 0; betas.is_array() && i < betas.size(); ++i) {
      const Result<Bandwidth> speed =
          bandwidth_of(betas[i].is_number() ? betas[i].get<double>() : 0,
                       source_.where(),
                       fmt::format("node_betas_list[{}]", i));
      if (!speed) {
        return speed.error();
      }
      speeds.push_back(*speed);
    }
    constexpr std::size_t kCubeMesh = 8;
    if (speeds.size() == 2 && gpus_ == kCubeMesh) {
      add_cube_mesh(speeds[0], speeds[1]);
      return ok();
    }
    if (speeds.size() != 1) {
      return json_error(source_.where(),
                        "node_betas_list",
                        "must have one number, or two for the eight GPUs of an NDv2; else give "
                        "links and betas");
    }
    const Node node = board_.add_switch("nvswitch");
    for (Node gpu = 0; gpu < gpus_; ++gpu) {
      board_.join(gpu, node, speeds[0], Ticks{alpha_.ps / 2});
    }
    return ok();
  }

  /// Two NVLinks, and one.
  void add_cube_mesh(Bandwidth fast, Bandwidth slow) {
    using Pair = std::pair<Node, Node>;
    constexpr std::array kFast{Pair{0, 1},
                               Pair{0, 4},
                               Pair{1, 3},
                               Pair{2, 3},
                               Pair{2, 6},
                               Pair{4, 5},
                               Pair{5, 7},
                               Pair{6, 7}};
    constexpr std::array kSlow{Pair{0, 2},
                               Pair{0, 3},
                               Pair{1, 2},
                               Pair{1, 5},
                               Pair{3, 7},
                               Pair{4, 6},
                               Pair{4, 7},
                               Pair{5, 6}};
    for (const auto& [a, b] : kFast) {
      board_.join(a, b, fast, alpha_);
    }
    for (const auto& [a, b] : kSlow) {
      board_.join(a, b, slow, alpha_);
    }
  }

  /// Shared evenly; what they take to the next box is for the cluster to say.
  Status add_nics() {
    const Json nics = file_.value("nics_per_node", Json());
    const Json beta = file_.value("remote_beta", Json());
    if (!nics.is_number_integer() || nics.get<std::int64_t>() <= 0) {
      return ok();
    }
    const auto count = static_cast<std::size_t>(nics.get<std::int64_t>());
    const Result<Bandwidth> speed =
        bandwidth_of(beta.is_number() ? beta.get<double>() : 0, source_.where(), "remote_beta");
    if (!speed) {
      return speed.error();
    }
    if (count > gpus_) {
      return json_error(source_.where(), "nics_per_node", "is more than there are GPUs");
    }
    std::vector<Node> nodes;
    for (std::size_t nic = 0; nic < count; ++nic) {
      nodes.push_back(board_.add_switch(fmt::format("{}{}", kNicPrefix, nic)));
    }
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      board_.join(static_cast<Node>(gpu), nodes[gpu * count / gpus_], *speed, Hop::kPcie);
    }
    return ok();
  }

  const Source& source_;
  const Json& file_;
  Board board_;
  std::size_t gpus_ = 0;
  Ticks alpha_;
};

Result<Topology> read_sccl_object(const Source& source, const Json& file) {
  const Result<Numbers> links = read_matrix(file, "links", source.where());
  if (!links) {
    return links.error();
  }
  if (file.contains("switches") && !file["switches"].empty()) {
    source.warn(1, "has 'switches', limits on sums of links, which are not read");
  }
  constexpr double kNvlink = 25e9;
  Board board(source);
  for (std::size_t gpu = 0; gpu < links->size(); ++gpu) {
    board.add_npu(fmt::format("gpu{}", gpu));
  }
  for (Board::Node to = 0; to < links->size(); ++to) {
    for (Board::Node from = 0; from < links->size(); ++from) {
      const double chunks = (*links)[to][from];
      if (from != to && chunks > 0) {
        board.link(from, to, {std::llround(std::min(chunks * kNvlink, 1e18))}, Hop::kPeer);
      }
    }
  }
  return board.build();
}

}  // namespace

Result<Topology> read_taccl(const Source& source) {
  return read_json<Topology>(source.text(), source.where(), [&](const Json& file) {
    return file.is_object() ? TacclReader(source, file).read()
                            : json_error(source.where(), "", "must be an object");
  });
}

Result<Topology> read_sccl(const Source& source) {
  return read_json<Topology>(source.text(), source.where(), [&](const Json& file) {
    return file.is_object() ? read_sccl_object(source, file)
                            : json_error(source.where(), "", "must be an object");
  });
}

}  // namespace tacos::importing
