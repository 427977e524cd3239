// SPDX-License-Identifier: MIT
// What moves: transfers on their links at the clock's time, and what is followed.

/// Of more than so many transfers at once only dots are drawn.
const kManyMoving = 1500;
/// Of the length of a link.
const kTail = 0.25;

export class Traffic {
  constructor(side, scene) {
    this.side = side;
    this.scene = scene;
    this.point = { x: 0, y: 0 };
    this.followedKey = null;
    this.tree = null;
  }

  /// Calls visit(link, passage, share of its time) for all that is on a link now.
  eachMoving(time, visit) {
    const { side } = this;
    for (let link = 0; link < side.numLinks; ++link) {
      const passage = side.passageAt(link, time);
      if (passage >= 0) {
        visit(link, passage, (time - side.passageStart[passage]) / side.passageBusy[passage]);
      }
    }
  }

  /// For tests and for people who ask: {link, transfer, chunks, share}.
  listMoving(time) {
    const list = [];
    this.eachMoving(time, (link, passage, share) => {
      const transfer = this.side.passageTransfer[passage];
      list.push({ link, transfer, chunks: [...this.side.chunksOf(transfer)], share });
    });
    return list;
  }

  draw(context, camera, palette, state, time) {
    const chosen = state.followed(this.side);
    const chunk = chosen && chosen.kind === "chunk" ? chosen.id : null;
    if (state.limit >= 0) {
      this.drawLimit(context, camera, palette, state.limit);
    }
    if (state.showPath && this.side.path) {
      this.drawPath(context, camera, palette, time);
    }
    if (chosen && chosen.kind !== "chunk") {
      this.drawChosen(context, camera, palette, state, chosen);
    }
    if (chunk !== null) {
      this.drawTree(context, camera, palette, chunk, time);
    } else if (!(state.now && this.side.cells)) {
      this.drawMoving(context, camera, palette, time, chosen);
    }
  }

  drawMoving(context, camera, palette, time, chosen) {
    const { side } = this;
    const dots = [[], []];
    this.eachMoving(time, (link, passage, share) => {
      if (chosen && chosen.kind === "link" && chosen.id !== link) {
        return;
      }
      if (chosen && chosen.kind === "node" && side.src[link] !== chosen.id && side.dst[link] !== chosen.id) {
        return;
      }
      dots[side.reduces[side.passageTransfer[passage]] ? 1 : 0].push(link, share);
    });
    const many = dots[0].length + dots[1].length > 2 * kManyMoving;
    const radius = Math.max(1, Math.min(7, 0.09 * camera.scale));
    dots.forEach((list, reduces) => {
      context.fillStyle = palette.operation(reduces);
      context.strokeStyle = palette.operation(reduces);
      if (!many) {
        context.globalAlpha = 0.6;
        context.lineWidth = 1.1 * radius;
        context.lineCap = "round";
        context.beginPath();
        for (let i = 0; i < list.length; i += 2) {
          this.tail(context, camera, list[i], list[i + 1]);
        }
        context.stroke();
        context.globalAlpha = 1;
        context.lineCap = "butt";
      }
      for (let i = 0; i < list.length; i += 2) {
        this.dot(context, camera, list[i], list[i + 1], radius, many);
      }
    });
  }

  /// What is behind a dot, so that one sees where it comes from.
  tail(context, camera, link, share) {
    const from = Math.max(0, share - kTail);
    const pieces = this.scene.straight[link] ? 1 : 4;
    for (let piece = 0; piece <= pieces; ++piece) {
      const { x, y } = this.scene.pointAt(link, from + (share - from) * piece / pieces, this.point);
      context[piece === 0 ? "moveTo" : "lineTo"](camera.screenX(x), camera.screenY(y));
    }
  }

  dot(context, camera, link, share, radius, simple) {
    const { x, y } = this.scene.pointAt(link, share, this.point);
    const screenX = camera.screenX(x);
    const screenY = camera.screenY(y);
    if (screenX < -radius || screenX > camera.width + radius || screenY < -radius ||
        screenY > camera.height + radius) {
      return;
    }
    if (simple) {
      context.fillRect(screenX - radius, screenY - radius, 2 * radius, 2 * radius);
      return;
    }
    context.beginPath();
    context.arc(screenX, screenY, radius, 0, 2 * Math.PI);
    context.fill();
  }

  /// The transfers of a chunk and who has it when, found once.
  treeOf(chunk) {
    if (this.followedKey !== chunk) {
      this.followedKey = chunk;
      this.tree = { transfers: this.side.transfersOf(chunk), holders: this.side.holdersOf(chunk),
                    starters: new Set(this.side.startersOf(chunk)) };
    }
    return this.tree;
  }

  drawTree(context, camera, palette, chunk, time) {
    const { side, scene } = this;
    const { transfers, holders, starters } = this.treeOf(chunk);
    const wide = Math.max(1.6, 1.3 * scene.strokeWidth(camera));
    for (const reduces of [1, 0]) {
      context.strokeStyle = palette.operation(reduces);
      for (const [state, alpha, dash] of [["later", transfers.length > kManyMoving ? 0.2 : 0.45, [3, 3]], ["past", 1, []]]) {
        context.globalAlpha = alpha;
        context.lineWidth = state === "past" ? wide : 0.6 * wide;
        // Dashes take the most time, and are not to be seen in the small.
        context.setLineDash(transfers.length > kManyMoving ? [] : dash);
        context.beginPath();
        for (const transfer of transfers) {
          if (side.reduces[transfer] === reduces && (side.start[transfer] <= time) === (state === "past")) {
            side.linksOf(transfer).forEach((link) => scene.trace(context, camera, link));
          }
        }
        context.stroke();
      }
      context.setLineDash([]);
    }
    const color = (node) => {
      const since = holders.get(node);
      return since !== undefined && since <= time ? palette.copy : starters.has(node) ? palette.share : null;
    };
    scene.drawNodes(context, camera, palette, color);
    scene.drawText(context, camera, palette, color);
    const radius = Math.max(2.5, Math.min(10, 0.14 * camera.scale));
    for (const transfer of transfers) {
      if (side.start[transfer] <= time && time < side.end(transfer)) {
        context.fillStyle = palette.operation(side.reduces[transfer]);
        this.dotOnRoute(context, camera, transfer, time, radius);
      }
    }
  }

  /// A transfer that is followed is one dot, on that of its links whose turn it is.
  dotOnRoute(context, camera, transfer, time, radius) {
    const links = this.side.linksOf(transfer);
    const share = (time - this.side.start[transfer]) / (this.side.end(transfer) - this.side.start[transfer]);
    const place = Math.min(links.length - 1e-6, share * links.length);
    this.dot(context, camera, links[Math.floor(place)], place % 1, radius, false);
  }

  drawChosen(context, camera, palette, state, chosen) {
    const { side, scene } = this;
    context.strokeStyle = palette.accent;
    context.globalAlpha = 0.8;
    context.lineWidth = Math.max(2, 1.1 * scene.strokeWidth(camera));
    context.beginPath();
    state.followedLinks(side).forEach((link) => scene.trace(context, camera, link));
    context.stroke();
    context.globalAlpha = 1;
    const isChosen = (node) => (chosen.kind === "node" && node === chosen.id ? palette.accent : null);
    scene.drawNodes(context, camera, palette, isChosen);
    scene.drawText(context, camera, palette, isChosen);
  }

  drawLimit(context, camera, palette, which) {
    const { side, scene } = this;
    const limit = side.limits[Math.min(which, side.limits.length - 1)];
    context.strokeStyle = palette.accent;
    context.globalAlpha = 0.55;
    // Wider by how much a link counts, in four steps.
    for (let step = 1; step <= 4; ++step) {
      context.lineWidth = Math.max(1.5, scene.strokeWidth(camera) * (0.6 + 0.45 * step));
      context.beginPath();
      for (let link = 0; link < side.numLinks; ++link) {
        if (Math.ceil(limit.links[link] / 64) === step) {
          scene.trace(context, camera, link);
        }
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    const part = (node) => (limit.parts[node] > 0 ? palette.part(limit.parts[node]) : null);
    scene.drawNodes(context, camera, palette, part);
    scene.drawText(context, camera, palette, part);
  }

  /// All steps, and those of the moment thicker.
  drawPath(context, camera, palette, time) {
    const { side, scene } = this;
    const { path } = side;
    context.strokeStyle = palette.path;
    const stroke = (width, alpha, chosen) => {
      context.lineWidth = width;
      context.globalAlpha = alpha;
      context.beginPath();
      for (let step = 0; step < path.length; ++step) {
        if (chosen(step)) {
          for (let at = path.linkBegins[step]; at < path.linkBegins[step + 1]; ++at) {
            scene.trace(context, camera, path.links[at]);
          }
        }
      }
      context.stroke();
    };
    const width = Math.max(1.5, 1.2 * scene.strokeWidth(camera));
    stroke(width, 0.75, () => true);
    stroke(1.5 * width, 1, (step) => path.start[step] <= time && time < path.end[step]);
    context.globalAlpha = 1;
  }
}
