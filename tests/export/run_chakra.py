#!/usr/bin/env python3
"""Runs Chakra traces as ASTRA-sim's custom collectives do on a congestion-aware network, and says when they end.

usage: run_chakra.py FOLDER
"""

import collections
import heapq
import pathlib
import re
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def nodes_of(path):
    data, at, records = path.read_bytes(), 0, []
    while at < len(data):
        length, at = varint(data, at)
        records.append(data[at:at + length])
        at += length
    assert dict(fields(records[0]))[1] == b"0.0.4"
    for record in records[1:]:
        node = {"waits": [], "attributes": {}}
        for field, value in fields(record):
            if field in (1, 3):
                node[{1: "id", 3: "type"}[field]] = value
            elif field in (4, 5):
                node["waits"] += packed(value)
            elif field == 10:
                attribute = dict(fields(value))
                node["attributes"][attribute[1].decode()] = attribute.get(9, attribute.get(27))
        yield node


def main():
    folder = pathlib.Path(sys.argv[1])
    network = (folder / "network.yml").read_text()
    ranks = int(re.search(r"npus_count: \[ (\d+) \]", network)[1])
    latency = int(re.search(r"latency: \[ (\d+)\.0 \]", network)[1])
    traces = [list(nodes_of(folder / f"algo.{rank}.et")) for rank in range(ranks)]
    for rank in range(ranks):
        assert [node["id"] for node in traces[rank]] == list(range(len(traces[rank])))
        workload = list(nodes_of(folder / f"workload.{rank}.et"))
        assert len(workload) == 1 and workload[0]["type"] == 7
    left = [[len(set(node["waits"])) for node in trace] for trace in traces]
    waiters = [collections.defaultdict(list) for _ in traces]
    for rank, trace in enumerate(traces):
        for node in trace:
            for wait in set(node["waits"]):
                assert wait < len(trace)
                waiters[rank][wait].append(node["id"])
    free, arrived, expected = collections.Counter(), {}, {}
    events, now, done, tags = [], 0, 0, set()

    def issue(rank, number):
        nonlocal done
        node = traces[rank][number]
        attributes = node["attributes"]
        if node["type"] == 5:
            key = (attributes["comm_tag"], rank, attributes["comm_dst"], attributes["comm_size"])
            assert key[0] not in tags, "two messages have one tag"
            tags.add(key[0])
            start = max(now, free[rank, key[2]])
            free[rank, key[2]] = start + key[3]
            heapq.heappush(events, (start + latency + key[3], len(events), rank, number, key))
        elif node["type"] == 6:
            key = (attributes["comm_tag"], attributes["comm_src"], rank, attributes["comm_size"])
            if key in arrived:
                finish(rank, number)
            else:
                expected[key] = (rank, number)
        else:
            finish(rank, number)

    def finish(rank, number):
        nonlocal done
        done += 1
        for other in waiters[rank][number]:
            left[rank][other] -= 1
            if left[rank][other] == 0:
                issue(rank, other)

    for rank, trace in enumerate(traces):
        for number in range(len(trace)):
            if not trace[number]["waits"]:
                issue(rank, number)
    while events:
        now, _, rank, number, key = heapq.heappop(events)
        arrived[key] = now
        finish(rank, number)
        if key in expected:
            finish(*expected.pop(key))
    assert done == sum(map(len, traces)) and not expected, "some ranks never finish"
    print(now)


main()
