// SPDX-License-Identifier: MIT
// One network on the page: two canvases, the lower for what is at rest, the upper for what moves; zoom, pan, hover
// and clicks. What is at rest is drawn when the view changes; while the reader drags it is moved as a picture.
import { Camera } from "./camera.js";
import { formatBandwidth, formatBytes, formatCount, formatMany, formatPercent, formatTime } from "./format.js";
import { hitAt } from "./hits.js";
import { LinkPixels } from "./pixels.js";
import { Scene, isSmall } from "./scene.js";
import { Traffic } from "./traffic.js";

/// After so many milliseconds without a change the picture is drawn anew.
const kSettle = 120;
/// Of the chunks that a link carried.
const kNamedChunks = 8;
/// More links than can be drawn anew for every frame.
const kDense = 3000;

/// As many pixels as the screen has, but no more than pay.
export function pixelRatio() { return Math.min(2, window.devicePixelRatio || 1); }

export function sizeCanvas(canvas, width, height) {
  const ratio = pixelRatio();
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/// What is said of a link under the pointer, line by line.
export function describeLink(side, link) {
  const lines = [`link ${side.linkId(link)}: ${side.linkText(link)}`,
                 `${formatBandwidth(side.bandwidth[link])}, ${formatTime(side.latency[link])} latency`];
  if (side.failed[link]) {
    return [...lines, "has failed"];
  }
  lines.push(`${formatPercent(side.utilization(link))} utilized`);
  lines.push(`carried ${formatBytes(side.bytes[link])} in ${formatMany(side.carried[link], "transfer")}`);
  const chunks = side.chunksOver(link);
  if (chunks.length > 0) {
    lines.push(`${side.detail === "whole" ? "" : "of those on this page "}${chunks.length === 1 ? "chunk" : "chunks"} ` +
               `${chunks.slice(0, kNamedChunks).join(", ")}` +
               `${chunks.length > kNamedChunks ? ` and ${formatCount(chunks.length - kNamedChunks)} more` : ""}`);
  }
  return lines;
}

export function describeNode(side, node) {
  const { into, out } = side.linksAt(node);
  const sum = (links, of) => links.reduce((total, link) => total + of[link], 0);
  return [side.nodeText(node),
          `${formatMany(into.length, "link")} in, ${formatBandwidth(sum(into, side.bandwidth))}: ${formatBytes(sum(into, side.bytes))} arrived`,
          `${formatMany(out.length, "link")} out, ${formatBandwidth(sum(out, side.bandwidth))}: ${formatBytes(sum(out, side.bytes))} left`];
}

export class NetworkView {
  constructor(element, side, context) {
    this.element = element;
    this.side = side;
    Object.assign(this, context);  // clock, state, palette, tooltip
    this.scene = new Scene(side);
    this.traffic = new Traffic(side, this.scene);
    this.pixels = new LinkPixels(side, this.scene);
    this.camera = new Camera(side.network.width, side.network.height);
    this.lower = element.querySelector(".lower");
    this.upper = element.querySelector(".upper");
    this.picture = null;
    this.stale = true;
    this.settleAt = 0;
    this.window = -1;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    this.lowerContext = sizeCanvas(this.lower, width, height);
    this.upperContext = sizeCanvas(this.upper, width, height);
    this.camera.resize(width, height);
    this.refresh();
  }

  /// All is to be drawn anew with the next frame.
  refresh() {
    this.stale = true;
    this.settleAt = 0;
  }

  listen() {
    const { upper, camera } = this;
    let drag = null;
    const place = (event) => {
      const box = upper.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    upper.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.moved(() => camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event)));
    }, { passive: false });
    upper.addEventListener("pointerdown", (event) => {
      drag = { at: place(event), moved: false };
      upper.setPointerCapture(event.pointerId);
    });
    upper.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (!drag) {
        this.hover(x, y, event);
        return;
      }
      const dx = x - drag.at[0];
      const dy = y - drag.at[1];
      if (drag.moved || Math.hypot(dx, dy) > 4) {
        drag = { at: [x, y], moved: true };
        this.tooltip.hide();
        this.moved(() => camera.pan(dx, dy));
      }
    });
    upper.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) {
        const hit = hitAt(this.side, this.scene, camera, ...place(event));
        this.state.select(hit ? hit.kind : null, hit ? hit.id : 0, this.side.index);
      }
      drag = null;
    });
    upper.addEventListener("pointerleave", () => this.tooltip.hide());
    upper.addEventListener("dblclick", () => this.moved(() => camera.fit()));
  }

  hover(x, y, event) {
    const hit = hitAt(this.side, this.scene, this.camera, x, y);
    this.upper.style.cursor = hit ? "pointer" : "grab";
    if (!hit) {
      this.tooltip.hide();
      return;
    }
    const lines = hit.kind === "node" ? describeNode(this.side, hit.id) : describeLink(this.side, hit.id);
    this.tooltip.show(lines, event.clientX, event.clientY);
  }

  zoom(factor) { this.moved(() => this.camera.zoom(factor)); }

  /// Changes the view; large networks are shown as a moved picture until it rests.
  moved(change) {
    const before = { x: this.camera.x, y: this.camera.y, scale: this.camera.scale };
    change();
    if (this.side.numLinks > kDense && this.picture) {
      this.picture = this.picture.view ? this.picture : { view: before };
      this.settleAt = performance.now() + kSettle;
    } else {
      this.stale = true;
    }
  }

  /// Called for every frame.
  draw(now) {
    if (this.settleAt > 0 && now >= this.settleAt) {
      this.settleAt = 0;
      this.stale = true;
    }
    this.scene.adapt(this.camera);
    const window = this.colorsOfNow() ? this.windowAt(this.clock.time) : -1;
    if (this.stale || (window !== this.window && this.settleAt === 0)) {
      this.window = window;
      this.stale = false;
      this.drawAtRest();
      this.lower.style.transform = "";
    } else if (this.settleAt > 0) {
      const { view } = this.picture;
      const factor = this.camera.scale / view.scale;
      this.lower.style.transform =
        `translate(${this.camera.x - view.x * factor}px, ${this.camera.y - view.y * factor}px) scale(${factor})`;
    }
    const context = this.upperContext;
    context.clearRect(0, 0, this.camera.width, this.camera.height);
    this.traffic.draw(context, this.camera, this.palette, this.state, Math.min(this.clock.time, this.side.time));
  }

  /// What is followed is followed over the colours of the whole run, which stay.
  colorsOfNow() { return this.state.now && this.side.cells !== null && !this.state.followed(this.side); }
  windowAt(time) {
    return Math.min(this.side.numWindows - 1, Math.floor(time / this.side.time * this.side.numWindows));
  }

  drawAtRest() {
    const { side, palette, camera, scene, state } = this;
    const context = this.lowerContext;
    context.clearRect(0, 0, camera.width, camera.height);
    scene.drawFrames(context, camera, palette);
    const faint = state.followed(side) || state.limit >= 0 || (state.showPath && side.path);
    context.globalAlpha = faint ? 0.3 : 1;
    const dense = side.numLinks > kDense;
    const step = this.window >= 0
      ? (link) => palette.step(side.cells[link * side.numWindows + this.window] / 255)
      : (link) => palette.step(side.utilization(link));
    if (dense && isSmall(camera)) {
      this.pixels.prepare(camera, pixelRatio());
      this.pixels.draw(context, camera, (link) => palette.packedSteps[step(link)]);
    } else {
      scene.strokeLinks(context, camera, palette,
                        (link) => (dense && !scene.isVisible(camera, link) ? -1 : step(link)));
    }
    if (this.window < 0) {
      scene.drawArrows(context, camera, palette);
    }
    scene.drawFailed(context, camera, palette);
    context.globalAlpha = 1;
    scene.drawNodes(context, camera, palette);
    scene.drawText(context, camera, palette);
    this.picture = { view: null };
  }
}
