// SPDX-License-Identifier: MIT
// From places in the network to pixels: a scale and an offset.

const kMargin = 18;

export class Camera {
  constructor(width, height) {
    this.worldWidth = Math.max(width, 0.5);
    this.worldHeight = Math.max(height, 0.5);
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.fitted = true;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    if (this.fitted) {
      this.fit();
    }
  }

  fitScale() {
    return Math.max(0.01, Math.min((this.width - 2 * kMargin) / this.worldWidth,
                                   (this.height - 2 * kMargin) / this.worldHeight, 120));
  }

  /// All of the network, in the middle.
  fit() {
    this.scale = this.fitScale();
    this.x = (this.width - this.worldWidth * this.scale) / 2;
    this.y = (this.height - this.worldHeight * this.scale) / 2;
    this.fitted = true;
  }

  /// What is under a pixel stays under it.
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const smallest = this.fitScale() / 4;
    const scale = Math.max(smallest, Math.min(600, this.scale * factor));
    this.x = x - (x - this.x) * scale / this.scale;
    this.y = y - (y - this.y) * scale / this.scale;
    this.scale = scale;
    this.fitted = false;
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.fitted = false;
  }

  screenX(x) { return this.x + x * this.scale; }
  screenY(y) { return this.y + y * this.scale; }
  worldX(x) { return (x - this.x) / this.scale; }
  worldY(y) { return (y - this.y) / this.scale; }
}
