// SPDX-License-Identifier: MIT
// When links are busy: a row for each, the busiest first, and below it the share of links that are.
//
// Where there are more transfers or links than a picture can show, a row is for some links that are
// equally busy, and time is cut into columns a pixel wide; the darker, the busier. A transfer is
// added to the columns that it touches: O(transfers + columns touched), at most rows x columns
// memory. Transfers are read twice: for the order of the rows first.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "tacos/draw.h"

#include "base/text/printable.h"
#include "base/text/quantity.h"
#include "draw/frame.h"
#include "draw/layout.h"
#include "draw/svg.h"
#include "draw/traffic.h"
#include "topology/names.h"

namespace tacos::draw {
namespace {

using exporting::Passage;

constexpr double kWidth = 1120;
constexpr double kLeft = 104;
constexpr double kRight = 30;
constexpr double kTallestChart = 640;
constexpr double kTallestRow = 15;
constexpr double kLabelledRow = 8.5;
constexpr double kStripHeight = 84;
constexpr std::uint32_t kColumns = 986;
/// Rows that are lower than this cannot be told apart.
constexpr double kLowestRow = 3;
constexpr auto kMostRows = static_cast<std::size_t>(kTallestChart / kLowestRow);
/// More transfers than these are not drawn one by one.
constexpr std::uint64_t kMostBlocks = 12'000;

constexpr Colour kWhite{0xff, 0xff, 0xff};

/// How much of something a column has, in picoseconds.
struct Cell {
  double copies = 0;
  double reductions = 0;

  [[nodiscard]] double sum() const { return copies + reductions; }
};

/// "200 us", of a round number.
std::string round_time(Ticks time) {
  std::string text = format_time(time);
  const std::size_t space = text.find(' ');
  const std::size_t point = text.find('.');
  if (point < space) {
    const std::size_t last = text.find_last_not_of('0', space - 1);
    const std::size_t keep = last == point ? point : last + 1;
    text.erase(keep, space - keep);
  }
  return text;
}

struct Block {
  std::uint32_t row;
  Passage passage;
  Op op;
};

/// Rectangles, those of one colour in one path, or a few: renderers are slow with very long ones.
class Mosaic {
 public:
  Mosaic(Svg& svg, std::string_view rendering) : svg_(svg) {
    svg_.emit(R"(<g shape-rendering="{}">)", rendering);
  }
  void finish() {
    for (auto& [colour, path] : paths_) {
      flush(colour, path);
    }
    svg_.emit("</g>");
  }

  void add(Colour colour, Place corner, Place size) {
    constexpr std::size_t kLongest = 16'000;
    const std::string name = to_string(colour);
    std::string& path = paths_[name];
    fmt::format_to(std::back_inserter(path),
                   "M{:.2f} {:.1f}h{:.2f}v{:.1f}h{:.2f}z",
                   corner.x,
                   corner.y,
                   size.x,
                   size.y,
                   -size.x);
    if (path.size() > kLongest) {
      flush(name, path);
    }
  }

 private:
  void flush(const std::string& colour, std::string& path) {
    if (!path.empty()) {
      svg_.emit(R"(<path fill="{}" d="{}"/>)", colour, path);
      path.clear();
    }
  }

  Svg& svg_;
  std::map<std::string, std::string> paths_;
};

class Timeline {
 public:
  /// `busy` is what each link is busy of the time.
  Timeline(const Bundle& bundle, const DrawOptions& options, std::vector<double> busy)
      : bundle_(bundle),
        options_(options),
        busy_(std::move(busy)),
        traffic_(bundle),
        links_(traffic_.links()) {
    std::stable_sort(links_.begin(), links_.end(), [&](LinkId a, LinkId b) {
      return busy_[a.index()] > busy_[b.index()];
    });
    per_row_ = std::max<std::size_t>(1, (links_.size() + kMostRows - 1) / kMostRows);
    rows_ = (links_.size() + per_row_ - 1) / per_row_;
    row_height_ =
        std::min(kTallestRow, kTallestChart / static_cast<double>(std::max<std::size_t>(1, rows_)));
    row_of_.assign(bundle.topology.num_links(), 0);
    for (std::size_t i = 0; i < links_.size(); ++i) {
      row_of_[links_[i].index()] = static_cast<std::uint32_t>(i / per_row_);
    }
    exact_ =
        per_row_ == 1 && bundle.schedule.num_transfers() / traffic_.stands_for() <= kMostBlocks;
    end_ = std::max(bundle.schedule.collective_time(), options.bound.value_or(Ticks{}));
    end_ = std::max(end_, Ticks{1});
    cells_.resize(exact_ ? 0 : rows_ * kColumns);
    strip_.resize(kColumns);
  }

  Result<std::string> draw() {
    if (const Status read = read_transfers(); !read) {
      return read.error();
    }
    const Heading heading = heading_of(bundle_, options_);
    top_ = draw_heading(svg_, heading, {kLeft, kWidth - kLeft - kRight}) + 26;
    bottom_ = top_ + row_height_ * static_cast<double>(rows_);
    draw_ticks();
    exact_ ? draw_blocks() : draw_cells();
    draw_labels();
    draw_strip();
    draw_bound();
    return std::move(svg_).finish(kWidth, draw_legend(bottom_ + 2 * kStripHeight - 6));
  }

 private:
  [[nodiscard]] double across(Ticks time) const {
    return kLeft + static_cast<double>(time.ps) / static_cast<double>(end_.ps) * kColumns;
  }

  Status read_transfers() {
    return traffic_.each([&](const Passage& passage, Op op) {
      const std::uint32_t row = row_of_[passage.link.index()];
      reduces_ = reduces_ || op == Op::kReduce;
      copies_ = copies_ || op == Op::kCopy;
      if (exact_) {
        blocks_.push_back({row, passage, op});
      }
      add_to_columns(passage, op, row);
    });
  }

  void add_to_columns(const Passage& passage, Op op, std::uint32_t row) {
    const double per_column = static_cast<double>(end_.ps) / kColumns;
    const auto from = static_cast<double>(passage.start.ps);
    const double to =
        std::min(from + static_cast<double>(passage.busy.ps), static_cast<double>(end_.ps));
    const auto first = static_cast<std::size_t>(from / per_column);
    for (std::size_t column = first; column < kColumns; ++column) {
      const double begin = std::max(from, static_cast<double>(column) * per_column);
      const double end = std::min(to, static_cast<double>(column + 1) * per_column);
      if (end <= begin) {
        break;
      }
      (op == Op::kCopy ? strip_[column].copies : strip_[column].reductions) += end - begin;
      if (!exact_) {
        Cell& cell = cells_[std::size_t{row} * kColumns + column];
        (op == Op::kCopy ? cell.copies : cell.reductions) += end - begin;
      }
    }
  }

  void draw_ticks() {
    const double foot = bottom_ + kStripHeight + 22;
    svg_.emit(R"(<g stroke="#e4e8ed">)");
    const std::vector<double> ticks = even_ticks(static_cast<double>(end_.ps));
    for (const double tick : ticks) {
      svg_.emit(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>)",
                across(Ticks{std::llround(tick)}),
                top_,
                foot);
    }
    svg_.emit("</g>");
    svg_.emit(R"(<g font-size="11" fill="{}" text-anchor="middle">)", kFaintInk);
    for (const double tick : ticks) {
      svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)",
                across(Ticks{std::llround(tick)}),
                foot + 15,
                tick == 0 ? "0" : round_time(Ticks{std::llround(tick)}));
    }
    svg_.emit("</g>");
  }

  /// That of what there is more of: a mixture would be a third colour.
  static Colour colour_of(const Cell& cell, double share) {
    return between(kWhite, cell.reductions > cell.copies ? kVermilion : kBlue, share);
  }

  void draw_blocks() {
    // A little air between rows and blocks, where there is room for it.
    const double air = row_height_ > 6 ? 1 : 0.3;
    Mosaic mosaic(svg_, "geometricPrecision");
    for (const Block& block : blocks_) {
      const double from = across(block.passage.start);
      const double to = across(std::min(end_, block.passage.start + block.passage.busy));
      const double gap = to - from > 4 ? 0.6 : 0;
      mosaic.add(block.op == Op::kCopy ? kBlue : kVermilion,
                 {from, top_ + row_height_ * block.row + air / 2},
                 {std::max(0.2, to - from - gap), row_height_ - air});
    }
    mosaic.finish();
  }

  /// Neighbours of one colour together.
  void draw_cells() {
    constexpr double kShades = 10;
    const double per_column = static_cast<double>(end_.ps) / kColumns;
    Mosaic mosaic(svg_, "crispEdges");
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto links = static_cast<double>(std::min(per_row_, links_.size() - row * per_row_));
      const auto colour_at = [&](std::size_t column) {
        const Cell& cell = cells_[row * kColumns + column];
        const double share = std::round(cell.sum() / per_column / links * kShades) / kShades;
        return share > 0 ? colour_of(cell, std::min(1.0, share)) : kWhite;
      };
      for (std::size_t first = 0; first < kColumns;) {
        const Colour colour = colour_at(first);
        std::size_t last = first + 1;
        while (last < kColumns && colour_at(last) == colour) {
          ++last;
        }
        if (colour != kWhite) {
          mosaic.add(
              colour,
              {kLeft + static_cast<double>(first), top_ + row_height_ * static_cast<double>(row)},
              {static_cast<double>(last - first), row_height_ + 0.05});
        }
        first = last;
      }
    }
    mosaic.finish();
  }

  void draw_labels() {
    svg_.emit(R"(<g font-size="{:.1f}" fill="{}" text-anchor="end">)",
              std::min(10.5, row_height_ - 0.5),
              kFaintInk);
    if (per_row_ == 1 && row_height_ >= kLabelledRow) {
      for (std::size_t row = 0; row < rows_; ++row) {
        const Link& link = bundle_.topology.link(links_[row]);
        const std::string text = fmt::format("{}>{}",
                                             short_name(bundle_.topology, link.src),
                                             short_name(bundle_.topology, link.dst));
        svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)",
                  kLeft - 8,
                  top_ + row_height_ * (static_cast<double>(row) + 0.5) + 3.4,
                  fitted(text, kLeft - 14, 10.5));
      }
    }
    svg_.emit("</g>");
    svg_.emit(
        R"(<rect x="{}" y="{:.1f}" width="{}" height="{:.1f}" fill="none" stroke="#b9c2cc"/>)",
        kLeft,
        top_,
        kColumns,
        bottom_ - top_);
    if (per_row_ == 1 && row_height_ >= kLabelledRow) {
      return;
    }
    svg_.emit(R"(<g font-size="11" fill="{}" text-anchor="end">)", kFaintInk);
    const auto side = [&](double y, const std::string& text) {
      svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", kLeft - 8, y, text);
    };
    side(top_ + 10, fmt::format("{:.0f}% busy", 100 * busy_[links_.front().index()]));
    side((top_ + bottom_) / 2, fmt::format("{} links,", format_count(links_.size())));
    side((top_ + bottom_) / 2 + 14, "busiest first");
    if (per_row_ > 1) {
      side((top_ + bottom_) / 2 + 28, fmt::format("{} in a row", format_count(per_row_)));
    }
    side(bottom_ - 2, fmt::format("{:.0f}% busy", 100 * busy_[links_.back().index()]));
    svg_.emit("</g>");
  }

  /// How many links are busy: an area, the reductions below the copies.
  void draw_strip() {
    const double top = bottom_ + 22;
    const double foot = top + kStripHeight;
    const double all = static_cast<double>(std::max<std::size_t>(1, links_.size())) *
                       static_cast<double>(end_.ps) / kColumns;
    const auto area = [&](auto height, Colour colour) {
      std::string path = fmt::format("M{} {:.1f}", kLeft, foot);
      double before = -1;
      for (std::size_t column = 0; column < kColumns; ++column) {
        const double y = foot - std::min(1.0, height(strip_[column]) / all) * kStripHeight;
        if (std::abs(y - before) > 0.05) {
          path += fmt::format("H{:.0f}V{:.1f}", kLeft + static_cast<double>(column), y);
          before = y;
        }
      }
      svg_.emit(R"(<path d="{}H{:.0f}V{:.1f}Z" fill="{}"/>)",
                path,
                kLeft + kColumns,
                foot,
                to_string(colour));
    };
    area([](const Cell& cell) { return cell.sum(); }, kBlue);
    if (reduces_) {
      area([](const Cell& cell) { return cell.reductions; }, kVermilion);
    }
    svg_.emit(
        R"(<rect x="{}" y="{:.1f}" width="{}" height="{:.1f}" fill="none" stroke="#b9c2cc"/>)",
        kLeft,
        top,
        kColumns,
        kStripHeight);
    svg_.emit(R"(<g font-size="11" fill="{}" text-anchor="end">)", kFaintInk);
    svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">100%</text>)", kLeft - 8, top + 8);
    svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">links busy</text>)", kLeft - 8, (top + foot) / 2 + 4);
    svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">0%</text>)", kLeft - 8, foot);
    svg_.emit("</g>");
  }

  void draw_bound() {
    if (!options_.bound) {
      return;
    }
    const double x = across(*options_.bound);
    svg_.emit(
        R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" stroke="{3}" stroke-width="1.6" stroke-dasharray="6 3"/>)",
        x,
        top_ - 8,
        bottom_ + 22 + kStripHeight,
        kInk);
    svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="11.5" text-anchor="end">bound {}</text>)",
              std::max(x + 3, kLeft + 90),
              top_ - 12,
              format_time(*options_.bound));
  }

  double draw_legend(double y) {
    Legend legend(svg_, {kLeft, kWidth - kLeft - kRight}, y);
    if (copies_) {
      legend.add_block("copy", to_string(kBlue));
    }
    if (reduces_) {
      legend.add_block("reduce", to_string(kVermilion));
    }
    if (options_.bound) {
      legend.add_line("no schedule can end before this", std::string(kInk), 1.6, true);
    }
    if (traffic_.stands_for() > 1) {
      legend.add_line(fmt::format("every row stands for {} links that are alike",
                                  format_count(traffic_.stands_for())),
                      "none",
                      1,
                      false);
    }
    return legend.end() + 14;
  }

  const Bundle& bundle_;
  DrawOptions options_;
  /// By link.
  std::vector<double> busy_;
  Traffic traffic_;
  /// The busiest first.
  std::vector<LinkId> links_;
  std::vector<std::uint32_t> row_of_;
  std::size_t per_row_ = 1;
  std::size_t rows_ = 0;
  double row_height_ = kTallestRow;
  bool exact_ = true;
  bool copies_ = false;
  bool reduces_ = false;
  /// What the axis ends with.
  Ticks end_;
  std::vector<Block> blocks_;
  std::vector<Cell> cells_;
  std::vector<Cell> strip_;
  Svg svg_;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace
}  // namespace tacos::draw

namespace tacos {

Result<std::string> draw_timeline(const Bundle& bundle, const DrawOptions& options) {
  Result<std::vector<double>> busy = draw::Traffic(bundle).busy_shares();
  return busy ? draw::Timeline(bundle, options, *std::move(busy)).draw()
              : Result<std::string>(busy.error());
}

}  // namespace tacos
