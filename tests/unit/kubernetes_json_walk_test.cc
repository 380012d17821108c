// JSON as the kubernetes backend walks over it.
#include <doctest/doctest.h>

#include <vector>

#include "plugins/kubernetes/json_scan.h"
#include "plugins/kubernetes/json_walk.h"

namespace {

using namespace muster::kubernetes::json;

// What `read` makes of the field "x" of an object, and whether the whole was a document.
template <typename Out, typename Read>
error_code field(std::string_view text, Out& out, const Read& read) {
  // In memory of its own, so that a sanitizer sees a byte too many.
  const std::vector<char> copy(text.begin(), text.end());
  Walk walk;
  walk.open({copy.data(), copy.size()});
  value root(walk);
  const auto error = each_field(root, [&](const auto& key, auto& inside) -> error_code {
    return key == "x" ? read(inside, out) : SUCCESS;
  });
  if (error) return error;
  return walk.ended() ? SUCCESS : simdjson::TAPE_ERROR;
}

error_code text_of(std::string_view text, std::string& out) { return field(text, out, read_text); }

TEST_CASE("what nobody looks at is passed over, whatever it is") {
  for (const char* other : {R"({"x":[1,{"y":"}]"}],"z":{}})", R"([[],{},"\"x\":",-1.5e3])", "{}",
                            "[]", "true", "null", "1e9", R"("a\\")", R"("")"}) {
    std::string out;
    CAPTURE(other);
    CHECK(text_of(R"({"a":)" + std::string(other) + R"(,"x":"found", "b":)" + other + "}", out) ==
          SUCCESS);
    CHECK(out == "found");
  }
}

// Where the brackets that begin `text` end, byte by byte; npos: nowhere.
size_t end_of_brackets(std::string_view text) {
  int depth = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '\\') {
      ++at;
    } else if (byte == '"') {
      inside = !inside;
    } else if (!inside && (byte == '{' || byte == '[')) {
      ++depth;
    } else if (!inside && (byte == '}' || byte == ']')) {
      if (--depth == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

TEST_CASE("brackets end where theirs do, wherever a block of bytes ends") {
  // Each shape of text and nesting, moved byte by byte over the ends of blocks, and cut off at each byte.
  const std::string middle =
      R"({"k:{\"uid\":\"1\"}":{"a":[]},"b\\":"}\\\"]","c":[[{"d":"{["}],-1e3,null,"\\\\"]})";
  for (size_t before = 0; before < 130; ++before) {
    std::string whole = R"([")" + std::string(before, before % 2 == 0 ? 'x' : '\\');
    if (before % 4 == 3) whole += '"';  // escaped by what stands before it
    whole += R"(",)" + middle + "," + middle + "]";
    const std::string text = whole + R"(,"]})";
    for (size_t size = 0; size <= text.size(); ++size) {
      const std::vector<char> copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
      const size_t wanted = end_of_brackets(std::string_view(text).substr(0, size));
      const char* end = pass_brackets(copy.data(), copy.data() + size);
      const size_t found =
          end == nullptr ? std::string_view::npos : static_cast<size_t>(end - copy.data());
      REQUIRE_MESSAGE(found == wanted, before, " ", size);
    }
  }
}

TEST_CASE("a text ends with its first quote that is not escaped, and is plain or not") {
  for (size_t before = 0; before < 40; ++before) {
    for (const std::string odd : {"", "\\\"", "\\\\", "\n", "\x7f", "\xc3\xa4", "\x1f", " "}) {
      const std::string text = std::string(before, 'x') + odd + std::string(before % 7, 'y');
      const std::string quoted = text + "\",\"";
      const std::vector<char> copy(quoted.begin(), quoted.end());
      bool plain = false;
      const char* end = find_quote(copy.data(), copy.data() + copy.size(), plain);
      REQUIRE(end == copy.data() + text.size());
      CHECK(plain == (odd.empty() || odd == " " || odd == "\x7f"));
      CHECK(find_quote(copy.data(), copy.data() + text.size(), plain) == nullptr);
    }
  }
}

TEST_CASE("a text has its escapes undone, and no NUL") {
  const auto text = [](std::string_view quoted) {
    std::string out;
    const auto error = text_of("{\"x\":" + std::string(quoted) + "}", out);
    return error ? std::string("!") : out;
  };
  CHECK(text(R"("plain")") == "plain");
  CHECK(text(R"("a\"b\\")") == "a\"b\\");
  CHECK(text(R"("\\\"")") == "\\\"");
  CHECK(text(R"("\u00e4\n\/")") == "\xc3\xa4\n/");
  CHECK(text("null") == "");
  CHECK(text(R"("\u0000")") == "!");
  CHECK(text(R"("\x")") == "!");
  CHECK(text("\"\xff\"") == "!");
  CHECK(text("\"\n\"") == "!");
  CHECK(text("5") == "!");
  CHECK(text("nul") == "!");
  CHECK(text("nullx") == "!");
}

TEST_CASE("a number is whole and fits, a flag is a word") {
  const auto number = [](std::string_view text) {
    int64_t out = 77;
    return field("{\"x\":" + std::string(text) + "}", out, read_number) ? -99 : out;
  };
  CHECK(number("0") == 0);
  CHECK(number("-7 ") == -7);
  CHECK(number("9223372036854775807") == INT64_MAX);
  CHECK(number("null") == 77);
  for (const char* wrong :
       {"9223372036854775808", "01", "-01", "1.5", "1e3", "-", "1x", "\"1\"", "[]"})
    CHECK_MESSAGE(number(wrong) == -99, wrong);
  const auto flag = [](std::string_view text) {
    bool out = false;
    const auto error = field("{\"x\":" + std::string(text) + "}", out, read_flag);
    return error ? -1 : static_cast<int>(out);
  };
  CHECK(flag("true") == 1);
  CHECK(flag("false") == 0);
  CHECK(flag("null") == 0);
  for (const char* wrong : {"tru", "truex", "falsee", "0", "\"true\""})
    CHECK_MESSAGE(flag(wrong) == -1, wrong);
}

TEST_CASE("no beginning of a document is one, nor is one with something behind it") {
  const std::string whole = R"({"a":[{"b":1},[2,"c"]],"x":"y","d":{"e":null}})";
  std::string out;
  CHECK(text_of(whole, out) == SUCCESS);
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK_MESSAGE(text_of(whole.substr(0, size), out) != SUCCESS, size);
  for (const char* more : {"{}", ",", "1", "]", "}"})
    CHECK_MESSAGE(text_of(whole + more, out) != SUCCESS, more);
}

TEST_CASE("commas, colons and brackets stand where JSON has them") {
  std::string out;
  for (const char* wrong : {R"({"x" "y"})", R"({"x":"y",})", R"({,"x":"y"})", R"({"a":1 "x":"y"})",
                            R"({"a":,"x":"y"})", R"({"a":1,,"x":"y"})", R"({"x":"y"])",
                            R"({"a":1:2})", R"({x:"y"})", R"({"x":})", "[]", "5"})
    CHECK_MESSAGE(text_of(wrong, out) != SUCCESS, wrong);
}

TEST_CASE("the text of a value is as it stands in the document") {
  const auto raw = [](const std::string& text) {
    std::string out;
    const auto error = field(text, out, [](value& inside, std::string& whole) {
      std::string_view view;
      const auto wrong = inside.walk().raw(view);
      whole = view;
      return wrong;
    });
    return error ? std::string("!") : out;
  };
  CHECK(raw(R"({"x": {"a": [1, 2]} , "b":1})") == R"({"a": [1, 2]})");
  CHECK(raw(R"({"x":12 })") == "12");
  CHECK(raw(R"({"b":[],"x":"a b"})") == R"("a b")");
  CHECK(raw(R"({"x":})") == "!");
}

}  // namespace
