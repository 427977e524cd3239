// SPDX-License-Identifier: MIT
// The page: reads its data, makes its parts, and draws what changed, frame by frame.
import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { Details } from "./details.js";
import { Gantt } from "./gantt.js";
import { Side } from "./model.js";
import { NetworkView } from "./network.js";
import { Palette } from "./palette.js";
import { Panel, Tooltip, kSideNames, make } from "./panel.js";
import { State } from "./state.js";
import { Strip } from "./strip.js";

const kFormat = 1;
const kThemes = ["auto", "light", "dark"];

/// One network with its name, one strip.
function addSide(side, several, context) {
  const stage = make("div", "", { class: "stage" }, [
    make("canvas", "", { class: "lower" }), make("canvas", "", { class: "upper", role: "img", "aria-label": side.title })]);
  const title = several ? [make("h2", `${kSideNames[side.index]}: ${side.title}, ${side.engine}`)] : [];
  document.querySelector("#networks").append(make("section", "", { class: "network" }, [...title, stage]));
  const canvas = make("canvas", "", { role: "img", "aria-label": "links that are busy, over time" });
  document.querySelector("#strips").append(make("div", "", { class: "strip" }, [
    make("span", several ? kSideNames[side.index] : "", { class: "side" }), canvas]));
  return { view: new NetworkView(stage, side, context), strip: new Strip(canvas, side, context) };
}

/// Light, dark, or what the system says; and on paper light, whatever the screen is.
class Theme {
  constructor() {
    this.chosen = 0;
    this.printing = false;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.apply();
  }
  apply() {
    const dark = kThemes[this.chosen] === "dark" || (kThemes[this.chosen] === "auto" && this.system.matches);
    document.documentElement.dataset.scheme = dark && !this.printing ? "dark" : "light";
    document.querySelector("#theme").textContent = `Theme: ${kThemes[this.chosen]}`;
  }
  listen(redraw) {
    const change = (values) => {
      Object.assign(this, values);
      this.apply();
      redraw();
    };
    document.querySelector("#theme").addEventListener("click", () =>
      change({ chosen: (this.chosen + 1) % kThemes.length }));
    this.system.addEventListener("change", () => change({}));
    window.addEventListener("beforeprint", () => change({ printing: true }));
    window.addEventListener("afterprint", () => change({ printing: false }));
  }
}

/// For tests, and for those who look at a page with the tools of a browser; nothing here changes anything.
function offerState(sides, parts, context, frames) {
  const { clock, state, gantt } = context;
  window.tacos = Object.freeze({
    format: kFormat,
    sides: sides.length,
    time: () => clock.time,
    last: clock.last,
    playing: () => clock.playing,
    speed: () => clock.speed,
    summary: (side) => ({ time: sides[side].time, bound: sides[side].bound, detail: sides[side].detail,
                          npus: sides[side].numNpus, links: sides[side].numLinks,
                          transfers: sides[side].numTransfers, windows: sides[side].numWindows, held: sides[side].heldChunks ? [...sides[side].heldChunks] : null }),
    moving: (side) => parts[side].view.traffic.listMoving(clock.time),
    followed: (side) => state.followed(sides[side]),
    followedLinks: (side) => state.followedLinks(sides[side]),
    holders: (side, chunk) => [...sides[side].holdersOf(chunk)].filter(([, since]) => since <= clock.time).map(([node]) => node),
    limit: () => state.limit,
    limitLinks: (side, which) => [...sides[side].limits[which].links.keys()].filter((link) => sides[side].limits[which].links[link] > 0),
    pathLinks: (side) => (sides[side].path ? [...sides[side].path.links] : null),
    boundLine: (side) => ({ x: parts[side].strip.boundX(), left: parts[side].strip.xAt(0), right: parts[side].strip.xAt(clock.last) }),
    busyAt: (side, time) => parts[side].strip.busyAt(time),
    scale: (side) => parts[side].view.camera.scale,
    placeOf: (side, node) => ({ x: parts[side].view.camera.screenX(sides[side].x[node]),
                                y: parts[side].view.camera.screenY(sides[side].y[node]) }),
    rows: () => gantt.rows.length,
    firstRows: (count) => [...gantt.rows.slice(0, count)],
    chart: () => ({ from: gantt.from, to: gantt.to, mode: gantt.mode, side: gantt.sideIndex }),
    frames: () => [...frames],
  });
}

function start() {
  const data = JSON.parse(document.querySelector("#data").textContent);
  if (data.format !== kFormat) {
    document.body.textContent = `This page holds data of format ${data.format}, and knows ${kFormat}.`;
    return;
  }
  const theme = new Theme();
  const sides = data.sides.map((json, index) => new Side(json, index));
  const context = { palette: new Palette(), clock: new Clock(sides), state: new State(sides),
                    tooltip: new Tooltip(document.querySelector("#tooltip")) };
  const { palette, clock, state } = context;
  document.querySelector("h1").textContent = [...new Set(sides.map((side) => side.title))].join(" | ");
  const parts = sides.map((side) => addSide(side, sides.length > 1, context));
  const views = parts.map((part) => part.view);
  const gantt = new Gantt(document.querySelector("#gantt"), sides, context);
  context.gantt = gantt;
  const panel = new Panel(document.querySelector("#panel"), sides, context);
  const details = new Details(document.querySelector("#details"), sides, context);
  const redraw = () => {
    palette.read();
    panel.fillLegend();
    views.forEach((view) => view.refresh());
    parts.forEach((part) => part.strip.refresh());
    gantt.refresh();
    drawAll(performance.now());
  };
  new Controls({ sides, clock, state, views, gantt });
  theme.listen(redraw);

  // The times of the last frames, for those who ask how smooth it is.
  const frames = [];
  let changed = true;
  clock.onChange(() => { changed = true; });
  state.onChange(() => { changed = true; });
  const drawAll = (now) => {
    views.forEach((view) => view.draw(now));
    parts.forEach((part) => part.strip.draw());
    gantt.draw();
    details.draw(now);
  };
  const frame = (now) => {
    frames.push(now);
    if (frames.length > 600) {
      frames.shift();
    }
    clock.tick(now);
    if (changed || gantt.stale || views.some((view) => view.stale || view.settleAt > 0) ||
        parts.some((part) => part.strip.stale)) {
      changed = false;
      drawAll(now);
    }
    requestAnimationFrame(frame);
  };
  offerState(sides, parts, context, frames);
  state.tell();
  requestAnimationFrame(frame);
}

start();
