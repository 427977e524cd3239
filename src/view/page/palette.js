// SPDX-License-Identifier: MIT
// Colours. Utilization is cividis, which reads the same with every kind of colour vision; what is busiest stands
// out most, so that the scale is turned round on a light page. Copies and sums are orange and violet,
// which differ in blue and are told apart by everybody.

const kCividis = [
  [0, 34, 78], [8, 48, 103], [50, 63, 108], [74, 78, 107], [94, 93, 110], [112, 109, 115], [130, 125, 120],
  [150, 142, 119], [170, 159, 114], [192, 177, 105], [215, 197, 91], [239, 217, 70], [254, 232, 56],
];
/// Steps that people can tell apart in lines of a few pixels; links of one step are drawn together.
export const kScaleSteps = 16;

/// Hues for parts of a network, after Okabe and Ito.
const kParts = ["#e69f00", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#0072b2", "#f0e442", "#999999"];

function mix(a, b, share) {
  return a.map((value, i) => Math.round(value + (b[i] - value) * share));
}

export class Palette {
  constructor() {
    this.read();
  }

  /// What the style sheet says now.
  read() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    for (const name of ["page", "panel", "ink", "quiet", "line", "node", "copy", "reduce", "path", "accent", "idle", "share", "busy", "faint", "idleTint"]) {
      this[name] = color(name);
    }
    this.dark = color("scheme") === "dark";
    const mixed = Array.from({ length: kScaleSteps }, (_, step) => this.mixed(step / (kScaleSteps - 1)));
    this.steps = mixed.map((one) => `rgb(${one.join()})`);
    /// As images hold them, byte by byte.
    this.packedSteps = mixed.map(([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0);
  }

  scale(share) { return `rgb(${this.mixed(share).join()})`; }
  /// Of a share from 0 to 1. The pale end of a light page is left out: nobody would see it.
  mixed(share) {
    const place = (this.dark ? 0.08 + 0.92 * share : 0.88 - 0.88 * share) * (kCividis.length - 1);
    const below = Math.min(Math.floor(place), kCividis.length - 2);
    return mix(kCividis[below], kCividis[below + 1], place - below);
  }
  step(share) {
    return Math.max(0, Math.min(kScaleSteps - 1, Math.round(share * (kScaleSteps - 1))));
  }
  part(number) { return kParts[(number - 1) % kParts.length]; }
  operation(reduces) { return reduces ? this.reduce : this.copy; }
}
