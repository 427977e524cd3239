#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at pages of `tacos view` in a real browser: run.py TACOS FOLDER [--all] [NAME...]

Pages and screenshots go to the folder. Without --all what takes long is left out.
Exits 77 where there is no browser.
"""

import argparse
import pathlib
import sys
import unittest

import browser
import page_test
import pages
import large_test


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tacos")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    missing = browser.missing()
    if missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return 77
    arguments.folder.mkdir(parents=True, exist_ok=True)
    shared = pages.Pages(arguments.tacos, arguments.folder)
    shown = browser.Browser(arguments.folder)
    try:
        suite = unittest.TestSuite()
        for module in (page_test, large_test):
            module.SETUP.update(pages=shared, browser=shown, all=arguments.all)
            names = [name for name in arguments.names if hasattr(module, name.split(".")[0])]
            if names or not arguments.names:
                suite.addTests(unittest.defaultTestLoader.loadTestsFromNames(names, module) if names
                               else unittest.defaultTestLoader.loadTestsFromModule(module))
        result = unittest.TextTestRunner(verbosity=2).run(suite)
    finally:
        shown.close()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
