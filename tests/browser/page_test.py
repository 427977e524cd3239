# SPDX-License-Identifier: MIT
"""What a page shows, compared with what the command line says."""

import collections
import json
import unittest

import browser as browsers
import pages

SETUP: dict = {}


class PageTest(unittest.TestCase):
    def setUp(self):
        self.pages = SETUP["pages"]
        self.browser = SETUP["browser"]

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def open(self, name: str, size: str = "medium") -> pages.Case:
        case = self.pages.case(name)
        self.browser.open(case.page, size)
        return case

    def ask(self, expression: str):
        return self.browser.ask(f"tacos.{expression}")


class Opens(PageTest):
    def test_every_network_at_three_sizes(self):
        for name in pages.NETWORKS:
            for size in browsers.SIZES:
                self.open(name, size)
                self.browser.slide(0.4)
                self.browser.picture(f"{name}-{size}")
                self.assertEqual(self.browser.errors(), [], f"{name} {size}")
                # Nothing is wider than the window.
                self.assertTrue(self.browser.ask(
                    "document.documentElement.scrollWidth <= window.innerWidth"), f"{name} {size}")

    def test_in_the_dark_and_on_paper(self):
        self.open("mesh")
        self.browser.prefer("dark")
        self.browser.slide(0.3)
        self.assertEqual(self.browser.ask("document.documentElement.dataset.scheme"), "dark")
        self.browser.picture("mesh-dark")
        self.assertTrue(self.browser.print().startswith(b"%PDF"))
        self.browser.prefer("light")
        self.browser.settle()
        self.assertEqual(self.browser.ask("document.documentElement.dataset.scheme"), "light")
        self.browser.find("#theme").click()
        self.browser.find("#theme").click()
        self.assertEqual(self.browser.ask("document.documentElement.dataset.scheme"), "dark")


class Time(PageTest):
    def test_the_slider_moves_transfers(self):
        case = self.open("failed")
        lines = case.trace()
        seen = set()
        for share in (0, 0.13, 0.5, 0.77):
            self.browser.slide(share)
            time = self.ask("time()")
            self.assertAlmostEqual(time / self.ask("last"), share, places=3)
            moving = {(one["link"], chunk) for one in self.ask("moving(0)") for chunk in one["chunks"]}
            # Under hold a link is busy for as long as the transfer takes.
            expected = {(link, line.chunk) for line in lines for link in line.links
                        if line.start <= time < line.end}
            self.assertEqual(moving, expected)
            self.assertTrue(moving)
            seen.add(frozenset(moving))
        self.assertGreater(len(seen), 2)
        # Of one transfer, its place on the link.
        self.browser.slide(0.5)
        before = {(one["link"], one["transfer"]): one["share"] for one in self.ask("moving(0)")}
        self.browser.slide(0.505)
        after = {(one["link"], one["transfer"]): one["share"] for one in self.ask("moving(0)")}
        both = before.keys() & after.keys()
        self.assertTrue(both)
        self.assertTrue(all(after[key] > before[key] for key in both))

    def test_buttons_and_keys(self):
        from selenium.webdriver.common.keys import Keys

        case = self.open("failed")
        starts = sorted({line.start for line in case.trace()})
        self.browser.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.ask("time()"), starts[1])
        self.browser.find("#forward").click()
        self.assertEqual(self.ask("time()"), starts[2])
        self.browser.press(Keys.ARROW_LEFT)
        self.assertEqual(self.ask("time()"), starts[1])
        self.browser.press(Keys.SPACE)
        self.assertTrue(self.ask("playing()"))
        self.browser.wait(f"tacos.time() > {starts[1]}")
        self.browser.find("#play").click()
        self.assertFalse(self.ask("playing()"))
        self.browser.press(Keys.END)
        self.assertEqual(self.ask("time()"), self.ask("last"))
        self.browser.press(Keys.HOME)
        self.assertEqual(self.ask("time()"), 0)
        speed = self.ask("speed()")
        self.browser.press(Keys.ARROW_UP)
        self.assertGreater(self.ask("speed()"), speed)
        scale = self.ask("scale(0)")
        self.browser.press("+")
        self.assertGreater(self.ask("scale(0)"), scale)
        self.browser.press("-")
        self.assertAlmostEqual(self.ask("scale(0)"), scale)

    def test_the_strip_says_how_many_links_are_busy(self):
        case = self.open("failed")
        lines = case.trace()
        last = self.ask("last")
        for share in (0.1, 0.45, 0.8):
            time = share * last
            busy = len({link for line in lines for link in line.links if line.start <= time < line.end})
            self.assertLessEqual(abs(self.ask(f"busyAt(0, {time})") - busy), 2)

    def test_the_bound_is_where_the_report_says(self):
        for name in ("mesh", "boxes", "dragonfly"):
            case = self.open(name)
            line = self.ask("boundLine(0)")
            time = (line["x"] - line["left"]) / (line["right"] - line["left"]) * self.ask("last") * 1e-6
            self.assertAlmostEqual(time / case.report["bound_us"], 1, places=9)
            self.assertAlmostEqual(self.ask("last") * 1e-6, case.report["collective_time_us"], places=6)
            table = self.browser.find(".report").text
            self.assertIn(f"{100 * case.report['efficiency']:.1f}% of the bound", table)
            self.assertIn(case.report["schedule_hash"], table)
            # It is drawn there: the pixel is of the colour of the line, a little left of it is not.
            pixel = ("(() => { const copy = document.createElement('canvas'); copy.width = copy.height = 1;"
                     "const context = copy.getContext('2d', {willReadFrequently: true});"
                     "context.drawImage(document.querySelector('.strip canvas'), -(AT), -14);"
                     "return [...context.getImageData(0, 0, 1, 1).data]; })()")
            drawn = self.browser.ask(pixel.replace("AT", str(round(line["x"]))))
            beside = self.browser.ask(pixel.replace("AT", str(round(line["x"]) - 8)))
            self.assertNotEqual(drawn, beside)


class Follows(PageTest):
    def check_chunk(self, case: pages.Case, chunk: int) -> None:
        lines = [line for line in case.trace() if line.chunk == chunk]
        self.browser.follow("chunk", str(chunk))
        expected = sorted({link for line in lines for link in line.links})
        self.assertEqual(self.ask("followedLinks(0)"), expected)
        self.assertEqual(self.ask("followed(0)")["kind"], "chunk")

    def test_a_chunk_over_the_links_of_the_trace(self):
        for name, chunks in (("mesh", (0, 3)), ("boxes", (0, 17)), ("torus", (63,)), ("dragonfly", (1, 22))):
            case = self.open(name)
            for chunk in chunks:
                self.check_chunk(case, chunk)
            self.browser.slide(0.5)
            self.browser.picture(f"{name}-chunk")

    def test_who_has_a_chunk(self):
        case = self.open("failed")
        lines = [line for line in case.trace() if line.chunk == 6]
        self.browser.follow("chunk", "6")
        for share in (0.05, 0.3, 0.6, 1):
            self.browser.slide(share)
            time = self.ask("time()")
            expected = {6} | {line.dst for line in lines if line.end <= time}
            self.assertEqual(set(self.ask("holders(0, 6)")), expected)
        self.assertIn("25 of 25 NPUs have it", self.browser.find("#details").text)

    def test_who_has_a_sum(self):
        # At the end everybody has all of it; before the first copy at most the root.
        case = self.open("mesh")
        lines = [line for line in case.trace() if line.chunk == 0]
        self.browser.follow("chunk", "0")
        self.browser.slide(1)
        self.assertEqual(len(self.ask("holders(0, 0)")), 64)
        copies = [line.start for line in lines if line.op == "copy"]
        self.browser.slide(0.99 * min(copies) / self.ask("last"))
        self.assertLessEqual(len(self.ask("holders(0, 0)")), 2)

    def test_a_link_and_an_npu(self):
        case = self.open("failed")
        lines = case.trace()
        self.browser.follow("link", "5")
        self.assertEqual(self.ask("followedLinks(0)"), [5])
        carried = len({line.start for line in lines if 5 in line.links})
        self.assertIn(f"in {carried} transfers", self.browser.find("#details").text)
        place = self.ask("placeOf(0, 8)")
        self.browser.click_at(".stage .upper", place["x"], place["y"])
        self.assertEqual(self.ask("followed(0)"), {"kind": "node", "id": 8, "side": 0})
        self.browser.slide(0.5)
        time = self.ask("time()")
        to = {(line.start, line.end, line.links) for line in lines if line.dst == 8}
        out = {(line.start, line.end, line.links) for line in lines if line.src == 8}
        text = self.browser.find("#details").text
        self.assertIn(f"Arrived: {sum(end <= time for _, end, _ in to)} of {len(to)}", text)
        self.assertIn(f"Left: {sum(start <= time for start, _, _ in out)} of {len(out)}", text)
        self.browser.picture("failed-npu")
        self.browser.press("\ue00c")
        self.assertIsNone(self.ask("followed(0)"))

    def test_hovering_tells_of_links(self):
        self.open("failed")
        a, b = self.ask("placeOf(0, 11)"), self.ask("placeOf(0, 12)")
        self.browser.point_at(".stage .upper", (a["x"] + b["x"]) / 2, (a["y"] + b["y"]) / 2 + 3)
        text = self.browser.find("#tooltip").text
        self.assertIn("50 GB/s, 500.000 ns latency", text)
        self.assertIn("utilized", text)
        self.assertIn("carried", text)
        self.assertRegex(text, r"chunks? \d+")

    def test_what_does_not_exist_is_said(self):
        self.open("failed")
        for kind, text, says in (("chunk", "99", "Chunks are 0 to 24"), ("node", "x", "No such NPU"),
                                 ("link", "4000", "No such link")):
            self.browser.follow(kind, text)
            self.assertIn(says, self.browser.find("#follow output").text)
            self.assertIsNone(self.ask("followed(0)"))


class Charts(PageTest):
    def test_all_links_the_busiest_first(self):
        case = self.open("failed")
        busy = collections.Counter()
        # Chunks that share a transfer have equal times and links.
        for start, end, links in {(line.start, line.end, line.links) for line in case.trace()}:
            for link in links:
                busy[link] += end - start
        self.assertEqual(self.ask("rows()"), case.report["links"])
        rows = self.ask("firstRows(1000)")
        self.assertEqual(rows, sorted(rows, key=lambda link: (-busy[link], link)))

    def test_rows_of_what_is_followed(self):
        case = self.open("boxes")
        self.browser.follow("chunk", "5")
        self.browser.driver.execute_script(
            "const rows = document.querySelector('#rows'); rows.value = 'followed';"
            "rows.dispatchEvent(new Event('change'));")
        self.browser.settle()
        links = {link for line in case.trace() if line.chunk == 5 for link in line.links}
        self.assertEqual(set(self.ask("firstRows(1000)")), links)
        self.browser.slide(0.5)
        self.browser.picture("boxes-rows")


class Limits(PageTest):
    def choose(self, selector: str) -> None:
        self.browser.driver.execute_script(f"document.querySelector('{selector}').click()")
        self.browser.settle()

    def test_the_certificate_is_coloured(self):
        for name in ("mesh", "failed", "dragonfly", "boxes"):
            case = self.open(name)
            explained = case.json("explain")
            count = self.browser.ask("document.querySelectorAll('[data-limit]').length")
            links = self.ask(f"limitLinks(0, {count - 1})")
            self.assertEqual(len(links), explained["limiting_links"])
            self.assertIn(explained["limit"], self.browser.find(".limits").text)
            self.choose("[data-limit]")
            self.assertEqual(self.ask("limit()"), 0)
            self.browser.picture(f"{name}-limit")

    def test_the_critical_path_is_that_of_the_simulator(self):
        case = self.open("failed")
        steps = case.json("simulate")["critical_path"]
        self.assertEqual(self.ask("pathLinks(0)"), [link for step in steps for link in step["links"]])
        self.choose("[data-path]")
        self.browser.slide(0.5)
        self.browser.picture("failed-path")


class Comparison(PageTest):
    def test_two_on_one_clock(self):
        ours = self.pages.case("mesh")
        ring = self.pages.case("ring", ["mesh:8x8", "all-reduce", "--size", "64MiB", "--engine", "ring"])
        page = self.pages.comparison("comparison", ours, ring)
        for size in browsers.SIZES:
            self.browser.open(page, size)
            self.browser.slide(0.35)
            self.browser.picture(f"comparison-{size}")
        self.assertEqual(self.ask("sides"), 2)
        self.assertAlmostEqual(self.ask("last") * 1e-6, ring.report["collective_time_us"], places=5)
        self.browser.slide(0.9)
        self.assertEqual(self.ask("moving(0)"), [])
        self.assertTrue(self.ask("moving(1)"))
        ratio = ring.report["collective_time_us"] / ours.report["collective_time_us"]
        self.assertIn(f"A is {ratio:.2f}x as fast", self.browser.find(".verdict").text)
        for side, case in enumerate((ours, ring)):
            line = self.ask(f"boundLine({side})")
            time = (line["x"] - line["left"]) / (line["right"] - line["left"]) * self.ask("last") * 1e-6
            self.assertAlmostEqual(time / case.report["bound_us"], 1, places=9)

    def test_two_networks(self):
        page = self.pages.comparison("networks", self.pages.case("failed"), self.pages.case("boxes"))
        self.browser.open(page)
        self.browser.follow("node", "3")
        self.assertEqual(self.ask("followed(0)")["id"], 3)
        self.assertIsNone(self.ask("followed(1)"))


class Names(PageTest):
    def test_markup_in_names_is_text(self):
        evil = "<script>document.title = 'owned'</script>"
        topology = self.pages.folder / "names.json"
        link = {"bandwidth_Bps": 50_000_000_000, "latency_ps": 500_000}
        topology.write_text(json.dumps({
            "name": f"</script>{evil}<img src=x onerror=\"document.title='owned'\">\u2028",
            "npus": 3, "node_names": [evil, "<b>bold</b>", "&amp;</title>"],
            "links": [{"src": a, "dst": b, **link} for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))]}))
        case = self.pages.case("names", [str(topology), "all-gather", "--size", "1MiB"])
        self.browser.open(case.page)
        self.browser.follow("node", evil)
        self.assertEqual(self.ask("followed(0)")["id"], 0)
        self.assertIn(evil, self.browser.find("#details").text)
        self.assertIn(evil, self.browser.find("h1").text)
        place = self.ask("placeOf(0, 1)")
        self.browser.point_at(".stage .upper", place["x"], place["y"])
        self.assertIn("<b>bold</b>", self.browser.find("#tooltip").text)
        self.assertEqual(self.browser.ask("document.querySelectorAll('img, b:not(.result b), body script').length"), 2)
        self.assertNotEqual(self.browser.ask("document.title"), "owned")
        self.browser.picture("names")
