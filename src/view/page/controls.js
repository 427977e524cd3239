// SPDX-License-Identifier: MIT
// Buttons, the slider, whom to follow, light and dark, and the keyboard.
import { formatCount, formatTime } from "./format.js";

const kSpeeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
/// The slider is of whole numbers.
export const kSliderSteps = 10000;

export class Controls {
  constructor(context) {
    Object.assign(this, context);  // sides, clock, state, views, gantt
    this.play = document.querySelector("#play");
    this.slider = document.querySelector("#slider");
    this.speed = document.querySelector("#speed");
    this.timeText = document.querySelector("#time");
    this.underPointer = "network";
    this.slowDown();
    this.listenToClock();
    this.listenToFollow();
    this.listenToChart();
    this.listenToKeys();
    document.querySelector("#fit").addEventListener("click", () => this.views.forEach((view) => {
      view.camera.fit();
      view.refresh();
    }));
    this.update();
  }

  /// What a pattern does near one NPU is over soon: shown slowly, and in the chart alone.
  slowDown() {
    const end = Math.max(...this.sides.map((side) => (side.detail === "pattern" ? side.heldEnd() : side.time)));
    const share = end / this.clock.last;
    if (end > 0 && share < 0.5) {
      this.clock.setSpeed(kSpeeds.findLast((speed) => speed <= 2 * share) || kSpeeds[0]);
      this.gantt.moveTo(0, 1.1 * end);
    }
  }

  listenToClock() {
    const { clock } = this;
    this.play.addEventListener("click", () => clock.toggle());
    document.querySelector("#back").addEventListener("click", () => clock.stepBack());
    document.querySelector("#forward").addEventListener("click", () => clock.stepForward());
    this.slider.max = kSliderSteps;
    this.slider.addEventListener("input", () => {
      clock.playing = false;
      clock.seek(this.slider.value / kSliderSteps * clock.last);
    });
    for (const speed of kSpeeds) {
      const option = document.createElement("option");
      option.value = speed;
      option.textContent = `${speed}x`;
      option.selected = speed === clock.speed;
      this.speed.append(option);
    }
    this.speed.addEventListener("change", () => clock.setSpeed(Number(this.speed.value)));
    clock.onChange(() => this.update());
  }

  update() {
    const { clock } = this;
    this.play.textContent = clock.playing ? "Pause" : "Play";
    this.slider.value = Math.round(clock.time / clock.last * kSliderSteps);
    this.slider.setAttribute("aria-valuetext", formatTime(clock.time));
    this.timeText.textContent = `${formatTime(clock.time)} of ${formatTime(clock.last)}`;
    document.querySelector("#rate").textContent = `a second shows ${formatTime(clock.rate())}`;
  }

  /// "chunk 5", "link 3", "NPU 7" or the name of a node.
  listenToFollow() {
    const form = document.querySelector("#follow");
    const kind = form.querySelector("select");
    const input = form.querySelector("input");
    const message = form.querySelector("output");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      message.textContent = this.follow(kind.value, input.value.trim());
    });
    document.querySelector("#unfollow").addEventListener("click", () => {
      message.textContent = "";
      this.state.select(null);
    });
    this.state.onChange(() => {
      const chosen = this.state.selection;
      if (chosen) {
        kind.value = chosen.kind;
        input.value = this.numberOf(chosen);
        message.textContent = "";
      }
    });
  }

  /// As people know it, which differs from the page's number where only a part is shown.
  numberOf({ kind, id, side }) {
    const of = this.sides[side];
    return kind === "node" ? of.nodeId(id) : kind === "link" ? of.linkId(id) : id;
  }

  /// On the side that is followed or shown in the chart; says what is wrong, or nothing.
  follow(kind, text) {
    const index = this.state.selection ? this.state.selection.side : this.gantt.sideIndex;
    const side = this.sides[index];
    const number = /^\d+$/.test(text) ? Number(text) : -1;
    if (kind === "chunk") {
      if (!side.canFollow(number)) {
        return side.heldChunks && number >= 0 && number < side.numChunks
          ? `Not on this page; it has ${[...side.heldChunks.slice(0, 6)].join(", ")}${side.heldChunks.length > 6 ? ", ..." : ""}`
          : `Chunks are 0 to ${formatCount(side.numChunks - 1)}`;
      }
      this.state.select(kind, number, index);
      return "";
    }
    const ids = kind === "node" ? side.nodeIds : side.linkIds;
    const count = kind === "node" ? side.numNodes : side.numLinks;
    let id = number >= 0 ? (ids ? ids.indexOf(number) : number) : -1;
    if (kind === "node" && number < 0 && side.names) {
      id = side.names.indexOf(text);
    }
    if (id < 0 || id >= count) {
      return `No such ${kind === "node" ? "NPU or switch" : "link"} on this page`;
    }
    this.state.select(kind, id, index);
    return "";
  }

  listenToChart() {
    const mode = document.querySelector("#rows");
    const which = document.querySelector("#chart-side");
    which.hidden = this.sides.length < 2;
    const show = () => this.gantt.show(mode.value, Number(which.value));
    mode.addEventListener("change", show);
    which.addEventListener("change", show);
    // What is followed is what the chart shows, unless it was chosen in there.
    let before = null;
    this.state.onChange(() => {
      const { selection, chosenInChart } = this.state;
      if (selection !== before && !chosenInChart && (selection || mode.value === "followed")) {
        mode.value = selection ? "followed" : "all";
        if (selection && this.sides.length > 1) {
          which.value = selection.side;
        }
        show();
      } else if (mode.value === "followed") {
        show();
      }
      before = selection;
      this.gantt.refresh();
      this.views.forEach((view) => view.refresh());
    });
    const now = document.querySelector("#now");
    now.closest("label").hidden = !this.sides.some((side) => side.cells);
    now.checked = this.state.now;
    now.addEventListener("change", () => this.state.change({ now: now.checked }));
  }

  listenToKeys() {
    document.querySelector("#gantt").addEventListener("pointerenter", () => { this.underPointer = "gantt"; });
    document.querySelector("#networks").addEventListener("pointerenter", () => { this.underPointer = "network"; });
    const zoom = (factor) => (this.underPointer === "gantt" ? this.gantt.zoom(factor)
      : this.views.forEach((view) => view.zoom(factor)));
    const faster = (by) => {
      const at = kSpeeds.indexOf(Number(this.speed.value));
      this.speed.value = kSpeeds[Math.max(0, Math.min(kSpeeds.length - 1, at + by))];
      this.clock.setSpeed(Number(this.speed.value));
    };
    const keys = {
      " ": () => this.clock.toggle(),
      ArrowRight: (event) => (event.shiftKey ? this.jump(0.01) : this.clock.stepForward()),
      ArrowLeft: (event) => (event.shiftKey ? this.jump(-0.01) : this.clock.stepBack()),
      ArrowUp: () => faster(1),
      ArrowDown: () => faster(-1),
      Home: () => this.clock.seek(0),
      End: () => this.clock.seek(this.clock.last),
      "+": () => zoom(1.3),
      "=": () => zoom(1.3),
      "-": () => zoom(1 / 1.3),
      0: () => document.querySelector("#fit").click(),
      Escape: () => this.state.select(null),
    };
    document.addEventListener("keydown", (event) => {
      const writing = event.target.closest("input:not([type=range]):not([type=checkbox]), select");
      const act = keys[event.key];
      if (!act || writing || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      event.preventDefault();
      act(event);
    });
  }

  jump(share) {
    this.clock.playing = false;
    this.clock.seek(this.clock.time + share * this.clock.last);
  }
}
