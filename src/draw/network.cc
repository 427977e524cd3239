// SPDX-License-Identifier: MIT
// The network as a picture: frames, links, nodes, and a legend. O(links log links), and the layout.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "tacos/draw.h"

#include "base/text/printable.h"
#include "base/text/quantity.h"
#include "draw/frame.h"
#include "draw/layout.h"
#include "draw/layouts/layouts.h"
#include "draw/strokes.h"
#include "draw/svg.h"
#include "draw/traffic.h"
#include "topology/restore.h"

namespace tacos::draw {
namespace {

constexpr double kMargin = 30;
constexpr double kMostWidth = 1160;
constexpr double kMostHeight = 800;
constexpr double kLeastWidth = 680;
/// Pixels that a unit of the layout has at most.
constexpr double kLargestUnit = 58;
/// Below it nobody could read a number in a node, or the label of a frame.
constexpr double kUnitForNumbers = 26;
constexpr double kUnitForLabels = 17;

class NetworkPicture {
 public:
  /// `busy` by link, or null.
  NetworkPicture(const Topology& topology, const std::vector<double>* busy, Heading heading)
      : topology_(topology), busy_(busy), heading_(std::move(heading)), layout_(lay_out(topology)) {
    const Place size = layout_.high - layout_.low;
    unit_ = std::min(
        {kLargestUnit, kMostWidth / std::max(size.x, 0.1), kMostHeight / std::max(size.y, 0.1)});
    width_ = std::max(kLeastWidth, size.x * unit_ + 2 * kMargin);
    height_ = size.y * unit_;
    left_ = (width_ - size.x * unit_) / 2;
  }

  std::string draw() {
    top_ = draw_heading(svg_, heading_, {kMargin, width_ - 2 * kMargin}) + 14;
    draw_frames();
    draw_links();
    draw_frame_labels();
    draw_nodes();
    const double bottom = draw_legend(top_ + height_ + 30);
    return std::move(svg_).finish(width_, bottom);
  }

 private:
  [[nodiscard]] Scene scene() const { return {topology_, layout_, busy_, unit_}; }

  [[nodiscard]] Place pixel(Place place) const {
    return {left_ + (place.x - layout_.low.x) * unit_, top_ + (place.y - layout_.low.y) * unit_};
  }

  void draw_frames() {
    svg_.emit(R"(<g fill="#f3f6f9" stroke="#d3dae2">)");
    for (const Frame& frame : layout_.frames) {
      const Place low = pixel(frame.low);
      const Place high = pixel(frame.high);
      const double skew = frame.skew * unit_;
      if (frame.outline == Outline::kCircle) {
        svg_.emit(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)",
                  (low.x + high.x) / 2,
                  (low.y + high.y) / 2,
                  (high.x - low.x) / 2);
      } else if (frame.outline == Outline::kSlab) {
        svg_.emit(
            R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}V{:.1f}L{:.1f} {:.1f}Z" stroke-linejoin="round"/>)",
            low.x,
            low.y + skew,
            high.x,
            low.y,
            high.y - skew,
            low.x,
            high.y);
      } else {
        svg_.emit(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}"/>)",
                  low.x,
                  low.y,
                  high.x - low.x,
                  high.y - low.y,
                  std::min(12.0, unit_ / 4));
      }
    }
    svg_.emit("</g>");
  }

  void draw_frame_labels() {
    constexpr double kLabelFont = 11;
    // With a rim, since links may run below.
    svg_.emit(
        R"(<g fill="{}" font-size="{}" stroke="#f3f6f9" stroke-width="3" stroke-linejoin="round" paint-order="stroke">)",
        kFaintInk,
        kLabelFont);
    for (const Frame& frame : layout_.frames) {
      const Place low = pixel(frame.low);
      const Place high = pixel(frame.high);
      if (frame.label.empty() || high.x - low.x < 40 || unit_ < kUnitForLabels) {
        continue;
      }
      const std::string text = fitted(frame.label, high.x - low.x - 8, kLabelFont);
      switch (frame.outline) {
        case Outline::kBox:
          svg_.emit(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", low.x + 8, low.y + 15, text);
          break;
        case Outline::kCircle:
          svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                    (low.x + high.x) / 2,
                    low.y + 15,
                    text);
          break;
        case Outline::kSlab:
          svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)",
                    (low.x + high.x) / 2,
                    high.y + 4,
                    text);
          break;
      }
    }
    svg_.emit("</g>");
  }

  void draw_links() {
    const std::vector<Stroke> all = strokes_of(scene());
    svg_.emit(R"(<g fill="none" stroke-linecap="butt">)");
    if (all.size() <= kMostTooltips) {
      for (const Stroke& stroke : all) {
        draw_stroke(stroke);
      }
    } else {
      draw_together(all);
    }
    svg_.emit("</g>");
  }

  [[nodiscard]] std::string path_of(const Curve& curve, bool straight) const {
    const Place from = pixel(curve.from);
    const Place to = pixel(curve.to);
    if (straight) {
      return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.x, from.y, to.x, to.y);
    }
    const Place one = pixel(curve.control_1);
    const Place two = pixel(curve.control_2);
    return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}",
                       from.x,
                       from.y,
                       one.x,
                       one.y,
                       two.x,
                       two.y,
                       to.x,
                       to.y);
  }

  static std::string dashes(const Stroke& stroke) {
    return stroke.failed ? R"( stroke-dasharray="5 4")" : "";
  }

  void draw_stroke(const Stroke& stroke) {
    const std::string colour = to_string(stroke.colour());
    Curve curve = stroke.curve;
    std::string arrow;
    if (stroke.arrow && !stroke.failed) {
      arrow = arrow_of(stroke, curve);
    }
    svg_.emit(R"(<path d="{}" stroke="{}" stroke-width="{:.1f}"{}>{}</path>)",
              path_of(curve, stroke.straight),
              colour,
              stroke.width,
              dashes(stroke),
              stroke.tooltip.empty()
                  ? std::string()
                  : fmt::format("<title>{}</title>", markup_text(stroke.tooltip)));
    if (!arrow.empty()) {
      svg_.emit(R"(<path d="{}" fill="{}"/>)", arrow, colour);
    }
  }

  /// A triangle that ends at the rim of the node; the curve then ends where it begins.
  [[nodiscard]] std::string arrow_of(const Stroke& stroke, Curve& curve) const {
    const double size = (3.2 + 1.1 * stroke.width) / unit_;
    const double wide = (1.2 + 0.6 * stroke.width) / unit_;
    const double tip_at = enters(stroke, kNpuRadius + 1.2 / unit_);
    const double base_at = enters(stroke, kNpuRadius + 1.2 / unit_ + size);
    const Place tip = stroke.curve.at(tip_at);
    const Place base = stroke.curve.at(base_at);
    const Place along = tip - base;
    const double length = std::sqrt(along.x * along.x + along.y * along.y);
    if (length <= 0) {
      return {};
    }
    const Place side = wide / length * Place{-along.y, along.x};
    curve = curve.until(base_at);
    const Place a = pixel(tip);
    const Place b = pixel(base + side);
    const Place c = pixel(base - side);
    return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z", a.x, a.y, b.x, b.y, c.x, c.y);
  }

  /// Where the curve comes as near as this to the node that its arrow points to.
  [[nodiscard]] double enters(const Stroke& stroke, double radius) const {
    const Place middle = layout_.nodes[stroke.arrow->index()];
    const bool round = topology_.is_npu(*stroke.arrow);
    const auto near = [&](double share) {
      const Place away = stroke.curve.at(share) - middle;
      return (round ? std::sqrt(away.x * away.x + away.y * away.y)
                    : std::max(std::abs(away.x), std::abs(away.y))) < radius;
    };
    double outside = 0.5;
    double inside = 1;
    for (int halving = 0; halving < 20; ++halving) {
      const double middle_share = (outside + inside) / 2;
      (near(middle_share) ? inside : outside) = middle_share;
    }
    return inside;
  }

  /// Those that look the same in one path, or a few: renderers are slow with very long ones.
  void draw_together(const std::vector<Stroke>& all) {
    constexpr double kShades = 40;
    constexpr std::size_t kLongest = 16'000;
    // Failed ones last, else from light to dark, thinner ones first.
    using Look = std::tuple<bool, int, int>;
    std::map<Look, std::pair<const Stroke*, std::string>> paths;
    const auto flush = [this](const Stroke& stroke, std::string& path) {
      svg_.emit(R"(<path d="{}" stroke="{}" stroke-width="{:.1f}"{}/>)",
                path,
                to_string(stroke.colour()),
                std::max(0.1, stroke.width),
                dashes(stroke));
      path.clear();
    };
    for (const Stroke& stroke : all) {
      const double busy = stroke.busy.value_or(-1);
      const int shade = busy > 0 ? static_cast<int>(busy * kShades) : busy < 0 ? -2 : -1;
      const int tenths = static_cast<int>(stroke.width * 10);
      auto& [first, path] =
          paths.try_emplace({stroke.failed, shade, tenths}, &stroke, "").first->second;
      path += path_of(stroke.curve, stroke.straight);
      if (path.size() > kLongest) {
        flush(*first, path);
      }
    }
    for (auto& [look, entry] : paths) {
      if (!entry.second.empty()) {
        flush(*entry.first, entry.second);
      }
    }
  }

  void draw_nodes() {
    const bool numbers = unit_ >= kUnitForNumbers;
    // Without a number in it a node needs less room.
    const double radius = (numbers ? kNpuRadius : 0.6 * kNpuRadius) * unit_;
    // Nodes that are smaller than a line would only hide it.
    constexpr double kSmallest = 0.7;
    if (radius < kSmallest) {
      return;
    }
    svg_.emit(R"(<g stroke="{}" stroke-width="{:.1f}" text-anchor="middle">)",
              kInk,
              std::min(1.3, radius / 5));
    for (std::uint32_t node = 0; node < topology_.num_nodes(); ++node) {
      draw_node(NodeId(node), radius, numbers);
    }
    svg_.emit("</g>");
  }

  void draw_node(NodeId node, double radius, bool number) {
    const Place at = pixel(layout_.nodes[node.index()]);
    const bool failed = has_failed(topology_, node);
    const std::string dashed = failed ? R"( stroke-dasharray="3 2")" : "";
    const std::string title =
        number && !topology_.node_name(node).empty()
            ? fmt::format("<title>{}</title>", markup_text(topology_.node_name(node)))
            : std::string();
    if (topology_.is_npu(node)) {
      svg_.emit(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}"{}>{}</circle>)",
                at.x,
                at.y,
                radius,
                failed ? "#f1e3da" : "#ffffff",
                dashed,
                title);
    } else {
      svg_.emit(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}" fill="#3f4d5c"{}>{}</rect>)",
          at.x - radius,
          at.y - radius,
          2 * radius,
          2 * radius,
          radius / 4,
          dashed,
          title);
    }
    if (number) {
      const std::string text = label_of(node);
      const double font = std::min(0.78 * radius, 1.6 * radius / text_width(text, 1));
      svg_.emit(
          R"(<text x="{:.1f}" y="{:.1f}" font-size="{:.1f}" fill="{}" stroke="none">{}</text>)",
          at.x,
          at.y + 0.35 * font,
          font,
          topology_.is_npu(node) ? kInk : "#ffffff",
          markup_text(text));
    }
  }

  /// The last part of its name, when that fits into a node; else its number.
  [[nodiscard]] std::string label_of(NodeId node) const {
    constexpr std::size_t kFits = 6;
    const std::string_view name = topology_.node_name(node);
    const std::string last = printable(name.substr(name.rfind('/') + 1));
    const bool fits = !last.empty() && num_characters(last) <= kFits;
    return fits ? last : fmt::format("{}", node.value());
  }

  /// Returns where the picture ends.
  double draw_legend(double y) {
    Legend legend(svg_, {kMargin, width_ - 2 * kMargin}, y);
    if (busy_ != nullptr) {
      legend.add_scale("link busy", "0%", "100%", busy_colour);
      legend.add_line("unused", to_string(kIdle), 2.5, false);
    }
    std::vector<Bandwidth> speeds;
    speeds.reserve(topology_.num_links());
    bool any_failed = false;
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      any_failed = any_failed || topology_.failed(LinkId(id));
      speeds.push_back(topology_.link(LinkId(id)).bandwidth);
    }
    std::sort(speeds.begin(), speeds.end(), std::greater<>());
    speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
    constexpr std::size_t kShown = 5;
    if (speeds.size() > kShown) {
      // The fastest and the slowest, and some between.
      std::vector<Bandwidth> some;
      for (std::size_t i = 0; i < kShown; ++i) {
        some.push_back(speeds[i * (speeds.size() - 1) / (kShown - 1)]);
      }
      speeds = some;
    }
    const Widths widths(scene());
    for (const Bandwidth speed : speeds) {
      legend.add_line(
          format_bandwidth(speed), to_string(kPlain), std::max(1.0, widths.of(speed)), false);
    }
    if (any_failed) {
      legend.add_line("failed", to_string(kVermilion), 2, true);
    }
    return legend.end() + 18;
  }

  const Topology& topology_;
  const std::vector<double>* busy_;
  Heading heading_;
  Layout layout_;
  Svg svg_;
  double unit_ = 1;
  double left_ = 0;
  double top_ = 0;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace
}  // namespace tacos::draw

namespace tacos {

std::string draw_network(const Topology& topology) {
  return draw::NetworkPicture(topology, nullptr, draw::heading_of(topology)).draw();
}

Result<std::string> draw_network(const Bundle& bundle, const DrawOptions& options) {
  const Result<std::vector<double>> busy = draw::Traffic(bundle).busy_shares();
  if (!busy) {
    return busy.error();
  }
  return draw::NetworkPicture(bundle.topology, &*busy, draw::heading_of(bundle, options)).draw();
}

}  // namespace tacos
