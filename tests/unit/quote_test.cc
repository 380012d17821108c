// A text of somebody else's, fit to be shown.
#include <doctest/doctest.h>

#include <string>

#include "core/spec/quote.h"

using muster::printable;
using muster::printable_lines;
using muster::quote;

TEST_CASE("what a terminal would obey is shown as bytes") {
  CHECK(printable("a\x1b[31mb\a") == "a\\x1b[31mb\\x07");
  CHECK(printable("\r\n\t\x7f") == "\\x0d\\x0a\\x09\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x80\xc2\x9b") == "\\xc2\\x80\\xc2\\x9b");  // C1: CSI is U+009B
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");
}

TEST_CASE(
    "what would turn the line around or end it is shown as bytes, its neighbours as they are") {
  CHECK(printable("\u2027\u202f\u2065\u206a\u200e") == "\u2027\u202f\u2065\u206a\u200e");
  for (const char* bad : {"\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                          "\u2066", "\u2067", "\u2068", "\u2069"}) {
    CAPTURE(bad);
    const std::string shown = printable(bad);
    CHECK(shown.size() == 12);
    CHECK(shown.substr(0, 8) == "\\xe2\\x8" + std::string(1, shown[7]));
    CHECK(quote(bad) == "'" + shown + "'");
  }
}

TEST_CASE("half a character is shown as bytes, a whole one as it is") {
  CHECK(printable("gr\xc3\xbc\xc3") == "gr\xc3\xbc\\xc3");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\U0001f600") == "\U0001f600");
}

TEST_CASE("a long text is cut between characters, and says how much more there was") {
  CHECK(printable("abcdef", 4) == "abcd... 2 bytes more");
  CHECK(printable("abcd", 4) == "abcd");
  CHECK(printable("ab\xc3\xbc", 3) == "ab... 2 bytes more");
  std::string many;
  many.resize(20'000'000, '\x1b');
  CHECK(printable_lines(many, 3) == "\\x1b\\x1b\\x1b... 19999997 bytes more");
  CHECK(quote("abcdef", 4) == "'abcd...'");
}

TEST_CASE("lines stay lines where there may be some") {
  CHECK(printable_lines("a\n\tb\rc\u2028") == "a\n\tb\\x0dc\\xe2\\x80\\xa8");
}
