"""What the list says, line by line; needs no muster."""

import unittest

import roster


def read(text: str) -> str:
    """ "name=address", "name-(reason)" or "line!problem", one after the other."""
    out = []
    for member in roster.read(text.encode()):
        if member.problem:
            out.append(f"{member.line}!{member.problem}")
        else:
            out.append(f"{member.name}={member.address}" if member.address else f"{member.name}-({member.reason})")
    return " ".join(out)


class ListTest(unittest.TestCase):
    def expect(self, text: str, wanted: str) -> None:
        self.assertEqual(read(text), wanted)

    def test_comments_and_empty_lines_are_nothing(self) -> None:
        self.expect("", "")
        self.expect("# nobody\n\n", "")

    def test_a_line_is_a_member(self) -> None:
        self.expect("a 10.0.0.1:1\r\nb\t[fd00::2]:2", "a=10.0.0.1:1 b=[fd00::2]:2")

    def test_a_dash_is_a_missing_member_with_a_reason(self) -> None:
        self.expect("a - off since Monday\nb -", "a-(off since Monday) b-(the list has no address for it)")

    def test_a_wrong_line_is_told_with_its_number(self) -> None:
        self.expect("a a:1\nb\n", "a=a:1 2!there is no address")
        self.expect("a a:1 more", "1!there is a third word")
        self.expect("caf\u00e9 a:1", "1!there is a byte that is no printable ASCII")


if __name__ == "__main__":
    unittest.main()
