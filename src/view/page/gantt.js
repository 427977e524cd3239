// SPDX-License-Identifier: MIT
// Links as rows, time from left to right. Only rows and blocks that can be seen are drawn, so that any number of
// rows scrolls at the same speed; what is narrower than a pixel is drawn once for each pixel.
import { upperBound } from "./decode.js";
import { fitText, formatBytes, formatPercent, formatTick, formatTime, tickStep } from "./format.js";
import { pixelRatio, sizeCanvas } from "./network.js";
import { kGutter, kRight } from "./strip.js";

const kAxis = 20;
const kRow = 16;
/// Chromium draws nothing beyond 2^25 pixels.
const kMostRows = 2_000_000;

export class Gantt {
  constructor(element, sides, context) {
    this.element = element;
    this.sides = sides;
    Object.assign(this, context);  // clock, state, palette, tooltip
    this.canvas = element.querySelector("canvas");
    this.spacer = element.querySelector(".spacer");
    this.sideIndex = 0;
    this.mode = "all";
    this.from = 0;
    this.to = this.clock.last;
    this.chooseRows();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
  }

  get side() { return this.sides[this.sideIndex]; }

  show(mode, sideIndex = this.sideIndex) {
    this.mode = mode;
    this.sideIndex = sideIndex;
    this.chooseRows();
    this.element.scrollTop = 0;
    this.resize();
  }

  resize() {
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.context = sizeCanvas(this.canvas, this.width, this.height);
    this.spacer.style.height = `${Math.max(0, kAxis + this.rows.length * kRow - this.height)}px`;
    this.refresh();
  }
  refresh() { this.stale = true; }

  /// All links that work, the busiest first; or those of what is followed, or of the critical path.
  chooseRows() {
    const { side } = this;
    if (this.mode === "followed" && this.state.followed(side)) {
      this.rows = this.followedRows();
    } else if (this.mode === "path" && side.path) {
      this.rows = [...new Set(side.path.links)];
    } else {
      const links = [];
      for (let link = 0; link < side.numLinks && links.length < kMostRows; ++link) {
        if (!side.failed[link]) {
          links.push(link);
        }
      }
      // Of a pattern few links have blocks; of links that are alike those come first.
      const first = (link) => (side.detail === "pattern" && side.passageBegins[link] < side.passageBegins[link + 1]
        ? side.passageStart[side.passageBegins[link]] : this.clock.last);
      this.rows = links.sort((a, b) => side.busy[b] - side.busy[a] || first(a) - first(b) || a - b);
    }
  }

  /// Of a chunk in the order in which it comes by; of an NPU what leads to it, then what leads away.
  followedRows() {
    const { side } = this;
    const chosen = this.state.followed(side);
    if (chosen.kind !== "chunk") {
      return this.state.followedLinks(side);
    }
    const links = new Set();
    for (const transfer of side.transfersOf(chosen.id)) {
      side.linksOf(transfer).forEach((link) => links.add(link));
    }
    return [...links];
  }

  plotWidth() { return Math.max(10, this.width - kGutter - kRight); }
  xAt(time) { return kGutter + (time - this.from) / (this.to - this.from) * this.plotWidth(); }
  timeAt(x) { return this.from + (x - kGutter) / this.plotWidth() * (this.to - this.from); }

  zoom(factor, time = Math.max(this.from, Math.min(this.to, this.clock.time))) {
    const least = this.clock.last / 1e6;
    const span = Math.max(least, Math.min(this.clock.last, (this.to - this.from) / factor));
    const share = (time - this.from) / (this.to - this.from);
    this.moveTo(time - share * span, span);
  }
  moveTo(from, span = this.to - this.from) {
    this.from = Math.max(0, Math.min(this.clock.last - span, from));
    this.to = this.from + span;
    this.refresh();
  }
  /// When zoomed in, the clock's time stays in sight while it plays.
  followClock() {
    const { time, playing } = this.clock;
    if (playing && (time < this.from || time > this.to)) {
      this.moveTo(time - 0.1 * (this.to - this.from));
    }
  }

  listen() {
    const { canvas } = this;
    this.element.addEventListener("scroll", () => this.refresh());
    canvas.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.003), this.timeAt(event.offsetX));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        const delta = event.deltaX || event.deltaY;
        this.moveTo(this.from + delta / this.plotWidth() * (this.to - this.from));
      }
    }, { passive: false });
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
    canvas.addEventListener("click", (event) => this.click(event));
  }

  rowAt(y) {
    const row = Math.floor((y - kAxis + this.element.scrollTop) / kRow);
    return y >= kAxis && row >= 0 && row < this.rows.length ? row : -1;
  }
  /// The passage at a time on a link, with as much room beside it as a finger needs.
  passageNear(link, x) {
    const { side } = this;
    for (const shift of [0, -2, 2]) {
      const time = this.timeAt(x + shift);
      const at = upperBound(side.passageStart, time, side.passageBegins[link], side.passageBegins[link + 1]) - 1;
      if (at >= side.passageBegins[link] && time < side.passageStart[at] + side.passageBusy[at]) {
        return at;
      }
    }
    return -1;
  }

  hover(event) {
    const row = this.rowAt(event.offsetY);
    if (row < 0) {
      this.tooltip.hide();
      return;
    }
    const { side } = this;
    const link = this.rows[row];
    const lines = [`link ${side.linkId(link)}: ${side.linkText(link)}, ${formatPercent(side.utilization(link))} utilized`];
    const passage = event.offsetX >= kGutter ? this.passageNear(link, event.offsetX) : -1;
    if (passage >= 0) {
      const transfer = side.passageTransfer[passage];
      const chunks = side.chunksOf(transfer);
      const start = side.passageStart[passage];
      lines.push(`${side.reduces[transfer] ? "reduce" : "copy"} of chunk ${chunks[0]}` +
                 `${chunks.length > 1 ? ` and ${chunks.length - 1} more` : ""}, ${formatBytes(side.courseBytes[side.course[transfer]])}`,
                 `${formatTime(start)} to ${formatTime(start + side.passageBusy[passage])}`);
    }
    this.tooltip.show(lines, event.clientX, event.clientY);
  }

  click(event) {
    const row = this.rowAt(event.offsetY);
    if (row < 0) {
      if (event.offsetX >= kGutter) {
        this.clock.seek(this.timeAt(event.offsetX));
      }
      return;
    }
    const link = this.rows[row];
    const passage = event.offsetX >= kGutter ? this.passageNear(link, event.offsetX) : -1;
    const chunk = passage >= 0 ? this.side.chunksOf(this.side.passageTransfer[passage])[0] : -1;
    if (passage >= 0 && this.side.canFollow(chunk)) {
      this.state.select("chunk", chunk, this.sideIndex, true);
    } else if (event.offsetX < kGutter) {
      this.state.select("link", link, this.sideIndex, true);
    } else {
      this.clock.seek(this.timeAt(event.offsetX));
    }
  }

  draw() {
    this.followClock();
    if (!this.stale && this.drawnTime === this.clock.time) {
      return;
    }
    if (this.stale) {
      this.drawPicture();
      this.stale = false;
    }
    this.drawnTime = this.clock.time;
    const { context } = this;
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.pictureCanvas, 0, 0);
    context.restore();
    if (this.clock.time >= this.from && this.clock.time <= this.to) {
      context.fillStyle = this.palette.ink;
      context.fillRect(this.xAt(this.clock.time) - 0.75, 0, 1.5, this.height);
    }
  }

  drawPicture() {
    const { palette } = this;
    this.pictureCanvas ??= document.createElement("canvas");
    const context = sizeCanvas(this.pictureCanvas, this.width, this.height);
    const first = Math.floor(this.element.scrollTop / kRow);
    const last = Math.min(this.rows.length, first + Math.ceil((this.height - kAxis) / kRow) + 1);
    this.style = this.styleOfBlocks();
    const step = tickStep(this.to - this.from, this.plotWidth() / 110);
    const ticks = [];
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      ticks.push(time);
    }
    context.fillStyle = palette.panel;
    context.fillRect(kGutter, kAxis, this.plotWidth(), last * kRow - this.element.scrollTop);
    context.fillStyle = palette.line;
    const bottom = kAxis + last * kRow - this.element.scrollTop;
    ticks.forEach((time) => context.fillRect(this.xAt(time), kAxis, 1, bottom - kAxis));
    for (let row = first; row < last; ++row) {
      const y = kAxis + row * kRow - this.element.scrollTop;
      this.drawRow(context, this.rows[row], y);
    }
    context.fillStyle = palette.page;
    context.fillRect(0, 0, this.width, kAxis);
    this.drawAxis(context, ticks, step);
  }

  /// Which blocks stand out: those of a followed chunk, or of the critical path.
  styleOfBlocks() {
    const { side, palette } = this;
    const chosen = this.state.followed(side);
    const chunk = chosen && chosen.kind === "chunk" ? new Set(side.transfersOf(chosen.id)) : null;
    const path = this.state.showPath && side.path ? side.path.transfers : null;
    return (transfer) => {
      if (chunk) {
        return chunk.has(transfer) ? palette.operation(side.reduces[transfer]) : palette.faint;
      }
      if (path && path.size > 0) {
        return path.has(transfer) ? palette.path : palette.faint;
      }
      return palette.operation(side.reduces[transfer]);
    };
  }

  drawRow(context, link, y) {
    const { side, palette } = this;
    if (side.cells) {
      this.drawCells(context, link, y);
    }
    this.drawBlocks(context, link, y);
    context.fillStyle = palette.page;
    context.fillRect(0, y, kGutter, kRow);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = palette.ink;
    context.fillText(fitText(context, side.linkText(link), kGutter - 56), 8, y + kRow / 2);
    context.textAlign = "right";
    context.fillStyle = palette.quiet;
    context.fillText(formatPercent(side.utilization(link)), kGutter - 6, y + kRow / 2);
    const chosen = this.state.followed(side);
    if (chosen && chosen.kind === "link" && chosen.id === link) {
      context.fillStyle = palette.accent;
      context.fillRect(0, y + 1, 3, kRow - 2);
    }
  }

  drawCells(context, link, y) {
    const { side, palette } = this;
    const width = this.plotWidth() * side.time / (this.to - this.from) / side.numWindows;
    const whole = (x) => Math.round(Math.max(kGutter, Math.min(this.width - kRight, x)));
    const left = this.xAt(0);
    for (let window = 0; window < side.numWindows; ++window) {
      const x = whole(left + window * width);
      const end = whole(left + (window + 1) * width);
      const busy = side.cells[link * side.numWindows + window];
      if (busy > 0 && end > x) {
        context.fillStyle = palette.steps[palette.step(busy / 255)];
        context.fillRect(x, y + 1, end - x, kRow - 2);
      }
    }
  }

  drawBlocks(context, link, y) {
    const { side } = this;
    const end = side.passageBegins[link + 1];
    // Passages do not overlap, so that the one before the first that starts in sight is the first in sight.
    let at = Math.max(side.passageBegins[link],
                      upperBound(side.passageStart, this.from, side.passageBegins[link], end) - 1);
    const right = this.width - kRight;
    const pixel = 1 / pixelRatio();
    let drawn = -Infinity;
    // Over cells a chunk is a mark in its row, not all of it.
    const [top, height] = side.cells ? [y + 4, kRow - 8] : [y + 1, kRow - 2];
    while (at < end && side.passageStart[at] < this.to) {
      const x = Math.max(kGutter, this.xAt(side.passageStart[at]));
      const stop = Math.min(right, this.xAt(side.passageStart[at] + side.passageBusy[at]));
      if (stop > kGutter && stop >= drawn + pixel) {
        const style = this.style(side.passageTransfer[at]);
        if (!(side.cells && style === this.palette.faint)) {
          context.fillStyle = style;
          const gap = stop - x > 4 ? 1 : 0;
          context.fillRect(x, top, Math.max(pixel, stop - x - gap), height);
        }
        drawn = stop;
      }
      ++at;
      if (at < end && this.xAt(side.passageStart[at]) + pixel < drawn) {
        // Many to a pixel: on to the first that is not.
        at = Math.max(at, upperBound(side.passageStart, this.timeAt(drawn), at, end) - 1);
      }
    }
  }

  drawAxis(context, ticks, step) {
    const { palette } = this;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = palette.quiet;
    for (const time of ticks) {
      context.fillText(formatTick(time, step), Math.min(this.xAt(time), this.width - 30), kAxis / 2 - 2);
      context.fillRect(this.xAt(time), kAxis - 4, 1, 4);
    }
    const bound = this.xAt(this.side.bound);
    if (bound >= kGutter && bound <= this.width - kRight) {
      context.fillStyle = palette.accent;
      context.fillRect(bound - 1, kAxis - 6, 2, this.height);
    }
  }
}
