#!/usr/bin/env python3
"""Writes tests/isa/forms/*.isa (without expected bits) and inputs.txt.

Expected bits already recorded are kept when the kernel and its inputs did
not change; record.py records the others.

  generate.py [--only SUBSTRING] [--check-ptxas PTXAS] [--coverage TSV N]
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import runfile
from generator import (atomics, compares, control, converts, floats, ints,
                       kernel, matrix, memory, moves, programs,
                       transfers, warps)

FAMILIES = (ints, floats, compares, converts, moves, memory, atomics, warps,
            control, transfers, matrix, programs)


def build():
    suite = kernel.Suite()
    for family in FAMILIES:
        family.generate(suite)
    return suite


def write(suite):
    old_sets = (runfile.read_inputs() if os.path.exists(runfile.INPUTS_FILE)
                else {})
    wanted = {runfile.form_path(stem) for stem in suite.files}
    for path in runfile.form_files():
        if path not in wanted:
            os.remove(path)
    kept = 0
    for stem, run in suite.files.items():
        path = runfile.form_path(stem)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            old = runfile.read(path)
            if _same_run(old, run, old_sets, suite.sets):
                run.expect = old.expect
                kept += bool(run.expect)
        runfile.write(path, run)
    runfile.write_inputs(suite.sets)
    print(f"{len(suite.files)} run-files, {kept} with recorded bits kept")


def _same_run(old, new, old_sets, new_sets):
    def shape(run, sets):
        params = [(p.role, p.name, p.type, p.count, p.source, p.value,
                   sets.get(p.source[4:])) for p in run.params]
        return run.ptx, run.grid, run.block, run.shared, params

    return shape(old, old_sets) == shape(new, new_sets)


def check_ptxas(suite, ptxas, only):
    """Every module must assemble for the machine the suite is recorded on."""
    def assemble(item):
        stem, run = item
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(run.ptx)
            file.flush()
            done = subprocess.run(
                [ptxas, "-arch=sm_90a", "-O1", file.name, "-o", os.devnull],
                capture_output=True, text=True, check=False)
        return stem, done.returncode, done.stderr
    items = [item for item in suite.files.items() if only in item[0]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for stem, code, error in pool.map(assemble, items):
            if code:
                failed += 1
                print(f"{stem}: {error.strip()}")
    print(f"{len(items) - failed} of {len(items)} modules assemble")
    return failed


def coverage(suite, table, top):
    """Rows of the opcode table's head that no run-file names."""
    named = {form for run in suite.files.values() for form in run.forms}
    with open(table, encoding="ascii") as file:
        rows = [line.split("\t")[0] for line in file][1:top + 1]
    missing = [f"{i + 1}:{row}" for i, row in enumerate(rows)
               if row not in named]
    print(f"{len(rows) - len(missing)} of the first {len(rows)} rows covered")
    print("not covered: " + " ".join(missing))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="for --check-ptxas")
    parser.add_argument("--check-ptxas", metavar="PTXAS")
    parser.add_argument("--coverage", nargs=2, metavar=("TSV", "N"))
    args = parser.parse_args()
    suite = build()
    if args.coverage:
        coverage(suite, args.coverage[0], int(args.coverage[1]))
        return 0
    if args.check_ptxas:
        return 1 if check_ptxas(suite, args.check_ptxas, args.only) else 0
    write(suite)
    return 0


if __name__ == "__main__":
    sys.exit(main())
