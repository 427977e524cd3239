// SPDX-License-Identifier: MIT
// What is followed, in words: of a chunk where it is and who has it, of a link what it carried, of an NPU what
// arrived and left. Rewritten a few times a second at most, and only what is near the clock's time.
import { upperBound } from "./decode.js";
import { formatBytes, formatCount, formatMany, formatPercent, formatTime } from "./format.js";
import { describeLink, describeNode } from "./network.js";
import { kSideNames, make } from "./panel.js";

const kPause = 150;
/// Lines of a list, of which a third are past.
const kLines = 24;
const kNamed = 40;

export class Details {
  constructor(element, sides, context) {
    this.element = element;
    this.sides = sides;
    Object.assign(this, context);  // clock, state
    this.written = 0;
    this.key = "";
  }

  draw(now) {
    const key = `${this.clock.time}/${JSON.stringify(this.state.selection)}`;
    if (key === this.key || (now - this.written < kPause && this.clock.playing)) {
      return;
    }
    this.key = key;
    this.written = now;
    const parts = this.sides.flatMap((side) => {
      const chosen = this.state.followed(side);
      if (!chosen) {
        return [];
      }
      const head = this.sides.length > 1 ? [make("h3", `${kSideNames[side.index]}, ${side.engine}`)] : [];
      return [...head, ...this[chosen.kind](side, chosen.id)];
    });
    this.element.replaceChildren(...(parts.length > 0 ? parts
      : [make("p", "Click a link or an NPU, or a block of the chart for its chunk; or name one above.", { class: "hint" })]));
  }

  /// Follows a chunk when pressed.
  chunkButton(side, chunk) {
    const button = make("button", `chunk ${chunk}`, { class: "plain", type: "button" });
    button.disabled = !side.canFollow(chunk);
    button.addEventListener("click", () => this.state.select("chunk", chunk, side.index));
    return button;
  }

  /// Rows near the clock's time: chunks, where they are not what is followed; who; from when to when.
  table(side, transfers, who, withChunks = true) {
    const { time } = this.clock;
    const starts = Float64Array.from(transfers, (transfer) => side.start[transfer]);
    const now = upperBound(starts, time);
    const first = Math.floor(Math.max(0, Math.min(now - kLines / 3, transfers.length - kLines)));
    const sums = side.reduces.some((one) => one > 0);
    const rows = [...transfers.slice(first, first + kLines)].map((transfer) => {
      const end = side.end(transfer);
      const state = end <= time ? "past" : side.start[transfer] <= time ? "now" : "later";
      const chunks = side.chunksOf(transfer);
      const more = chunks.length > 1 ? ` +${chunks.length - 1}` : "";
      return make("tr", "", { class: state }, [
        ...(withChunks ? [make("td", "", {}, [this.chunkButton(side, chunks[0]), more])] : []),
        ...(who ? [make("td", who(transfer), { class: "who", title: who(transfer) })] : []),
        ...(sums ? [make("td", side.reduces[transfer] ? "reduce" : "copy")] : []),
        make("td", formatTime(side.start[transfer])), make("td", formatTime(end))]);
    });
    return make("table", "", { class: "moves" }, rows);
  }

  chunk(side, chunk) {
    const { time } = this.clock;
    const transfers = side.transfersOf(chunk);
    const holders = side.holdersOf(chunk);
    const number = side.chunkNumber ? side.chunkNumber.get(chunk) : chunk;
    const has = [...holders].filter(([, since]) => since <= time).map(([node]) => node).sort((a, b) => a - b);
    const moving = [...transfers].filter((transfer) => side.start[transfer] <= time && time < side.end(transfer));
    const sums = transfers.some((transfer) => side.reduces[transfer]);
    const names = has.slice(0, kNamed).map((node) => side.shortName(node)).join(", ");
    const lines = [
      make("h3", `Chunk ${chunk}: ${formatBytes(side.chunkBytes[number])}`),
      make("p", `${formatMany(transfers.length, "transfer")}, ${moving.length} of them under way now.`),
      make("p", `${formatCount(has.length)} of ${formatCount(holders.size)} NPUs have ${sums ? "the whole sum" : "it"}` +
        `${has.length > 0 ? `: ${names}${has.length > kNamed ? ", ..." : "."}` : "."}`, { class: "holders" })];
    return [...lines, this.table(side, transfers, (transfer) =>
      `${side.shortName(side.sourceOf(transfer))} > ${side.shortName(side.targetOf(transfer))}`, false)];
  }

  link(side, link) {
    const [head, ...lines] = describeLink(side, link);
    const begin = side.passageBegins[link];
    const end = side.passageBegins[link + 1];
    const transfers = side.passageTransfer.subarray(begin, end);
    return [make("h3", head.charAt(0).toUpperCase() + head.slice(1)), ...lines.map((line) => make("p", line)),
            this.table(side, transfers, null)];
  }

  node(side, node) {
    const [head, ...lines] = describeNode(side, node);
    const { time } = this.clock;
    const { arriving, leaving } = side.transfersAt(node);
    const arrived = arriving.filter((transfer) => side.end(transfer) <= time).length;
    const left = leaving.filter((transfer) => side.start[transfer] <= time).length;
    const name = (get) => (transfer) => side.shortName(get.call(side, transfer));
    const share = (part, all) => `${formatCount(part)} of ${formatCount(all)}${all > 0 ? ` (${formatPercent(part / all)})` : ""}`;
    return [
      make("h3", head), ...lines.map((line) => make("p", line)),
      make("h4", `Arrived: ${share(arrived, arriving.length)}, from`), this.table(side, arriving, name(side.sourceOf)),
      make("h4", `Left: ${share(left, leaving.length)}, to`), this.table(side, leaving, name(side.targetOf))];
  }
}
