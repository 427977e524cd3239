"""Reads an MSCCL++ execution plan: its keys, its limits, which channels are two ends of one, which blocks work on which slices."""

import collections

OPS, CHANNELS, PER_OP, SEMAPHORES, BLOCKS, SOURCES = 64, 16, 8, 16, 64, 10
KINDS = ("memory", "port")
WAITS, SIGNALS, DATA = ("wait", "rlxwait"), ("signal", "rlxsignal"), ("put", "copy", "re")
KEYS = {
    "nop": (), "wait": ("channel_ids", "channel_type"), "rlxwait": ("channel_ids", "channel_type"),
    "signal": ("channel_ids", "channel_type"), "rlxsignal": ("channel_ids", "channel_type"),
    "flush": ("channel_ids", "channel_type", "dst_buff"), "put": ("src_buff", "dst_buff", "channel_type"),
    "copy": ("src_buff", "dst_buff"), "re": ("src_buff", "dst_buff", "reduce_op"),
    "sem_release": ("semaphore_ids",), "sem_acquire": ("semaphore_ids",),
}


def check_ids(ids, most):
    assert isinstance(ids, list) and 0 < len(ids) <= PER_OP and all(0 <= i < most for i in ids), "a number is out of range"


def check_op(op, gpu, block):
    name = op["name"]
    assert name in KEYS, f"{name} is not an operation that this reader knows"
    extra = set(op) - {"name", "tbg_info"} - set(KEYS[name])
    assert not set(KEYS[name]) - set(op) and extra <= ({"channel_ids"} if name == "put" else set()), f"keys of {name}"
    kind = op.get("channel_type")
    assert kind in KINDS or "channel_type" not in KEYS[name]
    if "channel_ids" in op:
        check_ids(op["channel_ids"], len(block["of"][kind]))
        assert name == "put" or len(set(op["channel_ids"])) == len(op["channel_ids"]), "two threads count one channel"
    if "semaphore_ids" in op:
        check_ids(op["semaphore_ids"], len(gpu.get("semaphores", [])))
    chunks = {"i": gpu["input_chunks"], "o": gpu["output_chunks"], "s": gpu["scratch_chunks"]}
    for place in op.get("src_buff", []) + (op.get("dst_buff", []) if name != "put" else []):
        assert set(place) == {"type", "index", "size"} and place["size"] > 0
        assert 0 <= place["index"] and place["index"] + place["size"] <= chunks[place["type"]], "outside of a buffer"
    if name == "put":
        assert len(op["src_buff"]) == len(op["dst_buff"]) <= PER_OP
        assert len({place["type"] for place in op["src_buff"]}) == 1, "a put reads one buffer"
        assert kind == "memory" or len(op["channel_ids"]) == len(op["dst_buff"]), "a port put has a channel for each"
        for source, place in zip(op["src_buff"], op["dst_buff"]):
            assert set(place) == {"buffer_id", "index", "size"} and place["size"] == source["size"]
            assert 0 <= place["buffer_id"] < len(block["remote"][kind])
    if name in ("copy", "re"):
        assert len(op["dst_buff"]) == 1 and len(op["src_buff"]) <= SOURCES and (name == "re" or len(op["src_buff"]) == 1)
        assert len({place["size"] for place in op["src_buff"] + op["dst_buff"]}) == 1


def read_gpu(gpu, rank):
    """Checks a GPU, and gives its blocks what their numbers stand for."""
    assert gpu["id"] == rank and gpu["input_chunks"] > 0 and gpu["output_chunks"] > 0 and gpu["scratch_chunks"] >= 0
    gpu["of"] = {kind: [] for kind in KINDS}
    for entry in gpu["channels"]:
        gpu["of"][entry["channel_type"]] += entry["connected_to"]
    assert all(peer != rank for kind in KINDS for peer in gpu["of"][kind])
    assert len(gpu.get("semaphores", [])) <= SEMAPHORES and all(s == {"init_value": 0} for s in gpu.get("semaphores", []))
    blocks = gpu["threadblocks"]
    assert 0 < len(blocks) <= BLOCKS and [block["id"] for block in blocks] == list(range(len(blocks)))
    for block in blocks:
        block["of"] = {kind: [] for kind in KINDS}
        for entry in block["channels"]:
            block["of"][entry["channel_type"]] += entry["channel_ids"]
        block["remote"] = {kind: [] for kind in KINDS}
        for entry in block.get("remote_buffer_refs", []):
            for number in entry["remote_buffer_ids"]:
                buffer = gpu["remote_buffers"][number]
                assert entry["access_channel_type"] in buffer["access_channel_types"]
                block["remote"][entry["access_channel_type"]].append((buffer["rank"], buffer["type"]))
        assert all(len(block[of][kind]) <= CHANNELS for of in ("of", "remote") for kind in KINDS), "too many channels"
        assert all(id < len(gpu["of"][kind]) for kind in KINDS for id in block["of"][kind])
        assert 0 < len(block["ops"]) <= OPS, "too many operations"
        for op in block["ops"]:
            check_op(op, gpu, block)


def read(plan):
    for key, type_ in {"name": str, "collective": str, "protocol": str, "inplace": bool, "gpus": list}.items():
        assert isinstance(plan[key], type_), key
    assert plan["protocol"] == "Simple" and not plan.get("reuse_resources") and not plan.get("use_double_scratch_buffer")
    assert 0 <= plan["min_message_size"] <= plan["max_message_size"] < 2**64 and plan["num_threads_per_block"] <= 1024
    gpus = plan["gpus"]
    for rank, gpu in enumerate(gpus):
        read_gpu(gpu, rank)
    # The n-th channel to a peer and the n-th back are two ends of one.
    plan["ends"] = {}
    for kind in KINDS:
        for rank, gpu in enumerate(gpus):
            seen = collections.Counter()
            for number, peer in enumerate(gpu["of"][kind]):
                back = [n for n, p in enumerate(gpus[peer]["of"][kind]) if p == rank]
                assert seen[peer] < len(back), "a channel has one end"
                plan["ends"][kind, rank, number] = (peer, back[seen[peer]])
                seen[peer] += 1
    groups = {op.get("tbg_info", {"tbg_size": 1})["tbg_size"]
              for gpu in gpus for block in gpu["threadblocks"] for op in block["ops"] if op["name"] in DATA}
    assert len(groups) <= 1
    plan["slices"] = max(groups, default=1)
    whole = max(max(gpu["input_chunks"], gpu["output_chunks"]) for gpu in gpus)
    assert plan["min_message_size"] >= 16 * whole * plan["slices"] * (plan["slices"] > 1), "a slice could be empty"
    largest = max(max(gpu["input_chunks"], gpu["output_chunks"], gpu["scratch_chunks"]) for gpu in gpus)
    assert plan["max_message_size"] // whole * largest < 2**32, "offsets do not fit 32 bits"


def keep_slices(plan, most):
    """Leaves out all but some slices, whose blocks must have nothing to do with those of others."""
    slices, changed = {}, True
    for r, gpu in enumerate(plan["gpus"]):
        for b, block in enumerate(gpu["threadblocks"]):
            own = {op["tbg_info"]["tb_id"] for op in block["ops"] if "tbg_info" in op}
            assert len(own) <= 1, "a block works on two slices"
            uses = {("semaphore", r, s) for op in block["ops"] for s in op.get("semaphore_ids", [])}
            for kind in KINDS:
                ends = {(kind, r, channel) for channel in block["of"][kind]}
                uses |= ends | {(kind, *plan["ends"][end]) for end in ends}
            slices[r, b] = own, uses
    slice_of = {}
    while changed:
        changed = False
        for own, uses in slices.values():
            own |= {slice_of[use] for use in uses if use in slice_of}
            assert len(own) <= 1, "slices share a channel or a semaphore"
            for use in uses if own else ():
                changed |= use not in slice_of
                slice_of[use] = next(iter(own))
    plan["slices"] = min(plan["slices"], most)
    for r, gpu in enumerate(plan["gpus"]):
        gpu["threadblocks"] = [block for b, block in enumerate(gpu["threadblocks"])
                               if max(slices[r, b][0], default=0) < plan["slices"]]
