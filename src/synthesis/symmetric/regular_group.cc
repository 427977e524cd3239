// SPDX-License-Identifier: MIT
// A network is a Cayley graph when its symmetries have a subgroup that is regular: for every two
// NPUs exactly one element takes the first to the second (Sabidussi 1958). The group of all
// symmetries is usually much larger (a hypercube of 1,024 NPUs has 10! symmetries for each NPU), so
// looking through it is out of the question; drawing elements at random is not, as every draw gives
// an element and all its powers.
//
// The regular group is built one generator at a time, each time keeping it *free*: no element but
// the identity leaves an NPU where it is (free_action.cc). From a drawn element, for every prime p,
// the power is taken that is of p-power order on the NPUs, or on the orbits of the group so far: on
// a hypercube, where an element is a shuffle of the dimensions and a shift, this is what gets rid
// of the shuffle. What may be drawn follows one of three laws:
//
//   - the next generator commutes with those before: the group becomes abelian. Such elements move
//     all NPUs by the same distance, which is quick to check. When none is drawn, bliss tells all
//     symmetries that commute: those of the network with an arrow from every NPU to where each
//     generator takes it. If these no longer take every NPU to every other, there is no way on.
//   - it normalises their group, which then becomes solvable, as on a dragonfly, where the NPUs are
//     the pairs of two different groups and the regular group is that of the maps x -> a x + b of a
//     finite field. Here bliss sees all elements of the group so far, tied together.
//   - none. Quick, and enough where there are few symmetries beyond the regular ones.
//
// All are bounded attempts: "no" means "not found". (Petersen's graph has no regular group at all.)
//
// NPUs with the same neighbours, as behind one switch, can be permuted at will, n! ways, of which
// hardly any are free. So the first generator rotates these.
//
// Cost: O(NPUs x log(NPUs) x generators) for each test, a few tests and a run of bliss for each
// generator, of which there are at most log2(NPUs). Measured: ADR 41.
#include "synthesis/symmetric/regular_group.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"
#include "synthesis/symmetric/free_action.h"
#include "topology/automorphisms.h"

namespace tacos::symmetric {
namespace {

constexpr std::uint32_t kMostNpus = 5'000;
constexpr std::uint32_t kMostLinks = 200'000;
constexpr std::uint32_t kFarAway = 0xffffffff;

std::uint32_t num_orbits(std::span<const Permutation> generators, std::uint32_t npus) {
  const std::vector<std::uint32_t> first = orbits(generators, npus);
  std::uint32_t count = 0;
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    count += first[npu] == npu ? 1 : 0;
  }
  return count;
}

/// Elements of a group that look random (product replacement: Celler, Leedham-Green, Murray,
/// Niemeyer and O'Brien 1995, with the accumulator of the "rattle").
class RandomElements {
 public:
  RandomElements(std::span<const Permutation> generators, Rng& rng)
      : rng_(rng),
        pool_(generators.begin(), generators.end()),
        product_(identity_permutation(generators.front().size())) {
    while (pool_.size() < kPool) {
      pool_.push_back(pool_[pool_.size() - generators.size()]);
    }
    for (std::size_t i = 0; i < kWarmUp * pool_.size(); ++i) {
      (void)next();
    }
  }

  const Permutation& next() {
    const auto size = static_cast<std::uint32_t>(pool_.size());
    const std::uint32_t changed = rng_.below(size);
    const std::uint32_t other = (changed + 1 + rng_.below(size - 1)) % size;
    const Permutation factor = rng_.below(2) == 0 ? pool_[other] : inverted(pool_[other]);
    pool_[changed] =
        rng_.below(2) == 0 ? composed(pool_[changed], factor) : composed(factor, pool_[changed]);
    product_ = composed(product_, pool_[changed]);
    return product_;
  }

 private:
  static constexpr std::size_t kPool = 10;
  static constexpr std::size_t kWarmUp = 8;

  Rng& rng_;
  std::vector<Permutation> pool_;
  Permutation product_;
};

Permutation power(Permutation base, std::uint64_t exponent) {
  Permutation result = identity_permutation(base.size());
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) {
      result = composed(result, base);
    }
    base = composed(base, base);
  }
  return result;
}

struct PrimePower {
  std::uint32_t prime = 0;
  std::uint32_t value = 1;
};

std::vector<PrimePower> factors(std::uint32_t number) {
  std::vector<PrimePower> factors;
  for (std::uint32_t prime = 2; number > 1; ++prime) {
    if (prime * prime > number) {
      prime = number;
    }
    if (number % prime == 0) {
      factors.push_back({.prime = prime});
      for (; number % prime == 0; number /= prime) {
        factors.back().value *= prime;
      }
    }
  }
  return factors;
}

/// The lengths of the cycles in which an element moves the orbits of a group that it commutes with,
/// each length once, increasing.
std::vector<std::uint32_t> cycle_lengths(const Permutation& element,
                                         std::span<const std::uint32_t> orbit_of) {
  std::vector<bool> seen(orbit_of.size(), false);
  std::vector<std::uint32_t> lengths;
  for (std::uint32_t first = 0; first < orbit_of.size(); ++first) {
    std::uint32_t length = 0;
    for (std::uint32_t at = orbit_of[first]; !seen[at]; at = orbit_of[element[at]]) {
      seen[at] = true;
      ++length;
    }
    if (length > 0) {
      lengths.push_back(length);
    }
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

/// Calls `use` with powers of the element that move all orbits in cycles of one length, a power of
/// a prime, until it says that it is done.
template <class Use>
bool for_prime_parts(const Permutation& element,
                     std::span<const std::uint32_t> orbit_of,
                     const Use& use) {
  const std::vector<std::uint32_t> lengths = cycle_lengths(element, orbit_of);
  std::vector<PrimePower> order;
  for (const std::uint32_t length : lengths) {
    for (const PrimePower& factor : factors(length)) {
      const auto known = std::find_if(order.begin(), order.end(), [&](const PrimePower& one) {
        return one.prime == factor.prime;
      });
      if (known == order.end()) {
        order.push_back(factor);
      } else {
        known->value = std::max(known->value, factor.value);
      }
    }
  }
  for (const PrimePower& part : order) {
    if (std::any_of(lengths.begin(), lengths.end(), [&](std::uint32_t length) {
          return length % part.value != 0;
        })) {
      continue;
    }
    Permutation rest = element;
    for (const PrimePower& other : order) {
      rest = other.prime == part.prime ? rest : power(std::move(rest), other.value);
    }
    // All of it, or else its subgroup of prime order.
    if (use(rest) ||
        (part.value > part.prime && use(power(std::move(rest), part.value / part.prime)))) {
      return true;
    }
  }
  return false;
}

/// By node: how many links away it is; kFarAway when it cannot be reached.
std::vector<std::uint32_t> distances_from(const Topology& topology, NodeId source) {
  std::vector<std::uint32_t> distances(topology.num_nodes(), kFarAway);
  std::vector<NodeId> reached{source};
  distances[source.index()] = 0;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const LinkId link : topology.out_links(reached[next])) {
      const NodeId to = topology.link(link).dst;
      if (distances[to.index()] == kFarAway) {
        distances[to.index()] = distances[reached[next].index()] + 1;
        reached.push_back(to);
      }
    }
  }
  return distances;
}

class GroupSearch {
 public:
  explicit GroupSearch(const Topology& topology)
      : topology_(topology), npus_(topology.num_npus()) {}

  std::vector<Permutation> run() {
    const Permutation rotation = twin_rotation(topology_);
    if (rotation != identity_permutation(rotation.size())) {
      base_.push_back(rotation);
    }
    if (!acts_freely(base_, npus_)) {
      return {};
    }
    all_ = automorphisms(topology_, base_);
    // What commutes with a rotation of twins includes the rotation, so `all_` is not empty then.
    if (num_orbits(all_, npus_) > 1) {
      return {};
    }
    measure_distances();
    // What is quick comes first, and looking ahead, which is right more often, only after that.
    for (const Attempt& attempt : {Attempt{.law = Law::kCommute, .draws = 64},
                                   Attempt{.law = Law::kNone, .draws = 64},
                                   Attempt{.law = Law::kCommute, .ahead = true},
                                   Attempt{.law = Law::kNormalize, .ahead = true},
                                   Attempt{.law = Law::kNone}}) {
      work_ = 0;
      for (std::uint32_t start = 0; start < kStarts; ++start) {
        if (build(attempt)) {
          return group_;
        }
      }
    }
    return {};
  }

 private:
  /// What a generator must do with the group of those before.
  enum class Law { kCommute, kNormalize, kNone };
  struct Attempt {
    Law law = Law::kNone;
    /// Whether what an element leaves to be drawn is looked at before it is taken.
    bool ahead = false;
    /// For one generator.
    std::uint32_t draws = kMostDraws;
  };
  static constexpr std::uint32_t kStarts = 4;
  static constexpr std::uint32_t kMostDraws = 512;
  static constexpr std::uint32_t kSamples = 16;
  /// Arrows from each NPU to where each element of a group takes it.
  static constexpr std::uint64_t kMostArrows = 1U << 15U;
  /// For each attempt, in nodes, links and arrows that bliss gets to see, a microsecond or two
  /// each, at most 64 times. So that draws are in proportion they count as an eighth of the NPUs.
  /// On small networks other engines are quick, so this must be too.
  [[nodiscard]] std::uint64_t most_work() const {
    return std::min<std::uint64_t>(1U << 19U, std::uint64_t{npus_} << 10U);
  }

  /// Adds generators as long as one is found; whether that was enough.
  bool build(const Attempt& attempt) {
    group_ = base_;
    ambient_ = all_;
    // Nothing else is drawn than what commutes with `base_`.
    obedient_ = true;
    while (num_orbits(group_, npus_) > 1) {
      check_cancel();
      const bool more =
          extend(attempt, attempt.draws) || (attempt.law == Law::kCommute && !attempt.ahead &&
                                             narrow(attempt.law) && extend(attempt, kMostDraws));
      if (!more) {
        return false;
      }
    }
    return true;
  }

  bool extend(const Attempt& attempt, std::uint32_t draws) {
    RandomElements elements(ambient_, rng_);
    // Only what obeys a law is sure to take orbits to orbits.
    const std::vector<std::uint32_t> orbit_of =
        obedient_ ? orbits(group_, npus_) : identity_permutation(npus_);
    for (; draws > 0 && work_ < most_work(); --draws) {
      work_ += 4 + npus_ / 8;
      const Permutation element = elements.next();
      if (for_prime_parts(
              element, orbit_of, [&](const Permutation& part) { return take(part, attempt); })) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool commutes(const Permutation& element) const {
    return std::all_of(group_.begin(), group_.end(), [&](const Permutation& generator) {
      for (std::uint32_t npu = 0; npu < npus_; ++npu) {
        if (element[generator[npu]] != generator[element[npu]]) {
          return false;
        }
      }
      return true;
    });
  }

  /// Adds an element to the group if what comes out may still become regular.
  bool take(const Permutation& element, const Attempt& attempt) {
    if (attempt.law == Law::kCommute && (!moves_all_as_far(element) || !commutes(element))) {
      return false;
    }
    const std::uint32_t before = num_orbits(group_, npus_);
    group_.push_back(element);
    const std::uint32_t after = num_orbits(group_, npus_);
    if (after == before || !acts_freely(group_, npus_) ||
        (after > 1 && attempt.ahead && !narrow(attempt.law))) {
      group_.pop_back();
      return false;
    }
    obedient_ = obedient_ && attempt.ahead;
    return true;
  }

  /// Draws from now on what obeys the law, if that still takes every NPU to every other.
  bool narrow(Law law) {
    const std::uint64_t elements =
        law == Law::kCommute ? group_.size() : npus_ / num_orbits(group_, npus_);
    const std::uint64_t arrows = elements * npus_;
    if (law == Law::kNormalize && arrows > kMostArrows) {
      obedient_ = false;
      return true;
    }
    work_ += most_work() / 64 + topology_.num_nodes() + topology_.num_working_links() + 2 * arrows;
    if (work_ >= most_work()) {
      return false;
    }
    std::vector<Permutation> narrower =
        law == Law::kCommute ? automorphisms(topology_, group_)
                             : automorphisms(topology_, elements_of_group(), Keep::kAll);
    work_ += narrower.size() * npus_ / 4;
    if (num_orbits(narrower, npus_) > 1) {
      return false;
    }
    ambient_ = std::move(narrower);
    obedient_ = true;
    return true;
  }

  /// All but the identity; of a free group, one for each NPU that 0 is taken to.
  [[nodiscard]] std::vector<Permutation> elements_of_group() const {
    std::vector<Permutation> elements{identity_permutation(topology_.num_nodes())};
    std::vector<bool> known(npus_, false);
    known[0] = true;
    for (std::size_t next = 0; next < elements.size(); ++next) {
      for (const Permutation& generator : group_) {
        Permutation product = composed(elements[next], generator);
        if (!known[product[0]]) {
          known[product[0]] = true;
          elements.push_back(std::move(product));
        }
      }
    }
    elements.erase(elements.begin());
    return elements;
  }

  void measure_distances() {
    for (std::uint32_t i = 0; i < std::min(kSamples, npus_); ++i) {
      samples_.push_back(i * npus_ / std::min(kSamples, npus_));
      const std::vector<std::uint32_t> from = distances_from(topology_, NodeId(samples_.back()));
      distances_.insert(distances_.end(), from.begin(), from.begin() + npus_);
    }
  }

  /// If the symmetries that commute with an element take any NPU to any other, it moves all by the
  /// same distance. Looks at some only: this is to save runs of bliss.
  [[nodiscard]] bool moves_all_as_far(const Permutation& element) const {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (distances_[i * npus_ + element[samples_[i]]] != distances_[element[samples_[0]]]) {
        return false;
      }
    }
    return true;
  }

  const Topology& topology_;
  std::uint32_t npus_;
  Rng rng_{1};
  std::vector<Permutation> base_;
  std::vector<Permutation> all_;
  std::vector<Permutation> ambient_;
  std::vector<Permutation> group_;
  /// Whether all that is drawn obeys the law.
  bool obedient_ = true;
  std::uint64_t work_ = 0;
  std::vector<std::uint32_t> samples_;
  /// By sample and NPU.
  std::vector<std::uint32_t> distances_;
};

/// The links of an NPU without where they lead, sorted.
std::vector<std::tuple<bool, bool, std::int64_t, std::int64_t, std::int64_t>> kinds_of_links(
    const Topology& topology, NodeId npu) {
  std::vector<std::tuple<bool, bool, std::int64_t, std::int64_t, std::int64_t>> kinds;
  const auto add = [&](LinkId id, bool out) {
    const Link& link = topology.link(id);
    kinds.emplace_back(out,
                       topology.is_npu(out ? link.dst : link.src),
                       link.bandwidth.bytes_per_second,
                       link.latency.ps,
                       link.gap.ps);
  };
  for (const LinkId link : topology.out_links(npu)) {
    add(link, true);
  }
  for (const LinkId link : topology.in_links(npu)) {
    add(link, false);
  }
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

/// A few distances are enough to tell most irregular networks, at the cost of reading the links.
bool distances_are_alike(const Topology& topology) {
  constexpr std::uint32_t kSamples = 16;
  const std::uint32_t npus = topology.num_npus();
  const auto sorted = [&](std::uint32_t npu) {
    std::vector<std::uint32_t> distances = distances_from(topology, NodeId(npu));
    std::sort(distances.begin(), distances.end());
    return distances;
  };
  const std::vector<std::uint32_t> first = sorted(0);
  for (std::uint32_t i = 1; i < std::min(kSamples, npus); ++i) {
    if (sorted(i * npus / std::min(kSamples, npus)) != first) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool looks_alike_everywhere(const Topology& topology) {
  if (topology.num_npus() < 2 || topology.num_npus() > kMostNpus ||
      topology.num_working_links() > kMostLinks) {
    return false;
  }
  for (const Link& link : topology.links()) {
    if (!topology.is_npu(link.src) && !topology.is_npu(link.dst)) {
      return false;
    }
  }
  const auto first = kinds_of_links(topology, NodeId(0));
  for (std::uint32_t npu = 1; npu < topology.num_npus(); ++npu) {
    if (kinds_of_links(topology, NodeId(npu)) != first) {
      return false;
    }
  }
  return true;
}

std::vector<Permutation> find_regular_group(const Topology& topology) {
  return distances_are_alike(topology) ? GroupSearch(topology).run() : std::vector<Permutation>{};
}

}  // namespace tacos::symmetric
