"""A trace's times are those at which things happened.

usage: trace_test.py HETGPU_RUN EXAMPLES DEVICE
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

RUN, EXAMPLES, DEVICE = sys.argv[1:4]


class TraceTest(unittest.TestCase):
    def spans_and_wall_us(self, plan):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            start = time.monotonic()
            subprocess.run(
                [RUN, os.path.join(EXAMPLES, plan), "--device", DEVICE],
                env={**os.environ, "HETGPU_TRACE": path}, check=True,
                stdout=subprocess.DEVNULL)
            wall_us = (time.monotonic() - start) * 1e6
            with open(path) as f:
                spans = [e for e in json.load(f) if e["ph"] == "X"]
        return spans, wall_us

    def test_times_lie_within_the_run(self):
        spans, wall_us = self.spans_and_wall_us("vecadd.plan.json")
        of_device = [s for s in spans if s["cat"] in ("launch", "copy")]
        self.assertEqual([s["name"] for s in of_device if s["cat"] == "launch"],
                         ["vecadd", "vecadd"])
        self.assertGreaterEqual(len(of_device), 8)
        for span in of_device:
            self.assertGreater(span["ts"], 0, span)
            self.assertGreaterEqual(span["dur"], 0, span)
            self.assertLess(span["ts"] + span["dur"], wall_us, span)

    def test_commands_of_a_stream_follow_each_other(self):
        spans, _ = self.spans_and_wall_us("vecadd.plan.json")
        streams = {}
        for span in spans:
            if span["cat"] in ("launch", "copy", "fill"):
                streams.setdefault((span["pid"], span["tid"]), []).append(span)
        self.assertTrue(streams)
        for commands in streams.values():
            commands.sort(key=lambda s: s["ts"])
            for before, after in zip(commands, commands[1:]):
                # GPUs measure in steps of half a microsecond.
                self.assertLess(before["ts"] + before["dur"],
                                after["ts"] + 1, (before, after))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
