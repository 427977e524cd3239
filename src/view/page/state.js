// SPDX-License-Identifier: MIT
// What the reader has chosen: whom to follow, what to colour. All parts of the page listen.

export class State {
  constructor(sides) {
    this.sides = sides;
    /// {kind: "chunk" | "link" | "node", id, side}, ids as the page numbers them, or null.
    this.selection = null;
    /// Which of the limits is coloured in the network; -1 for none.
    this.limit = -1;
    this.showPath = false;
    /// Whether links have the colour of the whole run or of the moment, where sums are shown.
    this.now = sides.some((side) => side.cells !== null);
    this.listeners = [];
  }

  onChange(listener) { this.listeners.push(listener); }
  tell() { this.listeners.forEach((listener) => listener()); }
  change(values) {
    Object.assign(this, values);
    this.tell();
  }

  /// `inChart` says that it was chosen in the chart, whose rows then stay as they are.
  select(kind, id, side, inChart = false) {
    this.change({ selection: kind === null ? null : { kind, id, side }, chosenInChart: inChart });
  }

  /// What is followed on a side: what was chosen on it, and the same on the other one where its
  /// numbers mean the same.
  followed(side) {
    const chosen = this.selection;
    if (!chosen || chosen.side === side.index) {
      return chosen;
    }
    const other = this.sides[chosen.side];
    const same = other.network.name === side.network.name && other.numNodes === side.numNodes &&
      other.numLinks === side.numLinks;
    if (chosen.kind === "chunk") {
      return same && other.numChunks === side.numChunks && side.canFollow(chosen.id) ? chosen : null;
    }
    return same ? chosen : null;
  }

  /// The links that what is followed on a side goes over: of a chunk all that it crosses.
  followedLinks(side) {
    const chosen = this.followed(side);
    if (!chosen) {
      return [];
    }
    if (chosen.kind === "link") {
      return [chosen.id];
    }
    if (chosen.kind === "node") {
      const { into, out } = side.linksAt(chosen.id);
      return [...into, ...out];
    }
    const links = new Set();
    for (const transfer of side.transfersOf(chosen.id)) {
      side.linksOf(transfer).forEach((link) => links.add(link));
    }
    return [...links].sort((a, b) => a - b);
  }
}
