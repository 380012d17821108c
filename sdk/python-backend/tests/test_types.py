import contextlib
import io
import os
import unittest
from unittest import mock

import muster_backend
from muster_backend import Code, Failure, HttpResponse


class TypesTest(unittest.TestCase):
    def test_headers_are_found_without_case(self) -> None:
        response = HttpResponse(200, [("ETag", "1"), ("etag", "2")], b"")
        self.assertEqual((response.header("etag"), response.header("Age")), ("1", None))

    def test_a_failure_has_texts_alone(self) -> None:
        failure = Failure(5, "not here", {"http_status": 404})
        self.assertEqual((failure.code, str(failure), failure.details), (Code.NOT_FOUND, "not here", {"http_status": "404"}))

    def test_a_code_of_a_newer_core_is_unknown(self) -> None:
        self.assertEqual(Failure(99, "new").code, Code.UNKNOWN)


class MainTest(unittest.TestCase):
    def test_by_hand_it_says_what_it_is_for(self) -> None:
        with mock.patch.dict(os.environ), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as raised:
            os.environ.pop("MUSTER_FRAMES_FD", None)
            muster_backend.main(object, {"name": "roster", "version": "1.0.0"})
        self.assertIn("roster 1.0.0 is a backend of muster", str(raised.exception.code))


if __name__ == "__main__":
    unittest.main()
