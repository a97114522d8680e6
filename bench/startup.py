#!/usr/bin/env python3
"""Time from starting hetgpu-run to its first result, cold and warm.

cold: empty JIT cache, the kernel is compiled. warm: the image is in the disk
cache; then no compiler library may be loaded, which is checked.

    bench/startup.py [--bin build/release/bin] [--runs 15] [--plan FILE ...]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(command, env):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    elapsed = (time.perf_counter() - start) * 1e3
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return elapsed, done


def loaded_libraries(command, env):
    _, done = run(command, dict(env, LD_DEBUG="files"))
    return set(re.findall(r"file=(lib[^ ]+)", done.stderr))


def measure(command, runs):
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, HETGPU_JIT_CACHE_DIR=cache)
        run(command, env)
        for _ in range(runs):
            shutil.rmtree(cache)
            os.mkdir(cache)
            cold.append(run(command, env)[0])
            warm.append(run(command, env)[0])
        libraries = loaded_libraries(command, env)
    compilers = sorted(l for l in libraries if "LLVM" in l or "MLIR" in l)
    return {"cold_ms": round(statistics.median(cold), 1),
            "warm_ms": round(statistics.median(warm), 1),
            "warm_loads_llvm": bool(compilers)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=ROOT / "build/release/bin")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--plan", nargs="*",
                        default=[ROOT / "bench/vecadd_1m.plan.json"])
    options = parser.parse_args()
    failed = False
    for plan in options.plan:
        command = [str(pathlib.Path(options.bin) / "hetgpu-run"), str(plan)]
        row = measure(command, options.runs)
        failed |= row["warm_loads_llvm"]
        print(json.dumps({"plan": pathlib.Path(plan).name, **row}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
