// SPDX-License-Identifier: MIT
// The one clock of a page: all that is shown is shown at its time.

/// How long the whole takes at speed 1, in seconds of the reader.
const kWhole = 12;

export class Clock {
  constructor(sides) {
    this.sides = sides;
    this.last = Math.max(1, ...sides.map((side) => side.time));
    this.time = 0;
    this.playing = false;
    this.speed = 1;
    this.before = null;
    this.listeners = [];
  }

  onChange(listener) { this.listeners.push(listener); }
  tell() { this.listeners.forEach((listener) => listener()); }

  seek(time) {
    this.time = Math.max(0, Math.min(this.last, time));
    this.tell();
  }
  play() {
    if (this.time >= this.last) {
      this.time = 0;
    }
    this.playing = true;
    this.before = null;
    this.tell();
  }
  pause() {
    this.playing = false;
    this.tell();
  }
  toggle() { this.playing ? this.pause() : this.play(); }
  setSpeed(speed) {
    this.speed = speed;
    this.tell();
  }
  /// Picoseconds that pass in a second of the reader.
  rate() { return this.last / kWhole * this.speed; }

  /// To what happens next, or happened last, on any side.
  stepForward() {
    this.playing = false;
    this.seek(Math.min(...this.sides.map((side) => {
      const next = side.eventAfter(this.time);
      return next > this.time ? next : this.last;
    })));
  }
  stepBack() {
    this.playing = false;
    this.seek(Math.max(...this.sides.map((side) => side.eventBefore(this.time))));
  }

  /// Called for every frame with the reader's time in milliseconds; whether time went on.
  tick(now) {
    if (!this.playing) {
      return false;
    }
    if (this.before !== null) {
      this.time = Math.min(this.last, this.time + (now - this.before) / 1000 * this.rate());
      this.playing = this.time < this.last;
      this.tell();
    }
    this.before = now;
    return true;
  }
}
