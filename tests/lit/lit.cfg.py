"""How lit runs the text tests: RUN lines in the files, FileCheck on output.

config.hetgpu_tools and config.hetgpu_filecheck come from lit.site.cfg.py,
which CMake writes.
"""

import os

import lit.formats

config.name = "hetgpu"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ptx"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.hetgpu_tools, config.environment["PATH"]])
config.substitutions.append(("%examples", config.hetgpu_examples))
config.substitutions.append(("FileCheck", config.hetgpu_filecheck))
