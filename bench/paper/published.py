"""(d) What others have published, beside ours."""

import json

from program import ROOT, ask, number, shown, table

# All-Reduce on 2D meshes, PipeComm table IV: seconds to find it, GB/s at 1 MB and at 1 GB.
MESHES = {"4x4": "mesh:4x4,lat=0.2us", "5x5": "mesh:5x5,lat=0.2us", "6x6": "mesh:6x6,lat=0.2us",
          "4x4_2": "mesh:4x4,lat=0.2us,bw=50GBps/100GBps", "4x4_4": "mesh:4x4,lat=0.2us,bw=50GBps/200GBps"}
PIPECOMM = {
    "TACCL": [(32.8, 26.3, 34.6), (50.3, 26.1, 29.7), (5007, 21.9, 29.0), (14.9, 44.6, 48.4), (1804, 51.8, 63.9)],
    "TE-CCL": [(2.17, 43.0, 50.4), (10.3, 38.3, 52.0), (89.7, 36.5, 44.4), (2.63, 48.7, 80.6), (4.47, 91.7, 107.5)],
    "Pipe-Sol": [(0.30, 41.1, 73.4), (0.43, 37.7, 73.1), (3.42, 35.8, 73.0), (0.82, 48.5, 97.2), (4.13, 88.2, 193.8)],
    "Pipe-Ict": [(0.10, 33.4, 72.7), (0.25, 25.8, 71.3), (0.35, 24.5, 71.0), (0.14, 38.2, 106.7), (0.33, 71.5, 169.0)],
}
# All-to-All there, Pipe-Sol: GB/s at 1 MB and at 1 GB.
ALL_TO_ALL = {"mesh:3x3": (68.7, 75.0), "mesh:4x4": (40.4, 49.5), "torus:3x3": (137.3, 150.0), "torus:4x4": (85.9, 100.0)}
TE_CCL = {"dgx2:2 all-gather": "DGX-2 x2 All-Gather", "dgx2:2 all-to-all": "DGX-2 x2 All-to-All",
          "ndv2:4 all-gather": "NDv2 x4 All-Gather"}

TE_CCL_NOTES = """
Sizes are those of nccl-tests: All-Gather's output, All-to-All's buffer of each GPU. The other reading (1 GB for
each GPU of an All-Gather) does not fit: 31 GB into a GPU take 248,000 us over its 125 GB/s, while 31/32 GB take
7,750 us, the very number. Theirs differs in ways that help it: switches copy a chunk to several GPUs at once (ours
never do), and the hop from a switch to a GPU costs nothing, so 0.35 us in each DGX-2 box are missing. It differs in
one way that costs it: time goes in epochs, so every transfer takes a whole number of them. Their links between
DGX-2 boxes go from GPU to GPU (2.6 us), ours through a switch (1.3 + 1.3 us).

Where ours is slower, DGX-2 x2 All-Gather at 1 GB: 7,750 us is what 31/32 GB take over 125 GB/s with no latency at
all. In our model nobody can be faster than 7,750.7, and what remains goes into filling the pipeline: the first chunk
from the other box comes over a link a tenth as fast.
"""

ALL_TO_ALL_NOTES = """
The limit is the concurrent-flow bound with latency left out (`tacos bound`). The 152.2 GB/s quoted there for TE-CCL on
torus 3x3 lie above it: 12 GB x hops of each NPU's 1 GB over 36 links of 50 GB/s take 6.67 ms. We do not know whether
PipeComm's links are busy for their latency; its 1 MB figures lie between our two models. Under `hold` ours may be
slower at 1 MB on tori: all links of a torus must work all the time, each transfer pays 0.2 us, and cutting the 111 or
62 KB of a pair finely enough to fill every link costs more latency than it saves.
"""


def synth(network, collective, size, model):
    return ask("synth", network, collective, "--size", size, "--link-model", model, "--threads", 1)


def limit(answer):
    """Without latency, in GB/s."""
    return answer["size_bytes"] / answer["bandwidth_bound_us"] / 1e3


def all_reduce_on_meshes(meshes):
    rows = [[name, *(f"{small}; {large} ({seconds:,})" for seconds, small, large in cells[:len(meshes)])]
            for name, cells in PIPECOMM.items()]
    ours = {}
    for model in ("pipelined", "hold"):
        cells = []
        for name in meshes:
            small, large = (synth(MESHES[name], "all-reduce", size, model) for size in ("1MB", "1GB"))
            ours[name, model] = large
            cells.append(f"{small['algbw_GBps']:.1f}; {large['algbw_GBps']:.1f} "
                         f"({number(small['synthesis_seconds'])}; {number(large['synthesis_seconds'])})")
        rows.append([f"ours, `{model}`", *cells])
    rows.append(["limit", *(f"{limit(ours[name, 'hold']):.1f}" for name in meshes)])
    text = ("### All-Reduce on 2D meshes (PipeComm, table IV), GB/s\n\n50 GB/s and 0.2 us a link; `_2`, `_4`: one "
            "dimension 2x, 4x as fast. At 1 MB; at 1 GB (seconds to find it; ours for each, on one thread). They "
            "simulate with latency as transit time, which is `pipelined`. "
            f"`{shown(['synth', MESHES['5x5'], 'all-reduce', '--size', '1GB', '--link-model', 'pipelined'])}`\n\n"
            + table(["", *meshes], rows))
    return text, ours


def te_ccl(cases):
    rows = []
    for case in cases:
        answer = ask("synth", *case["args"], "--threads", 1)
        rows.append([f"{TE_CCL[' '.join(case['args'][:2])]}, {case['args'][3]}",
                     f"{case['rival_us']:,} ({case['rival_seconds']:,})",
                     f"{answer['collective_time_us']:,.3f} ({number(answer['synthesis_seconds'])})",
                     f"{case['rival_us'] / answer['collective_time_us']:.3f}", f"{answer['bound_us']:,.3f}"])
    return ("\n### TE-CCL, shipped results, us (seconds to find it)\n\n"
            f"Link model `pipelined`. `{shown(['synth', *cases[0]['args']])}`\n\n"
            + table(["", "TE-CCL", "ours", "theirs / ours", "our bound"], rows) + TE_CCL_NOTES)


def all_to_all(networks):
    rows = []
    for network in networks:
        for size, theirs in zip(("1MB", "1GB"), ALL_TO_ALL[network]):
            ours = {model: synth(f"{network},lat=0.2us", "all-to-all", size, model) for model in ("pipelined", "hold")}
            rows.append([f"{network}, {size}", theirs, *(f"{answer['algbw_GBps']:.1f}" for answer in ours.values()),
                         f"{limit(ours['hold']):.1f}"])
    return ("\n### All-to-All on small meshes and tori (PipeComm), GB/s\n\n50 GB/s and 0.2 us a link. "
            f"`{shown(['synth', 'mesh:3x3,lat=0.2us', 'all-to-all', '--size', '1MB'])}`\n\n"
            + table(["", "Pipe-Sol", "ours, `pipelined`", "ours, `hold`", "limit"], rows) + ALL_TO_ALL_NOTES)


def section(folder, quick):
    del folder
    cases = json.loads((ROOT / "bench" / "suite" / "cases.json").read_text(encoding="utf-8"))["te-ccl"]
    meshes, ours = all_reduce_on_meshes(list(MESHES)[:2] if quick else list(MESHES))
    return ("## Beside published figures\n\nTheirs are quoted, ours are made here; every schedule is verified.\n\n"
            + meshes + te_ccl(cases[:1] if quick else cases)
            + all_to_all(list(ALL_TO_ALL)[:1] if quick else ALL_TO_ALL)), ours
