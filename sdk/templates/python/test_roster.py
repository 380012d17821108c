"""python3 -m unittest"""

import unittest
from typing import Optional

import muster_backend
import roster


def check(address: str, port: int) -> Optional[str]:
    """Stands in for the core, which knows what an address is."""
    return None if (":84" in address) != (port != 0) else f"'{address}' is not an address: it has no port"


def read(text: str, port: int = 0) -> list:
    return roster.read(text.encode(), "http://h/roster", port, check)


class ReadTest(unittest.TestCase):
    def test_members_come_in_the_order_of_the_lines(self) -> None:
        self.assertEqual(read("# a comment\n\n1 b 10.0.0.2:8470\r\n 0\ta 10.0.0.1:8470\n"), [(1, "b", "10.0.0.2:8470", 0, ""), (0, "a", "10.0.0.1:8470", 0, "")])

    def test_an_address_without_a_port_gets_the_default(self) -> None:
        self.assertEqual(read("0 a fd00::2\n1 b 10.0.0.1:8470", 8471), [(0, "a", "fd00::2", 8471, ""), (1, "b", "10.0.0.1:8470", 0, "")])

    def test_a_dash_is_a_missing_member_with_a_reason(self) -> None:
        self.assertEqual(read("0 a - powered off  since Monday\n1 b -"), [(0, "a", "", 0, "powered off  since Monday"), (1, "b", "", 0, "the roster gives no address")])

    def test_a_wrong_line_is_told_with_its_number(self) -> None:
        for line, what in {
            "x a 10.0.0.1:8470": "the index is not a number from 0 to 2147483647",
            "-1 a 10.0.0.1:8470": "the index is not a number from 0 to 2147483647",
            "2147483648 a 10.0.0.1:8470": "the index is not a number from 0 to 2147483647",
            "0": "there is no name",
            "0 a": "there is no address",
            "0 a 10.0.0.1": "'10.0.0.1' is not an address: it has no port",
        }.items():
            with self.subTest(line), self.assertRaises(muster_backend.Failure) as raised:
                read(f"# comment\n{line}\n")
            self.assertEqual(raised.exception.code, muster_backend.Code.DATA_LOSS)
            self.assertEqual(raised.exception.message, f"http://h/roster:2: {what}; write 'index name address', or '-' and a reason as the address")

    def test_a_roster_without_members_is_not_found(self) -> None:
        with self.assertRaises(muster_backend.Failure) as raised:
            read("# nobody\n")
        self.assertEqual((raised.exception.code, raised.exception.message), (muster_backend.Code.NOT_FOUND, "the roster at http://h/roster has no member"))

    def test_what_is_not_utf_8_is_told(self) -> None:
        with self.assertRaises(muster_backend.Failure) as raised:
            roster.read(b"0 a\xff 10.0.0.1:8470", "http://h/roster", 0, check)
        self.assertEqual(raised.exception.message, "the roster at http://h/roster is not UTF-8")


if __name__ == "__main__":
    unittest.main()
