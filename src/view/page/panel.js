// SPDX-License-Identifier: MIT
// The numbers of the report, what limits the schedule, and what colours mean. Text from files is only ever text.
import { formatPercent, formatTime } from "./format.js";

/// An element with text, attributes and children.
export function make(tag, text = "", attributes = {}, children = []) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/// Says a few lines beside the pointer.
export class Tooltip {
  constructor(element) {
    this.element = element;
  }
  show(lines, x, y) {
    const { element } = this;
    element.replaceChildren(...lines.map((line) => make("div", line)));
    element.hidden = false;
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(window.innerWidth - width - 8, x + 14))}px`;
    element.style.top = `${y + 18 + height > window.innerHeight ? y - height - 10 : y + 18}px`;
  }
  hide() { this.element.hidden = true; }
}

export const kSideNames = ["A", "B"];

export class Panel {
  constructor(element, sides, context) {
    this.element = element;
    this.sides = sides;
    Object.assign(this, context);  // clock, state, palette
    this.fillHeadline();
    this.fillLimits();
    this.fillReport();
    this.fillLegend();
  }

  find(name) { return this.element.querySelector(`.${name}`); }

  /// The result in one line for each side, and which is faster.
  fillHeadline() {
    const lines = this.sides.map((side) => {
      const share = side.time > 0 ? side.bound / side.time : 1;
      const name = this.sides.length > 1 ? `${kSideNames[side.index]}, ${side.engine}: ` : "";
      return make("div", "", { class: "result" }, [
        make("span", name), make("b", formatTime(side.time)), make("span", ` is ${formatPercent(share)} of the bound`)]);
    });
    if (this.sides.length > 1) {
      const [a, b] = this.sides;
      const [fast, slow] = a.time <= b.time ? [a, b] : [b, a];
      lines.push(make("div", a.time === b.time ? "Both take as long."
        : `${kSideNames[fast.index]} is ${(slow.time / Math.max(fast.time, 1)).toFixed(2)}x as fast.`, { class: "verdict" }));
    }
    for (const side of this.sides.filter((one) => one.json.note)) {
      lines.push(make("p", side.json.note, { class: "note" }));
    }
    this.find("headline").replaceChildren(...lines);
  }

  fillLimits() {
    const list = this.find("limits");
    const several = this.sides.length > 1;
    const rows = [];
    const most = Math.max(...this.sides.map((side) => side.limits.length));
    for (let which = 0; which < most; ++which) {
      const box = make("input", "", { type: "checkbox", "data-limit": which });
      box.addEventListener("change", () => this.state.change({ limit: box.checked ? which : -1 }));
      const sentences = new Map();
      for (const side of this.sides.filter((one) => one.limits[which])) {
        const { name, time, sentence } = side.limits[which];
        const text = `${formatTime(time)} (${name}): ${sentence}`;
        sentences.set(text, [...(sentences.get(text) || []), kSideNames[side.index]]);
      }
      const texts = [...sentences].map(([text, names]) => make("div", several ? `${names.join(" and ")}: ${text}` : text));
      rows.push(make("label", "", { class: "choice" }, [box, make("div", "", {}, texts)]));
    }
    const box = make("input", "", { type: "checkbox", "data-path": "" });
    box.disabled = !this.sides.some((side) => side.path);
    box.addEventListener("change", () => this.state.change({ showPath: box.checked }));
    const paths = this.sides.filter((side) => side.path).map((side) =>
      `${several ? `${kSideNames[side.index]} ` : ""}${side.path.length} transfers`);
    rows.push(make("label", "", { class: "choice" }, [box, make("div",
      paths.length > 0 ? `Critical path: ${paths.join(", ")}, each waiting for the one before.`
        : "No critical path: the schedule is too long to be simulated for a page.")]));
    list.replaceChildren(...rows);
    this.state.onChange(() => {
      list.querySelectorAll("[data-limit]").forEach((one) => {
        one.checked = Number(one.dataset.limit) === this.state.limit;
      });
      box.checked = this.state.showPath;
    });
  }

  fillReport() {
    const table = this.find("report");
    const several = this.sides.length > 1;
    const labels = [...new Set(this.sides.flatMap((side) => side.json.report.map(([label]) => label)))];
    const value = (side, label) => (side.json.report.find(([one]) => one === label) || ["", ""])[1];
    const rows = labels.map((label) => make("tr", "", {}, [
      make("th", label, { scope: "row" }), ...this.sides.map((side) => make("td", value(side, label)))]));
    if (several) {
      rows.unshift(make("tr", "", {}, [make("td"), ...this.sides.map((side) =>
        make("th", kSideNames[side.index], { scope: "col" }))]));
    }
    table.replaceChildren(...rows);
  }

  /// The scale of utilization, and what moves.
  fillLegend() {
    const { palette } = this;
    const stops = Array.from({ length: 9 }, (_, i) => palette.scale(i / 8)).join(", ");
    const bar = make("span", "", { class: "scale" });
    bar.style.background = `linear-gradient(to right, ${stops})`;
    const item = (color, text) => {
      const dot = make("span", "", { class: "dot" });
      dot.style.background = color;
      return make("span", "", { class: "item" }, [dot, make("span", text)]);
    };
    const reduces = this.sides.some((side) => side.reduces.some((one) => one > 0));
    const failed = this.sides.some((side) => side.failed.some((one) => one > 0));
    const widths = this.sides.some((side) => new Set(side.bandwidth).size > 1);
    const children = [make("span", "link utilization 0%"), bar, make("span", "100%"), item(palette.copy, "copy")];
    if (reduces) {
      children.push(item(palette.reduce, "reduce"));
    }
    if (widths) {
      children.push(make("span", "wider: more bandwidth", { class: "item" }));
    }
    if (failed) {
      children.push(make("span", "", { class: "item" }, [make("span", "", { class: "dashes" }), make("span", "failed")]));
    }
    document.querySelector(".legend").replaceChildren(...children);
  }
}
