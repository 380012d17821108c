"""libmuster in this process, by the test suite's own binding: `from library import Cluster, MusterError`."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launcher"))
from muster_by_ctypes import Cluster, MusterError, load  # noqa: E402, F401

load(os.environ["MUSTER_TEST_LIBRARY"])
