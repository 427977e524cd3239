// SPDX-License-Identifier: MIT
// Very many links in the small: lines of single pixels, written into an image by hand. Which pixels a link has is found
// out when the view changes; to colour 16,128 links anew then takes a millisecond, where strokes take 20.

export class LinkPixels {
  constructor(side, scene) {
    this.side = side;
    this.scene = scene;
    this.canvas = document.createElement("canvas");
    this.key = "";
  }

  /// Finds the pixels of all links, unless the view is that of the last time.
  prepare(camera, ratio) {
    const key = [camera.x, camera.y, camera.scale, camera.width, camera.height, ratio].join();
    if (key === this.key) {
      return;
    }
    this.key = key;
    const width = Math.max(1, Math.round(camera.width * ratio));
    const height = Math.max(1, Math.round(camera.height * ratio));
    this.canvas.width = width;
    this.canvas.height = height;
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(width, height);
    this.colors = new Uint32Array(this.image.data.buffer);
    const thick = Math.max(1, Math.round(0.12 * camera.scale * ratio));
    const begins = new Uint32Array(this.side.numLinks + 1);
    const pixels = [];
    for (let link = 0; link < this.side.numLinks; ++link) {
      if (!this.side.failed[link]) {
        this.addLink(link, camera, ratio, thick, pixels);
      }
      begins[link + 1] = pixels.length;
    }
    this.begins = begins;
    this.pixels = Uint32Array.from(pixels);
  }

  addLink(link, camera, ratio, thick, pixels) {
    const { curves } = this.scene;
    const { width, height } = this.canvas;
    const at = 8 * link;
    const dx = Math.abs(curves[at + 6] - curves[at]);
    const dy = Math.abs(curves[at + 7] - curves[at + 1]);
    // A curve is longer than the line between its ends, but seldom by more than a half.
    const length = Math.hypot(dx, dy) * (this.scene.straight[link] ? 1 : 1.5);
    const steps = Math.max(1, Math.ceil(length * camera.scale * ratio));
    const [sideX, sideY] = dx > dy ? [0, 1] : [1, 0];
    const point = { x: 0, y: 0 };
    for (let step = 0; step <= steps; ++step) {
      this.scene.pointAt(link, step / steps, point);
      const x = Math.floor(camera.screenX(point.x) * ratio);
      const y = Math.floor(camera.screenY(point.y) * ratio);
      for (let i = 0; i < thick; ++i) {
        const column = x + i * sideX;
        const row = y + i * sideY;
        if (column >= 0 && column < width && row >= 0 && row < height) {
          pixels.push(row * width + column);
        }
      }
    }
  }

  /// Colours all links and draws them; `packed(link)` is a colour as an image holds it.
  draw(context, camera, packed) {
    const { begins, pixels, colors } = this;
    colors.fill(0);
    for (let link = 0; link < this.side.numLinks; ++link) {
      const color = packed(link);
      for (let at = begins[link]; at < begins[link + 1]; ++at) {
        colors[pixels[at]] = color;
      }
    }
    this.context.putImageData(this.image, 0, 0);
    context.drawImage(this.canvas, 0, 0, camera.width, camera.height);
  }
}
