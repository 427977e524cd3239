// SPDX-License-Identifier: MIT
// The network at rest: frames, links by bandwidth and utilization, nodes. Links of one colour and width are one
// path, as strokes are what takes the time.

import { fitText } from "./format.js";

/// Below so many pixels between neighbours nodes and links are simple.
const kSmall = 11;
/// From so many on there is room for text in nodes.
const kText = 34;
const kArrows = 56;
/// Of a link, in units of the network.
const kWidest = 0.085;

/// A point of the curve that begins at a place of an array, into `out`.
function bezierAt(c, at, share, out) {
  const rest = 1 - share;
  const a = rest * rest * rest;
  const b = 3 * rest * rest * share;
  const d = 3 * rest * share * share;
  const e = share * share * share;
  out.x = a * c[at] + b * c[at + 2] + d * c[at + 4] + e * c[at + 6];
  out.y = a * c[at + 1] + b * c[at + 3] + d * c[at + 5] + e * c[at + 7];
  return out;
}

/// Leaves the part from one share to another: blossoms of the curve (de Casteljau).
function cutBezier(c, at, begin, end) {
  for (const axis of [0, 1]) {
    const points = [0, 2, 4, 6].map((point) => c[at + point + axis]);
    const blossom = (r, s, t) => {
      const once = [0, 1, 2].map((i) => points[i] + (points[i + 1] - points[i]) * r);
      const twice = [0, 1].map((i) => once[i] + (once[i + 1] - once[i]) * s);
      return twice[0] + (twice[1] - twice[0]) * t;
    };
    c[at + axis] = blossom(begin, begin, begin);
    c[at + 2 + axis] = blossom(begin, begin, end);
    c[at + 4 + axis] = blossom(begin, end, end);
    c[at + 6 + axis] = blossom(end, end, end);
  }
}

export function isSmall(camera) { return camera.scale < kSmall; }

export class Scene {
  constructor(side) {
    this.side = side;
    const { numLinks } = side;
    this.straight = new Uint8Array(numLinks);
    this.trimmed = side.curves.slice();
    for (let link = 0; link < numLinks; ++link) {
      this.straight[link] = Scene.isStraight(side.curves, 8 * link) ? 1 : 0;
      this.trim(link);
    }
    this.curves = this.trimmed;
    // How wide a link is, in units of the network: by the square root of its bandwidth, and no wider than there is
    // room for.
    this.width = Float32Array.from(side.bandwidth, (bandwidth, link) => {
      const wanted = kWidest * Math.max(0.3, Math.sqrt(bandwidth / side.largestBandwidth));
      return Math.round(256 * Math.min(wanted, side.room[link] || kWidest)) / 256;
    });
    this.widest = this.width.reduce((a, b) => Math.max(a, b), 0.01);
  }

  /// Cuts off what is inside the nodes at both ends, so that nothing runs over them.
  trim(link) {
    const { side, trimmed } = this;
    const at = 8 * link;
    const point = { x: 0, y: 0 };
    const rim = (node, from, to) => {
      const radius = side.isNpu(node) ? side.network.npu_radius : side.network.switch_radius;
      const steps = 24;
      for (let step = 0; step <= steps; ++step) {
        const share = from + (to - from) * step / steps;
        bezierAt(trimmed, at, share, point);
        if (Math.hypot(point.x - side.x[node], point.y - side.y[node]) >= radius) {
          return share;
        }
      }
      return from;
    };
    const begin = rim(side.src[link], 0, 0.5);
    const end = rim(side.dst[link], 1, 0.5);
    cutBezier(trimmed, at, begin, end);
  }

  /// Whether the inner points of a curve are on the line between the outer ones.
  static isStraight(curves, at) {
    const dx = curves[at + 6] - curves[at];
    const dy = curves[at + 7] - curves[at + 1];
    const length = Math.hypot(dx, dy) || 1;
    return [2, 4].every((point) =>
      Math.abs((curves[at + point] - curves[at]) * dy - (curves[at + point + 1] - curves[at + 1]) * dx) / length < 0.02);
  }

  /// Links end at nodes, or where those are too small to be seen, in the middle of them.
  adapt(camera) { this.curves = isSmall(camera) ? this.side.curves : this.trimmed; }

  /// Where a link is after a share of its length, in the network's units, into `out`.
  pointAt(link, share, out) {
    const c = this.curves;
    const at = 8 * link;
    if (this.straight[link]) {
      out.x = c[at] + (c[at + 6] - c[at]) * share;
      out.y = c[at + 1] + (c[at + 7] - c[at + 1]) * share;
      return out;
    }
    return bezierAt(c, at, share, out);
  }

  /// Adds a link to the path of a context.
  trace(context, camera, link) {
    const c = this.curves;
    const at = 8 * link;
    const { scale, x, y } = camera;
    context.moveTo(x + c[at] * scale, y + c[at + 1] * scale);
    if (this.straight[link]) {
      context.lineTo(x + c[at + 6] * scale, y + c[at + 7] * scale);
    } else {
      context.bezierCurveTo(x + c[at + 2] * scale, y + c[at + 3] * scale, x + c[at + 4] * scale,
                            y + c[at + 5] * scale, x + c[at + 6] * scale, y + c[at + 7] * scale);
    }
  }

  /// In pixels. Where all is small links are what there is to see.
  strokeWidth(camera, units = this.widest) {
    return Math.max(0.6, Math.min(7, units * camera.scale * (isSmall(camera) ? 2.2 : 1)));
  }
  nodeRadius(camera, node) {
    const { npu_radius: npu, switch_radius: other } = this.side.network;
    const radius = camera.scale * (this.side.isNpu(node) ? npu : other);
    return Math.max(0.7, isSmall(camera) ? 0.55 * radius : radius);
  }

  isVisible(camera, link) {
    const c = this.side.curves;
    let [lowX, highX, lowY, highY] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let point = 8 * link; point < 8 * link + 8; point += 2) {
      lowX = Math.min(lowX, c[point]);
      highX = Math.max(highX, c[point]);
      lowY = Math.min(lowY, c[point + 1]);
      highY = Math.max(highY, c[point + 1]);
    }
    return camera.screenX(highX) > -10 && camera.screenX(lowX) < camera.width + 10 &&
      camera.screenY(highY) > -10 && camera.screenY(lowY) < camera.height + 10;
  }

  /// Strokes links in the colours of `step(link)`, from 0 to 15; a negative step leaves one out.
  strokeLinks(context, camera, palette, step) {
    const groups = new Map();
    for (let link = 0; link < this.side.numLinks; ++link) {
      const one = this.side.failed[link] ? -1 : step(link);
      if (one < 0) {
        continue;
      }
      const key = one + 32 * Math.round(256 * this.width[link]);
      let group = groups.get(key);
      if (!group) {
        groups.set(key, group = []);
      }
      group.push(link);
    }
    // What is busier is drawn over what is not.
    for (const key of [...groups.keys()].sort((a, b) => a % 32 - b % 32)) {
      context.strokeStyle = palette.steps[key % 32];
      context.lineWidth = this.strokeWidth(camera, Math.floor(key / 32) / 256);
      context.beginPath();
      for (const link of groups.get(key)) {
        this.trace(context, camera, link);
      }
      context.stroke();
    }
  }

  drawFailed(context, camera, palette) {
    context.strokeStyle = palette.idle;
    context.lineWidth = Math.max(1, 0.5 * this.strokeWidth(camera));
    context.setLineDash([Math.max(2, 0.06 * camera.scale), Math.max(2, 0.06 * camera.scale)]);
    context.beginPath();
    for (let link = 0; link < this.side.numLinks; ++link) {
      if (this.side.failed[link]) {
        this.trace(context, camera, link);
      }
    }
    context.stroke();
    context.setLineDash([]);
  }

  drawFrames(context, camera, palette) {
    context.fillStyle = palette.quiet;
    context.font = `${Math.max(10, Math.min(14, 0.3 * camera.scale))}px system-ui, sans-serif`;
    context.textBaseline = "bottom";
    context.textAlign = "left";
    for (const frame of this.side.network.frames) {
      const x = camera.screenX(frame.x);
      const y = camera.screenY(frame.y);
      const width = frame.width * camera.scale;
      const height = frame.height * camera.scale;
      const skew = frame.skew * camera.scale;
      context.lineWidth = 1;
      context.strokeStyle = palette.line;
      context.beginPath();
      if (frame.outline === "circle") {
        context.arc(x + width / 2, y + height / 2, Math.min(width, height) / 2, 0, 2 * Math.PI);
      } else if (frame.outline === "slab") {
        context.moveTo(x, y + skew);
        context.lineTo(x + width, y);
        context.lineTo(x + width, y + height - skew);
        context.lineTo(x, y + height);
        context.closePath();
      } else {
        context.roundRect(x, y, width, height, Math.min(12, 0.2 * camera.scale));
      }
      context.stroke();
      if (frame.label && camera.scale > kSmall && width > 30) {
        const text = fitText(context, frame.label, width);
        context.strokeStyle = palette.page;
        context.lineWidth = 3;
        context.strokeText(text, x + 3, y + (frame.outline === "slab" ? skew : 0) - 2);
        context.fillText(text, x + 3, y + (frame.outline === "slab" ? skew : 0) - 2);
      }
    }
  }

  /// All nodes; or with `fill(node)`, which gives a colour or nothing, those that it gives one for. Nodes of
  /// one colour are one path.
  drawNodes(context, camera, palette, fill) {
    const groups = new Map();
    for (let node = 0; node < this.side.numNodes; ++node) {
      const x = camera.screenX(this.side.x[node]);
      const y = camera.screenY(this.side.y[node]);
      const radius = this.nodeRadius(camera, node);
      const color = fill ? fill(node) : isSmall(camera) ? palette.idle : palette.node;
      if (!color || x < -radius || x > camera.width + radius || y < -radius || y > camera.height + radius) {
        continue;
      }
      if (!groups.has(color)) {
        groups.set(color, []);
      }
      groups.get(color).push(node);
    }
    context.lineWidth = Math.max(1, Math.min(2, 0.02 * camera.scale));
    context.strokeStyle = palette.quiet;
    for (const [color, nodes] of groups) {
      context.fillStyle = color;
      context.beginPath();
      nodes.forEach((node) => this.traceNode(context, camera, node));
      context.fill();
      if (!isSmall(camera)) {
        context.stroke();
      }
    }
  }

  traceNode(context, camera, node) {
    const x = camera.screenX(this.side.x[node]);
    const y = camera.screenY(this.side.y[node]);
    const radius = this.nodeRadius(camera, node);
    if (this.side.isNpu(node) && !isSmall(camera)) {
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    } else {
      context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    }
  }

  /// What is written in nodes: with `fill(node)` on those that it gives a colour for.
  drawText(context, camera, palette, fill) {
    if (camera.scale < kText) {
      return;
    }
    context.textAlign = "center";
    for (let node = 0; node < this.side.numNodes; ++node) {
      const x = camera.screenX(this.side.x[node]);
      const y = camera.screenY(this.side.y[node]);
      if (x < 0 || x > camera.width || y < 0 || y > camera.height || (fill && !fill(node))) {
        continue;
      }
      const radius = this.nodeRadius(camera, node);
      context.fillStyle = fill && fill(node) !== palette.share ? "#000" : palette.ink;
      context.font = `${Math.max(9, Math.min(15, 0.75 * radius))}px system-ui, sans-serif`;
      context.textBaseline = "middle";
      context.fillText(fitText(context, `${this.side.nodeId(node)}`, 2 * radius), x, y);
      const name = this.side.names && this.side.names[node];
      if (name && camera.scale > 2 * kText) {
        context.fillStyle = palette.quiet;
        context.textBaseline = "top";
        context.fillText(fitText(context, name, 0.95 * camera.scale), x, y + radius + 2);
      }
    }
  }

  /// Heads near the ends of links, where there is room for them.
  drawArrows(context, camera, palette) {
    if (camera.scale < kArrows || this.side.numLinks > 4000) {
      return;
    }
    const size = Math.min(8, 0.08 * camera.scale);
    const tip = { x: 0, y: 0 };
    const back = { x: 0, y: 0 };
    for (let link = 0; link < this.side.numLinks; ++link) {
      if (this.side.failed[link] || !this.isVisible(camera, link)) {
        continue;
      }
      this.pointAt(link, 1, tip);
      this.pointAt(link, 0.9, back);
      const angle = Math.atan2(tip.y - back.y, tip.x - back.x);
      const x = camera.screenX(tip.x);
      const y = camera.screenY(tip.y);
      context.fillStyle = palette.steps[palette.step(this.side.utilization(link))];
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
      context.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45));
      context.fill();
    }
  }
}
