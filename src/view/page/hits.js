// SPDX-License-Identifier: MIT
// What is under the pointer. A look at every node and link takes under a millisecond for tens of thousands of them,
// so there is no index to keep right.

/// How far from a link still counts, in pixels.
const kReach = 7;

function distanceToSegment(px, py, ax, ay, bx, by) {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / length));
  return Math.hypot(px - ax - share * dx, py - ay - share * dy);
}

function nodeAt(side, scene, camera, x, y) {
  for (let node = 0; node < side.numNodes; ++node) {
    const radius = Math.max(4, scene.nodeRadius(camera, node));
    if (Math.abs(camera.screenX(side.x[node]) - x) <= radius &&
        Math.abs(camera.screenY(side.y[node]) - y) <= radius) {
      return node;
    }
  }
  return -1;
}

function distanceToLink(scene, link, x, y) {
  const c = scene.curves;
  const at = 8 * link;
  if (scene.straight[link]) {
    return distanceToSegment(x, y, c[at], c[at + 1], c[at + 6], c[at + 7]);
  }
  const pieces = 12;
  let nearest = Infinity;
  let before = { x: c[at], y: c[at + 1] };
  for (let i = 1; i <= pieces; ++i) {
    const next = scene.pointAt(link, i / pieces, { x: 0, y: 0 });
    nearest = Math.min(nearest, distanceToSegment(x, y, before.x, before.y, next.x, next.y));
    before = next;
  }
  return nearest;
}

/// {kind: "node" | "link", id} or null.
export function hitAt(side, scene, camera, x, y) {
  const node = nodeAt(side, scene, camera, x, y);
  if (node >= 0) {
    return { kind: "node", id: node };
  }
  const worldX = camera.worldX(x);
  const worldY = camera.worldY(y);
  const reach = kReach / camera.scale;
  let nearest = reach;
  let found = -1;
  const c = side.curves;
  for (let link = 0; link < side.numLinks; ++link) {
    const at = 8 * link;
    if (Math.min(c[at], c[at + 2], c[at + 4], c[at + 6]) > worldX + reach ||
        Math.max(c[at], c[at + 2], c[at + 4], c[at + 6]) < worldX - reach ||
        Math.min(c[at + 1], c[at + 3], c[at + 5], c[at + 7]) > worldY + reach ||
        Math.max(c[at + 1], c[at + 3], c[at + 5], c[at + 7]) < worldY - reach) {
      continue;
    }
    const distance = distanceToLink(scene, link, worldX, worldY);
    if (distance < nearest) {
      nearest = distance;
      found = link;
    }
  }
  return found >= 0 ? { kind: "link", id: found } : null;
}
