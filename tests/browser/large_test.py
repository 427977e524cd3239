# SPDX-License-Identifier: MIT
"""Large networks: how long pages take to open, and how many frames a second they draw.

Chromium draws in software here, so that real screens do better. Times are printed, never asserted, as machines that
test are shared.
"""

import statistics

import page_test

SETUP: dict = page_test.SETUP


class Large(page_test.PageTest):
    def open_timed(self, name: str, arguments: list[str]) -> None:
        case = self.pages.case(name, arguments, traced=False)
        seconds = self.browser.open(case.page, "large")
        size = case.page.stat().st_size / 2**20
        print(f"{name}: {size:.1f} MiB, open in {seconds:.2f} s", end="; ", flush=True)

    def frames(self, what: str) -> None:
        """While it plays, for two seconds."""
        self.browser.driver.execute_async_script("setTimeout(arguments[0], 2200)")
        times = self.ask("frames()")
        times = [time for time in times if time > times[-1] - 2000]
        gaps = [b - a for a, b in zip(times, times[1:])]
        print(f"{what} {1000 / statistics.mean(gaps):.0f} frames a second, longest {max(gaps):.0f} ms", end="; ", flush=True)
        self.assertTrue(gaps)

    def play(self) -> None:
        self.browser.press(" ")
        self.assertTrue(self.ask("playing()"))

    def test_sums_of_4096_npus(self):
        self.open_timed("sums4096", ["mesh:64x64", "all-gather", "--chunks", "1", "--size", "1GiB"])
        self.assertEqual(self.ask("summary(0)")["detail"], "sums")
        self.assertIn("too many for a page", self.browser.find(".note").text)
        self.assertEqual(self.ask("summary(0)")["windows"], 256)
        self.play()
        self.frames("playing")
        self.browser.slide(0.4)
        self.browser.picture("sums4096-large")
        held = self.ask("summary(0)")["held"]
        self.browser.follow("chunk", str(held[len(held) // 2]))
        self.play()
        self.frames("following a chunk")
        self.browser.slide(0.4)
        self.browser.picture("sums4096-chunk")

    def test_chunks_beside_sums(self):
        case = self.pages.case("sums576", ["mesh:24x24", "all-gather", "--chunks", "1", "--size", "64MiB"])
        self.browser.open(case.page)
        held = self.ask("summary(0)")["held"]
        chosen = held[len(held) // 3]
        self.browser.follow("chunk", str(chosen))
        links = {link for line in case.trace() if line.chunk == chosen for link in line.links}
        self.assertEqual(set(self.ask("followedLinks(0)")), links)
        absent = next(chunk for chunk in range(case.report["chunks"]) if chunk not in held)
        self.browser.follow("chunk", str(absent))
        self.assertIn("Not on this page", self.browser.find("#follow output").text)

    def test_transfers_of_4096_npus(self):
        self.open_timed("whole4096", ["mesh:64x64", "broadcast:2080", "--chunks", "64", "--size", "1GiB"])
        self.assertEqual(self.ask("summary(0)")["detail"], "whole")
        self.play()
        self.frames("playing")
        self.browser.slide(0.5)
        self.browser.picture("whole4096-large")

    def test_a_chart_of_more_than_10000_rows(self):
        self.open_timed("sums4096", ["mesh:64x64", "all-gather", "--chunks", "1", "--size", "1GiB"])
        self.assertEqual(self.ask("rows()"), 4 * 64 * 63)
        seconds = self.browser.driver.execute_async_script("""
            const done = arguments[0];
            const gantt = document.querySelector('#gantt');
            const begin = performance.now();
            let count = 0;
            const next = () => {
              gantt.scrollTop = count * 4000;
              if (++count < 60) { requestAnimationFrame(next); } else { done((performance.now() - begin) / 60); }
            };
            next();""")
        print(f"{seconds:.0f} ms for a frame while the chart scrolls", end=" ", flush=True)

    def test_one_pattern_of_very_many_npus(self):
        side = 1000 if SETUP["all"] else 160
        self.open_timed(f"pattern{side}", [f"torus:{side}x{side}", "all-gather", "--chunks", "1", "--size", "1GiB",
                                           "--engine", "symmetric"])
        self.assertEqual(self.ask("summary(0)")["detail"], "pattern")
        self.assertIn("One pattern of", self.browser.find(".note").text)
        self.browser.follow("chunk", "0")
        # While the chunk is near NPU 0, which is all that is shown.
        self.browser.slide(0.05 * (160 / side) ** 2)
        self.assertTrue(self.ask("moving(0)"))
        self.browser.picture(f"pattern{side}-large")
