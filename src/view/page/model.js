// SPDX-License-Identifier: MIT
// One schedule: its network, its transfers, and what is asked about them. Times are picoseconds.
import { beginsOf, decodeColumn, listsByKey, upperBound } from "./decode.js";

export class Side {
  constructor(json, index) {
    this.index = index;
    this.json = json;
    this.title = json.title;
    this.engine = json.engine;
    this.detail = json.detail;
    this.time = json.time;
    this.bound = json.bound;
    this.readNetwork(json.network);
    this.readTransfers(json.transfers, json.courses);
    this.readChunks(json.chunks);
    this.strip = decodeColumn(json.strip);
    this.cells = json.cells ? decodeColumn(json.cells.busy) : null;
    this.numWindows = json.cells ? json.cells.windows : 0;
    this.limits = json.limits.map((limit) => ({
      name: limit.name,
      time: limit.time,
      sentence: limit.sentence,
      parts: decodeColumn(limit.parts),
      links: decodeColumn(limit.links),
    }));
    this.readPath(json.path);
  }

  readNetwork(network) {
    this.network = network;
    this.numNpus = network.shown_npus;
    this.numNodes = network.nodes.x.count;
    this.names = network.names || null;
    this.nodeIds = network.node_ids ? decodeColumn(network.node_ids) : null;
    this.linkIds = network.link_ids ? decodeColumn(network.link_ids) : null;
    const scaled = (column) => Float32Array.from(decodeColumn(column), (value) => value / network.unit);
    this.x = scaled(network.nodes.x);
    this.y = scaled(network.nodes.y);
    const links = network.links;
    for (const name of ["src", "dst", "bandwidth", "latency", "failed", "busy", "bytes", "transfers"]) {
      this[name === "transfers" ? "carried" : name] = decodeColumn(links[name]);
    }
    this.room = scaled(links.room);
    this.numLinks = this.src.length;
    // Four points of each link, x and y in turn.
    this.curves = new Float32Array(8 * this.numLinks);
    ["from", "control_1", "control_2", "to"].forEach((name, point) => {
      const x = scaled(links[name].x);
      const y = scaled(links[name].y);
      for (let link = 0; link < this.numLinks; ++link) {
        this.curves[8 * link + 2 * point] = x[link];
        this.curves[8 * link + 2 * point + 1] = y[link];
      }
    });
    this.largestBandwidth = this.bandwidth.reduce((a, b) => Math.max(a, b), 1);
  }

  readTransfers(transfers, courses) {
    this.start = Float64Array.from(decodeColumn(transfers.start));
    this.course = decodeColumn(transfers.course);
    this.reduces = decodeColumn(transfers.reduces);
    this.chunkBegins = beginsOf(decodeColumn(transfers.num_chunks));
    this.chunks = decodeColumn(transfers.chunks);
    this.numTransfers = this.start.length;
    this.courseBytes = decodeColumn(courses.bytes);
    this.courseArrival = decodeColumn(courses.arrival);
    this.courseBegins = beginsOf(decodeColumn(courses.num_links));
    this.courseLinks = decodeColumn(courses.links);
    this.courseOffset = decodeColumn(courses.offset);
    this.courseBusy = decodeColumn(courses.busy);
    this.indexPassages();
  }

  /// A passage is a transfer on one of its links; those of a link stand together, in order of time.
  indexPassages() {
    const begins = new Uint32Array(this.numLinks + 1);
    const eachPassage = (visit) => {
      for (let transfer = 0; transfer < this.numTransfers; ++transfer) {
        const course = this.course[transfer];
        for (let at = this.courseBegins[course]; at < this.courseBegins[course + 1]; ++at) {
          visit(this.courseLinks[at], transfer, at);
        }
      }
    };
    eachPassage((link) => begins[link + 1]++);
    for (let link = 0; link < this.numLinks; ++link) {
      begins[link + 1] += begins[link];
    }
    const next = begins.slice();
    const count = begins[this.numLinks];
    this.passageStart = new Float64Array(count);
    this.passageBusy = new Float64Array(count);
    this.passageTransfer = new Uint32Array(count);
    eachPassage((link, transfer, at) => {
      const place = next[link]++;
      this.passageStart[place] = this.start[transfer] + this.courseOffset[at];
      this.passageBusy[place] = this.courseBusy[at];
      this.passageTransfer[place] = transfer;
    });
    this.passageBegins = begins;
    for (let link = 0; link < this.numLinks; ++link) {
      this.sortPassages(begins[link], begins[link + 1]);
    }
    // Where the last question about a link was answered: the next one is mostly about the same.
    this.lastPassage = begins.slice(0, this.numLinks);
  }

  /// Routes of different lengths reach a link in another order than they start.
  sortPassages(from, to) {
    let sorted = true;
    for (let i = from + 1; i < to && sorted; ++i) {
      sorted = this.passageStart[i - 1] <= this.passageStart[i];
    }
    if (sorted) {
      return;
    }
    const order = Array.from({ length: to - from }, (_, i) => from + i);
    order.sort((a, b) => this.passageStart[a] - this.passageStart[b]);
    for (const array of [this.passageStart, this.passageBusy, this.passageTransfer]) {
      const values = order.map((place) => array[place]);
      values.forEach((value, i) => { array[from + i] = value; });
    }
  }

  readChunks(chunks) {
    this.numChunks = chunks.count;
    const held = chunks.held ? decodeColumn(chunks.held) : null;
    this.heldChunks = held;
    this.chunkNumber = held ? new Map(Array.from(held, (chunk, i) => [chunk, i])) : null;
    this.chunkBytes = decodeColumn(chunks.bytes);
    this.everyoneStarts = chunks.everyone;
    this.participants = chunks.participants ? decodeColumn(chunks.participants) : null;
    this.sourceBegins = beginsOf(decodeColumn(chunks.num_sources));
    this.sources = decodeColumn(chunks.sources);
    this.movesByChunk = null;
  }

  readPath(path) {
    this.path = null;
    if (!path) {
      return;
    }
    this.path = {};
    for (const name of ["number", "start", "end", "chunk", "wait", "links"]) {
      this.path[name] = decodeColumn(path[name]);
    }
    this.path.linkBegins = beginsOf(decodeColumn(path.num_links));
    this.path.length = this.path.number.length;
    this.path.onLink = new Uint8Array(this.numLinks);
    for (const link of this.path.links) {
      this.path.onLink[link] = 1;
    }
    this.path.transfers = new Set(this.detail === "whole" ? this.path.number : []);
  }

  nodeId(node) { return this.nodeIds ? this.nodeIds[node] : node; }
  linkId(link) { return this.linkIds ? this.linkIds[link] : link; }
  isNpu(node) { return node < this.numNpus; }

  /// "NPU 3 (box0/gpu3)", "switch 65".
  nodeText(node) {
    const kind = this.isNpu(node) ? "NPU" : "switch";
    const name = this.names ? this.names[node] : "";
    return `${kind} ${this.nodeId(node)}${name ? ` (${name})` : ""}`;
  }
  shortName(node) { return (this.names && this.names[node]) || `${this.nodeId(node)}`; }
  linkText(link) {
    return `${this.shortName(this.src[link])} > ${this.shortName(this.dst[link])}`;
  }
  utilization(link) { return this.time > 0 ? this.busy[link] / this.time : 0; }

  end(transfer) { return this.start[transfer] + this.courseArrival[this.course[transfer]]; }
  linksOf(transfer) {
    const course = this.course[transfer];
    return this.courseLinks.subarray(this.courseBegins[course], this.courseBegins[course + 1]);
  }
  chunksOf(transfer) {
    return this.chunks.subarray(this.chunkBegins[transfer], this.chunkBegins[transfer + 1]);
  }
  sourceOf(transfer) { return this.src[this.courseLinks[this.courseBegins[this.course[transfer]]]]; }
  targetOf(transfer) {
    return this.dst[this.courseLinks[this.courseBegins[this.course[transfer] + 1] - 1]];
  }

  /// The passage that keeps the link busy at a time, or -1.
  passageAt(link, time) {
    const begin = this.passageBegins[link];
    const end = this.passageBegins[link + 1];
    let at = this.lastPassage[link];
    const next = at + 1;
    if (at >= end || this.passageStart[at] > time ||
        (next < end && this.passageStart[next] <= time &&
         (next + 1 < end && this.passageStart[next + 1] <= time))) {
      at = upperBound(this.passageStart, time, begin, end) - 1;
    } else if (next < end && this.passageStart[next] <= time) {
      at = next;
    }
    if (at < begin) {
      return -1;
    }
    this.lastPassage[link] = at;
    return time < this.passageStart[at] + this.passageBusy[at] ? at : -1;
  }

  /// The chunks that a link carries, in order of time.
  chunksOver(link) {
    const chunks = new Set();
    for (let at = this.passageBegins[link]; at < this.passageBegins[link + 1]; ++at) {
      this.chunksOf(this.passageTransfer[at]).forEach((chunk) => chunks.add(chunk));
    }
    return [...chunks];
  }

  canFollow(chunk) {
    return Number.isInteger(chunk) && chunk >= 0 && chunk < this.numChunks &&
      (!this.chunkNumber || this.chunkNumber.has(chunk));
  }

  /// The transfers that carry a chunk, in start order.
  transfersOf(chunk) {
    if (!this.movesByChunk) {
      const transferOf = new Uint32Array(this.chunks.length);
      for (let transfer = 0; transfer < this.numTransfers; ++transfer) {
        transferOf.fill(transfer, this.chunkBegins[transfer], this.chunkBegins[transfer + 1]);
      }
      const numbers = this.chunkNumber
        ? Array.from(this.chunks, (one) => this.chunkNumber.get(one) ?? this.chunkNumber.size)
        : this.chunks;
      const count = this.chunkNumber ? this.chunkNumber.size + 1 : this.numChunks;
      const { begins, items } = listsByKey(numbers, count);
      this.movesByChunk = { begins, transfers: items.map((move) => transferOf[move]) };
    }
    const number = this.chunkNumber ? this.chunkNumber.get(chunk) : chunk;
    const { begins, transfers } = this.movesByChunk;
    return transfers.subarray(begins[number], begins[number + 1]);
  }

  /// Who starts with a chunk, or with a share of its sum.
  startersOf(chunk) {
    if (this.everyoneStarts) {
      if (this.participants) {
        return this.participants;
      }
      return Uint32Array.from({ length: this.numNpus }, (_, npu) => npu);
    }
    const number = this.chunkNumber ? this.chunkNumber.get(chunk) : chunk;
    return this.sources.subarray(this.sourceBegins[number], this.sourceBegins[number + 1]);
  }

  /// From when on each node has the chunk, a sum being complete: its last arrival after which the
  /// node adds it to nobody else's. A Map from node to time.
  holdersOf(chunk) {
    const transfers = this.transfersOf(chunk);
    const has = new Map();
    const sums = transfers.some((transfer) => this.reduces[transfer]);
    if (!sums) {
      for (const node of this.startersOf(chunk)) {
        has.set(node, 0);
      }
    }
    const arrives = new Map();
    const leaves = new Map();
    for (const transfer of transfers) {
      const to = this.targetOf(transfer);
      const end = this.end(transfer);
      if (sums) {
        arrives.set(to, Math.max(arrives.get(to) ?? 0, end));
        if (this.reduces[transfer]) {
          const from = this.sourceOf(transfer);
          leaves.set(from, Math.max(leaves.get(from) ?? -1, this.start[transfer]));
        }
      } else if (!has.has(to)) {
        has.set(to, end);
      }
    }
    for (const [node, time] of arrives) {
      if ((leaves.get(node) ?? -1) < time) {
        has.set(node, time);
      }
    }
    return has;
  }

  /// The transfers into and out of a node, in start order.
  transfersAt(node) {
    if (!this.movesByNode) {
      const to = new Uint32Array(this.numTransfers);
      const from = new Uint32Array(this.numTransfers);
      for (let transfer = 0; transfer < this.numTransfers; ++transfer) {
        to[transfer] = this.targetOf(transfer);
        from[transfer] = this.sourceOf(transfer);
      }
      this.movesByNode = { to: listsByKey(to, this.numNodes), from: listsByKey(from, this.numNodes) };
    }
    const list = ({ begins, items }) => items.subarray(begins[node], begins[node + 1]);
    return { arriving: list(this.movesByNode.to), leaving: list(this.movesByNode.from) };
  }

  linksAt(node) {
    const into = [];
    const out = [];
    for (let link = 0; link < this.numLinks; ++link) {
      if (this.dst[link] === node) {
        into.push(link);
      }
      if (this.src[link] === node) {
        out.push(link);
      }
    }
    return { into, out };
  }

  /// When something starts next, or did last; of sums, where a window begins.
  eventAfter(time) {
    if (this.cells) {
      const window = Math.floor(time * this.numWindows / this.time + 1e-9) + 1;
      return Math.min(this.time, window * this.time / this.numWindows);
    }
    const at = upperBound(this.start, time);
    return at < this.numTransfers ? this.start[at] : this.time;
  }
  eventBefore(time) {
    if (this.cells) {
      const window = Math.ceil(time * this.numWindows / this.time - 1e-9) - 1;
      return Math.max(0, window * this.time / this.numWindows);
    }
    if (time > this.time) {
      return this.time;
    }
    let at = upperBound(this.start, time) - 1;
    while (at >= 0 && this.start[at] >= time) {
      --at;
    }
    return at >= 0 ? this.start[at] : 0;
  }
}
