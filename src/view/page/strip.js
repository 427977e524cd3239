// SPDX-License-Identifier: MIT
// How many links are busy over time, with the bound as a line. Where fewer than two thirds as many are busy as at
// best, the strip is tinted.
import { formatCount, formatPercent, formatTime } from "./format.js";
import { sizeCanvas } from "./network.js";

/// Room for labels left of all that has time from left to right, and right of it; the style sheet knows them too.
export const kGutter = 132;
export const kRight = 18;

const kHeight = 64;
const kTop = 16;
const kIdle = 2 / 3;

export class Strip {
  constructor(canvas, side, context) {
    this.canvas = canvas;
    this.side = side;
    Object.assign(this, context);  // clock, state, palette, tooltip
    this.peak = side.strip.reduce((a, b) => Math.max(a, b), 0);
    canvas.addEventListener("pointerdown", (event) => {
      this.dragging = true;
      canvas.setPointerCapture(event.pointerId);
      this.clock.seek(this.timeAt(event.offsetX));
    });
    canvas.addEventListener("pointermove", (event) => {
      const time = this.timeAt(event.offsetX);
      if (this.dragging) {
        this.clock.seek(time);
      }
      this.tooltip.show([`${formatTime(time)}: ${this.busyText(time)}`], event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerup", () => { this.dragging = false; });
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  resize() {
    this.width = this.canvas.parentElement.getBoundingClientRect().width;
    this.context = sizeCanvas(this.canvas, this.width, kHeight);
    this.picture = sizeCanvas(this.pictureCanvas ??= document.createElement("canvas"), this.width, kHeight);
    this.refresh();
  }
  refresh() { this.stale = true; }

  plotWidth() { return Math.max(10, this.width - kGutter - kRight); }
  xAt(time) { return kGutter + time / this.clock.last * this.plotWidth(); }
  timeAt(x) { return Math.max(0, Math.min(1, (x - kGutter) / this.plotWidth())) * this.clock.last; }
  /// Where the bound's line is, in pixels of the canvas.
  boundX() { return this.xAt(this.side.bound); }

  busyAt(time) {
    const { strip } = this.side;
    if (time >= this.side.time) {
      return 0;
    }
    return strip[Math.min(strip.length - 1, Math.floor(time / this.side.time * strip.length))];
  }
  busyText(time) {
    const busy = this.busyAt(time);
    const all = this.side.network.working_links;
    return `${formatCount(busy)} of ${formatCount(all)} links busy (${formatPercent(busy / all)})`;
  }

  draw() {
    if (this.stale) {
      this.stale = false;
      this.drawPicture();
    }
    const { context } = this;
    context.clearRect(0, 0, this.width, kHeight);
    context.drawImage(this.pictureCanvas, 0, 0, this.width, kHeight);
    context.fillStyle = this.palette.ink;
    context.fillRect(this.xAt(this.clock.time) - 1, kTop - 4, 2, kHeight - kTop + 4);
  }

  drawPicture() {
    const { palette, side } = this;
    const context = this.picture;
    const { strip } = side;
    const all = Math.max(1, side.network.working_links);
    const bottom = kHeight - 1;
    const full = kHeight - kTop - 1;
    context.clearRect(0, 0, this.width, kHeight);
    const end = this.xAt(side.time);
    context.fillStyle = palette.panel;
    context.fillRect(kGutter, kTop, end - kGutter, full);
    const step = (end - kGutter) / strip.length;
    context.fillStyle = palette.idleTint;
    for (let window = 0; window < strip.length; ++window) {
      const first = window;
      while (window < strip.length && strip[window] < kIdle * this.peak) {
        ++window;
      }
      context.fillRect(kGutter + first * step, kTop, (window - first) * step, full);
    }
    context.fillStyle = palette.busy;
    context.beginPath();
    context.moveTo(kGutter, bottom);
    strip.forEach((busy, window) => {
      const y = bottom - busy / all * full;
      context.lineTo(kGutter + window * step, y);
      context.lineTo(kGutter + (window + 1) * step, y);
    });
    context.lineTo(end, bottom);
    context.fill();
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = palette.quiet;
    context.textAlign = "right";
    context.textBaseline = "top";
    context.fillText(`${formatCount(all)} links`, kGutter - 8, kTop - 4);
    context.textBaseline = "bottom";
    context.fillText("0 busy", kGutter - 8, bottom + 1);
    this.drawBound(context);
  }

  drawBound(context) {
    const { palette, side } = this;
    const x = this.boundX();
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(x, kTop - 5);
    context.lineTo(x, kHeight);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = palette.accent;
    context.textBaseline = "top";
    const text = `bound ${formatTime(side.bound)}`;
    const left = x + context.measureText(text).width > this.width - kRight;
    context.textAlign = left ? "right" : "left";
    context.fillText(text, left ? x - 4 : x + 4, 0);
    // When it ends, where there is room for it beside the bound.
    const end = this.xAt(side.time);
    context.fillStyle = palette.quiet;
    context.fillRect(end - 1, kTop, 1, kHeight - kTop);
    const label = `ends ${formatTime(side.time)}`;
    const width = context.measureText(label).width;
    context.textAlign = "right";
    if (left ? end - width > x + 4 : end - width > x + context.measureText(text).width + 12) {
      context.fillText(label, Math.max(end, kGutter + width), 0);
    } else if (left && x - context.measureText(text).width - width > kGutter + 40 && end > x) {
      context.fillText(label, x - context.measureText(text).width - 20, 0);
    }
  }
}
