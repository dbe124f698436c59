#!/usr/bin/env python3
"""Compare a start by accessc serve with one by subprocess.run, from Python: pairs in turn, medians in milliseconds.

    go build -o /tmp/accessc ./cmd/accessc && python3 test/bench/serve.py /tmp/accessc [PAIRS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../examples/serve/python"))
from accessc_serve import Server  # noqa: E402

CONFIG = """
[tools.alone]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true }]
[tools.supervised]
source = "local"
command = "true"
access.fs = [{ path = ".", read = true, write = true }, { path = "secret" }]
"""


def main(accessc, pairs):
    with tempfile.TemporaryDirectory() as dir:
        with open(os.path.join(dir, "accessc.toml"), "w") as f:
            f.write(CONFIG)
        with Server(dir, accessc) as server:
            sides = {
                "subprocess.run": lambda: subprocess.run(["true"], cwd=dir),
                "serve, alone": lambda: server.start("alone").wait(),
                "serve, supervised": lambda: server.start("supervised").wait(),
                "accessc exec": lambda: subprocess.run([accessc, "exec", "-C", dir, "--no-prompt", "alone"]),
            }
            times = {name: [] for name in sides}
            for _ in range(pairs):
                for name, side in sides.items():
                    begun = time.perf_counter()
                    side()
                    times[name].append(1000 * (time.perf_counter() - begun))
    base = times["subprocess.run"]
    for name, all in times.items():
        more = statistics.median(a - b for a, b in zip(all, base))
        print(f"{name:18} median {statistics.median(all):6.2f}   least {min(all):6.2f}   beyond subprocess.run {more:+6.2f}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300)
