#!/usr/bin/env python3
"""Reads a tacos schedule file with nothing but the standard library (docs/schedule-format.md).

Prints one line per chunk moved: start_ps src dst chunk copy|reduce links
"""

import itertools
import json
import struct
import sys
import zlib


def sections(data):
    """Yields (tag, payload) of every section, its checksum checked."""
    if data[:8] != b"TACOSCH\n":
        raise ValueError("not a tacos schedule file")
    at = 8
    while at < len(data):
        tag, crc, length = struct.unpack_from("<4sIQ", data, at)
        payload = data[at + 16:at + 16 + length]
        if len(payload) != length or zlib.crc32(payload) != crc:
            raise ValueError("damaged section")
        yield tag.decode(), payload
        at += 16 + length


def columns(block, count_of_columns=7):
    """Yields the columns of a block or pattern as lists of integers."""
    at = 0
    for _ in range(count_of_columns):
        count, width, base = struct.unpack_from("<IIQ", block, at)
        at += 16
        if width == 0:
            yield [base] * count
        else:
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}[width]
            yield [base + value for value in struct.unpack_from(f"<{count}{code}", block, at)]
        at += count * width


def transfers(block, num_links):
    """Yields (start_ps, op, links, chunks) of every transfer of a block."""
    run_delta, run_length, ops, link_counts, chunk_counts, link_deltas, chunks = columns(block)
    starts = itertools.chain.from_iterable(
        itertools.repeat(start, length)
        for start, length in zip(itertools.accumulate(run_delta), run_length))
    links = iter(link % num_links for link in itertools.accumulate(link_deltas))
    chunks = iter(chunks)
    for start, op, link_count, chunk_count in zip(starts, ops, link_counts, chunk_counts):
        yield (start, ("copy", "reduce")[op],
               list(itertools.islice(links, link_count)),
               list(itertools.islice(chunks, chunk_count)))


def pattern_transfers(payload):
    """Yields (start_ps, src, dst, chunk, op, links) of every transfer that a pattern stands for."""
    (lengths, (links_per_npu, chunks_per_npu), first, strides, shift, slot, port,
     run_delta, run_length, ops, moves, senders, chunks) = columns(payload, 13)
    elements = [tuple(reversed(x)) for x in itertools.product(*map(range, reversed(lengths)))]
    number = {x: i for i, x in enumerate(elements)}

    def add(a, b, sign=1):
        return number[tuple((x + sign * y) % n
                            for x, y, n in zip(elements[a], elements[b], lengths))]

    entries = iter(zip(ops, moves, senders, chunks))
    for start, length in zip(itertools.accumulate(run_delta), run_length):
        run = list(itertools.islice(entries, length))
        for npu, (op, move, sender, chunk) in itertools.product(range(len(elements)), run):
            dst = add(npu, shift[move])
            links = [npu * links_per_npu + slot[move]]
            if port[move] != 0:
                at = port[move] - 1
                links.append(first[at] + sum(
                    x * y for x, y in zip(elements[dst], strides[at * len(lengths):])))
            yield (start, npu, dst, add(npu, sender, -1) * chunks_per_npu + chunk,
                   ("copy", "reduce")[op], links)


def orbit_transfers(payload, num_links):
    """Yields (start, op, links, chunk) of every transfer that an ORBT section stands for."""
    ((chunks_per_npu, _), images, owners, before, generator, run_delta, run_length, ops, chunks,
     link_counts, links) = columns(payload, 11)
    starts = [start for start, length in zip(itertools.accumulate(run_delta), run_length)
              for _ in range(length)]
    link = iter(links)
    routes = [list(itertools.islice(link, count)) for count in link_counts]
    everything = []
    for start, op, chunk, route in zip(starts, ops, chunks, routes):
        moved = [route]
        for one, by in zip(before[1:], generator[1:]):
            moved.append([images[by * num_links + x] for x in moved[one]])
        for owner, route_there in zip(owners, moved):
            everything.append((start, route_there[0], ("copy", "reduce")[op], route_there,
                               owner * chunks_per_npu + chunk))
    for start, _, op, route, chunk in sorted(everything, key=lambda one: one[:2]):
        yield start, op, route, chunk


def periodic_transfers(payload):
    """Yields (start, op, links, chunk) of every transfer that a PERD section stands for."""
    ((period, rounds, stride), run_delta, run_length, link_deltas, further_counts, further, laps,
     ops, chunks) = columns(payload, 9)
    delta, more = iter(link_deltas), iter(further)
    places = [(place, link)
              for place, length in zip(itertools.accumulate(run_delta), run_length)
              for link in itertools.accumulate(itertools.islice(delta, length))]
    entries = [(place, lap, op, [link] + list(itertools.islice(more, count)), chunk)
               for (place, link), lap, op, count, chunk
               in zip(places, laps, ops, further_counts, chunks)]
    for now in range(max(laps, default=0) + rounds):
        for place, lap, op, links, chunk in entries:
            if lap <= now < lap + rounds:
                yield (now * period + place, ("copy", "reduce")[op], links,
                       chunk + (now - lap) * stride)


def schedule_hash(payloads):
    """The hash of all blocks, or of the one section that stands for them, as 16 hex digits."""
    mask, golden = 2**64 - 1, 0x9e3779b97f4a7c15
    value = 0
    for payload in payloads:
        words = payload + bytes(-len(payload) % 8)
        for word in (len(payload), *struct.unpack(f"<{len(words) // 8}Q", words)):
            value = (value ^ word) * golden & mask
            value ^= value >> 32
    value = value + golden & mask
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9 & mask
    value = (value ^ value >> 27) * 0x94d049bb133111eb & mask
    return f"{value ^ value >> 31:016x}"


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    hashed = [payload for tag, payload in sections(data) 
              if tag in ("BLCK", "PTRN", "ORBT", "PERD")]
    topology = None
    for tag, payload in sections(data):
        if tag == "TOPO":
            topology = json.loads(payload)
        elif tag == "BLCK":
            ends = topology["links"]
            for start, op, links, chunks in transfers(payload, len(ends)):
                for chunk in chunks:
                    print(start, ends[links[0]]["src"], ends[links[-1]]["dst"], chunk, op,
                          ",".join(map(str, links)))
        elif tag in ("ORBT", "PERD"):
            ends = topology["links"]
            for start, op, links, chunk in (orbit_transfers(payload, len(ends)) if tag == "ORBT"
                                            else periodic_transfers(payload)):
                print(start, ends[links[0]]["src"], ends[links[-1]]["dst"], chunk, op,
                      ",".join(map(str, links)))
        elif tag == "PTRN":
            for *fields, links in pattern_transfers(payload):
                print(*fields, ",".join(map(str, links)))
        elif tag == "TAIL" and json.loads(payload)["schedule_hash"] != schedule_hash(hashed):
            raise ValueError("the hash does not match")


if __name__ == "__main__":
    main()
