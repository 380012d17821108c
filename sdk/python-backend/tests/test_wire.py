"""The encoding, against bytes as protobuf's own page and protoc have them."""

import unittest

from muster_backend import _frames, _wire
from muster_backend._errors import Failure, Malformed


class WriteTest(unittest.TestCase):
    def test_numbers(self) -> None:
        self.assertEqual(_wire.integer(1, 150), b"\x08\x96\x01")
        self.assertEqual(_wire.integer(1, -1), b"\x08" + b"\xff" * 9 + b"\x01")
        self.assertEqual(_wire.integer(1, (1 << 64) - 1), b"\x08" + b"\xff" * 9 + b"\x01")
        self.assertEqual(_wire.integer(16, 0), b"")

    def test_signed_numbers_are_zigzag(self) -> None:
        self.assertEqual([_wire.signed(2, n) for n in (0, -1, 1, -2, 2147483647)], [b"", b"\x10\x01", b"\x10\x02", b"\x10\x03", b"\x10\xfe\xff\xff\xff\x0f"])

    def test_texts(self) -> None:
        self.assertEqual(_wire.text(2, "testing"), b"\x12\x07testing")
        self.assertEqual(_wire.text(2, ""), b"")

    def test_what_does_not_fit_is_a_failure(self) -> None:
        with self.assertRaisesRegex(Failure, "64 bits"):
            _wire.integer(1, 1 << 64)
        with self.assertRaisesRegex(Failure, "MP-4"):
            _wire.text(1, "\udcff")

    def test_a_frame_has_its_size_before_it(self) -> None:
        self.assertEqual(_frames.frame(7, _frames.GET_TIME, b"\x08\x01"), b"\x07\0\0\0\x08\x07\xc2\x02\x02\x08\x01")
        with self.assertRaises(ValueError):
            _frames.frame(0, _frames.MARK_SECRET, bytes(_frames.SIZE_MAXIMUM))


class ReadTest(unittest.TestCase):
    def test_fields_of_every_kind_are_read_or_passed_over(self) -> None:
        fields = _wire.fields(b"\x08\x96\x01" + b"\x12\x02hi" + b"\x19" + bytes(8) + b"\x25" + bytes(4) + b"\x12\x01!")
        self.assertEqual((fields[1], fields[2]), ([150], [b"hi", b"!"]))
        self.assertEqual((_wire.get_text(fields, 2), _wire.get_all(fields, 2), _wire.get_text(fields, 9)), ("!", [b"hi", b"!"], ""))

    def test_negative_numbers(self) -> None:
        self.assertEqual(_wire.get_integer(_wire.fields(b"\x08" + b"\xff" * 9 + b"\x01"), 1), -1)

    def test_what_is_no_message_is_malformed(self) -> None:
        for encoded in (b"\x08", b"\x08\xff", b"\x08" + b"\xff" * 11, b"\x12\x05hi", b"\x00\x00", b"\x0b", b"\x0c", b"\x0f", b"\x19\0"):
            with self.subTest(encoded), self.assertRaises(Malformed):
                _wire.fields(encoded)

    def test_a_field_of_another_type_is_malformed(self) -> None:
        with self.assertRaises(Malformed):
            _wire.get_integer(_wire.fields(b"\x0a\x01a"), 1)
        with self.assertRaises(Malformed):
            _wire.get_text(_wire.fields(b"\x08\x01"), 1)
        with self.assertRaises(Malformed):
            _wire.get_text(_wire.fields(b"\x0a\x01\xff"), 1)

    def test_frames(self) -> None:
        answer = _frames.parse(b"\x08\x07\x1a\x0d\x08\x05\x12\x02no\x1a\x05\x0a\x01k\x12\x00")
        assert isinstance(answer, _frames.Answer)
        self.assertEqual((answer.id, answer.code, answer.message, answer.details), (7, 5, "no", [("k", "")]))
        self.assertEqual(_frames.parse(b"\x32\0"), _frames.Cancel())
        self.assertEqual(_frames.parse(b"\x08\x01\xc2\x3e\0"), _frames.Unknown(1))

    def test_a_request_without_an_id_is_malformed(self) -> None:
        with self.assertRaises(Malformed):
            _frames.parse(b"\x22\0")
        with self.assertRaises(Malformed):
            _frames.parse(b"\x08\x01\x32\0")


if __name__ == "__main__":
    unittest.main()
