#include <doctest/doctest.h>

#include <string>

#include "core/spec/cluster_spec.h"
#include "core/spec/sha256.h"

namespace muster {
namespace {

void add(ClusterSpec& spec, const char* job, int32_t index, const char* address,
         const char* name = "") {
  REQUIRE(spec.add_task(job, Task{index, Address::parse(address).value(), name, {}}).ok());
}

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

TEST_CASE("SHA-256 gives the values of the standard's examples") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklm"
               "nopqrlmnopqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not care how the bytes are cut, and goes on after it was asked") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i);
  for (size_t cut = 0; cut <= 200; ++cut) {
    Sha256 hash;
    hash.update(std::string_view(text).substr(0, cut));
    CHECK(hash.hex() == sha256(std::string_view(text).substr(0, cut)));
    hash.update(std::string_view(text).substr(cut));
    REQUIRE(hash.hex() == sha256(text));
  }
}

TEST_CASE("the digest is the SHA-256 of the lines that sdk/digest.md tells") {
  ClusterSpec spec;
  add(spec, "worker", 0, "10.0.0.1:8470");
  add(spec, "worker", 1, "[fd00::2]:8470");
  add(spec, "ps", 1, "ps-1.svc:8470");
  CHECK(digest(spec) == "sha256:" + sha256("muster.digest/1\njob ps\n1 ps-1.svc:8470\njob "
                                           "worker\n0 10.0.0.1:8470\n1 [fd00::2]:8470\n"));
  CHECK(digest(ClusterSpec()) == "sha256:" + sha256("muster.digest/1\n"));
}

TEST_CASE(
    "the digest follows equality: not the order of jobs, nor names; but every index and address") {
  ClusterSpec a, b, c, d;
  add(a, "worker", 0, "h:1", "w0");
  add(a, "ps", 0, "p:1");
  add(b, "ps", 0, "p:1");
  add(b, "worker", 0, "h:1");
  CHECK(digest(a) == digest(b));
  add(c, "worker", 0, "h:2");
  add(c, "ps", 0, "p:1");
  CHECK(digest(a) != digest(c));
  add(d, "worker", 1, "h:1");
  add(d, "ps", 0, "p:1");
  CHECK(digest(a) != digest(d));
  REQUIRE(b.add_job("empty").ok());
  CHECK(digest(a) != digest(b));
}

TEST_CASE("a diff tells what was added, removed and moved, by job and index") {
  ClusterSpec before, after;
  add(before, "gone", 0, "g:1");
  add(before, "worker", 0, "a:1");
  add(before, "worker", 1, "b:1");
  add(before, "worker", 3, "d:1");
  add(before, "worker", 4, "e:1");
  add(after, "worker", 0, "a:1");
  add(after, "worker", 1, "B:1");
  add(after, "worker", 2, "c:1");
  add(after, "worker", 4, "e:1");
  add(after, "new", 0, "n:1");

  const std::vector<Change> changes = diff(before, after);

  REQUIRE(changes.size() == 5);
  const auto is = [](const Change& change, Change::Kind kind, const char* job, int index,
                     const char* was, const char* now) {
    CHECK(change.kind == kind);
    CHECK(change.job == job);
    CHECK(change.index == index);
    CHECK(change.before == was);
    CHECK(change.after == now);
  };
  is(changes[0], Change::Kind::kMoved, "worker", 1, "b:1", "B:1");
  is(changes[1], Change::Kind::kAdded, "worker", 2, "", "c:1");
  is(changes[2], Change::Kind::kRemoved, "worker", 3, "d:1", "");
  is(changes[3], Change::Kind::kAdded, "new", 0, "", "n:1");
  is(changes[4], Change::Kind::kRemoved, "gone", 0, "g:1", "");
  CHECK(diff(before, before).empty());
}

}  // namespace
}  // namespace muster
