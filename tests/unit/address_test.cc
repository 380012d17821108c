#include "core/spec/address.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <string>
#include <vector>

namespace muster {
namespace {

std::string reason(std::string_view text) {
  const auto address = Address::parse(text);
  REQUIRE_FALSE(address.ok());
  CHECK(address.error().code == Code::kInvalidArgument);
  return address.error().message;
}

void comes_back(const std::string& text) {
  CAPTURE(text);
  const auto address = Address::parse(text);
  REQUIRE(address.ok());
  CHECK(address->to_string() == text);
  CHECK(*Address::from_host(address->host(), address->port()) == *address);
}

TEST_CASE("an address is printed as it was written") {
  for (const char* text : {"10.0.0.1:8470",
                           "worker-0:1",
                           "worker_0.ns.svc.cluster.local:65535",
                           "worker.example.com.:80",
                           "Worker.Example:80",
                           "[::]:1",
                           "[::1]:8470",
                           "[fd00::1]:8470",
                           "[FD00:0:0::1]:8470",
                           "[::ffff:10.0.0.1]:80",
                           "[fe80::1%eth0]:8470",
                           "[fe80::1%256]:8470",
                           "[fe80::1%br-3.7_a~b]:1",
                           "a:1",
                           "0.0.0.0:1",
                           "255.255.255.255:9",
                           "1a:80",
                           "3com.example:80",
                           "x1.2y:80",
                           "a--b-:80"}) {
    comes_back(text);
  }
}

TEST_CASE("the host of an IPv6 address has no brackets, its text has them") {
  const auto address = Address::parse("[fd00::1]:8470");
  REQUIRE(address.ok());
  CHECK(address->host() == "fd00::1");
  CHECK(address->port() == 8470);
  CHECK(address->is_ipv6());
  CHECK(address->to_string() == "[fd00::1]:8470");
  CHECK_FALSE(Address::parse("10.0.0.1:8470")->is_ipv6());
}

TEST_CASE("a zone in the form of a URI is the zone") {
  CHECK(Address::parse("[fe80::1%25eth0]:8470")->host() == "fe80::1%eth0");
  CHECK(Address::from_host("fe80::1%25eth0", 1)->host() == "fe80::1%eth0");
  CHECK(Address::parse("[fe80::1%253]:1")->host() == "fe80::1%253");  // an interface's number
  CHECK(Address::parse("[fe80::1%25]:1")->host() == "fe80::1%25");
}

TEST_CASE("a text without a port is told the form") {
  CHECK(reason("worker-0") ==
        "'worker-0' is not an address: it has no port, as in 'worker-0:8470'");
  CHECK(reason("10.0.0.1") ==
        "'10.0.0.1' is not an address: it has no port, as in '10.0.0.1:8470'");
  CHECK(reason("[::1]") == "'[::1]' is not an address: it has no port, as in '[::1]:8470'");
  CHECK(reason("worker-0:") == "'worker-0:' is not an address: it has no port after the ':'");
  CHECK(reason("").find("it is empty; write host:port") != std::string::npos);
  CHECK(reason(":80").find("it has no host") != std::string::npos);
  CHECK(reason(":").find("it has no host") != std::string::npos);
}

TEST_CASE("a port is a number from 1 to 65535") {
  CHECK(reason("h:0") ==
        "'h:0' is not an address: the port '0' is out of range; ports are 1 to 65535");
  CHECK(reason("h:65536").find("out of range") != std::string::npos);
  CHECK(reason("h:99999999999999999999999999").find("out of range") != std::string::npos);
  CHECK(reason("h:http") == "'h:http' is not an address: the port 'http' is not a number");
  CHECK(reason("h:-1").find("is not a number") != std::string::npos);
  CHECK(reason("h:+1").find("is not a number") != std::string::npos);
  CHECK(reason("h:80 ").find("is not a number") != std::string::npos);
  CHECK(reason("h:080").find("starts with '0'") != std::string::npos);
  CHECK(reason("[::1]:0").find("out of range") != std::string::npos);
}

TEST_CASE("IPv6 without brackets is told where they belong") {
  CHECK(reason("::1") ==
        "'::1' is not an address: an IPv6 address needs brackets and a port, as in '[::1]:8470'");
  CHECK(reason("fd00:0:0:0:0:0:0:1:8470") ==
        "'fd00:0:0:0:0:0:0:1:8470' is not an address: an IPv6 address needs brackets, as in "
        "'[fd00:0:0:0:0:0:0:1]:8470'");
  CHECK(reason("fe80::1%eth0").find("needs brackets") != std::string::npos);
  CHECK(reason("fe80::1%eth0:80").find("needs brackets, as in '[fe80::1%eth0]:80'") !=
        std::string::npos);
  CHECK(reason("a:b:80").find("it has more than one ':'") != std::string::npos);
}

TEST_CASE("a wrong bracket is told") {
  CHECK(reason("[::1").find("the '[' has no ']' after it") != std::string::npos);
  CHECK(reason("[::1]x:80").find("after the ']' only ':' and a port may follow") !=
        std::string::npos);
  CHECK(reason("[10.0.0.1]:80").find("'10.0.0.1' is not an IPv6 address") != std::string::npos);
  CHECK(reason("[host]:80").find("'host' is not an IPv6 address") != std::string::npos);
  CHECK(reason("[]:80").find("'' is not an IPv6 address") != std::string::npos);
  CHECK(reason("[v1.x]:80").find("is not an IPv6 address") != std::string::npos);
  CHECK(reason("[::1%]:80").find("is not the zone") != std::string::npos);
  CHECK(reason("[::1%e th]:80").find("is not the zone") != std::string::npos);
  CHECK(reason("[::1%a%b]:80").find("is not the zone") != std::string::npos);
  CHECK(reason("[::1%" + std::string(64, 'z') + "]:80").find("is not the zone") !=
        std::string::npos);
  comes_back("[::1%" + std::string(63, 'z') + "]:80");
  CHECK(reason("[" + std::string(400, '1') + "]:80").find("is not an IPv6 address") !=
        std::string::npos);
  CHECK(reason(std::string_view("[::1\0]:80", 9)).find("is not an IPv6 address") !=
        std::string::npos);
  CHECK(reason("::1]:80").find("is not an address") != std::string::npos);
}

TEST_CASE("a scheme is told to be rpc_layer's") {
  CHECK(reason("grpc://10.0.0.1:8470") ==
        "'grpc://10.0.0.1:8470' is not an address: it starts with the scheme 'grpc://'; write it "
        "without, the scheme is rpc_layer's");
  CHECK(reason("http://h").find("scheme") != std::string::npos);
}

TEST_CASE("blanks, control characters and what no name has are refused, and shown harmless") {
  CHECK(reason("a b:80").find("it has a blank in it") != std::string::npos);
  CHECK(reason("a\n:80").find("'a\\x0a:80'") != std::string::npos);
  CHECK(reason(" h:80").find("blank") != std::string::npos);
  CHECK(reason("a\tb:80").find("blank") != std::string::npos);
  CHECK(reason("a b").find("blank") != std::string::npos);
  CHECK(reason("a\x7f:80").find("control character") != std::string::npos);
  CHECK(reason(std::string_view("a\0b:80", 6))
            .find("'a\\x00b:80' is not an address: it has a control character") == 0);
  CHECK(reason("\x1b[31m:80").find('\x1b') == std::string::npos);
  CHECK(reason("h/x:80").find("has a '/' in it") != std::string::npos);
  CHECK(reason("h/80").find("has a '/' in it") != std::string::npos);
  CHECK(reason("user@h:80").find("has a '@' in it") != std::string::npos);
  CHECK(reason("knoten-\xc3\xa4:80").find("'xn--' form") != std::string::npos);
  CHECK(reason("\xff:80").find("'\\xff:80'") == 0);
}

TEST_CASE("a name keeps the rules of names") {
  CHECK(reason("a..b:80").find("an empty label") != std::string::npos);
  CHECK(reason(".a:80").find("an empty label") != std::string::npos);
  CHECK(reason(".:80").find("an empty label") != std::string::npos);
  CHECK(reason("-oProxyCommand=x:80").find("starts with '-'") != std::string::npos);
  CHECK(reason("a.-b:80").find("starts with '-'") != std::string::npos);
  CHECK(reason(std::string(64, 'a') + ":80").find("longer than 63") != std::string::npos);
  CHECK(reason(std::string(64, 'a') + ".b:80").find("longer than 63") != std::string::npos);
  comes_back(std::string(63, 'a') + ":80");
  std::string longest;
  for (int i = 0; i < 126; ++i) longest += "a.";
  comes_back(longest + "a:80");   // 253 characters
  comes_back(longest + "a.:80");  // and the dot of a complete name
  CHECK(reason(longest + "ab:80").find("longer than 253") != std::string::npos);
  const std::string endless = reason(std::string(5000, 'a') + ":80");
  CHECK(endless.find("longer than 512 bytes") != std::string::npos);
  CHECK(endless.size() < 400);
}

TEST_CASE("a name that ends in a number has to be IPv4") {
  for (const char* text : {"256.0.0.1:80", "10.0.0:80", "10.0.0.1.2:80", "010.0.0.1:80", "123:80",
                           "host.5:80", "1.2.3.4.:80"}) {
    CHECK(reason(text).find("ends in a number, so it has to be an IPv4 address") !=
          std::string::npos);
  }
}

TEST_CASE("a host and a port make an address, with or without brackets") {
  CHECK(Address::from_host("fd00::1", 80)->to_string() == "[fd00::1]:80");
  CHECK(Address::from_host("[fd00::1]", 80)->to_string() == "[fd00::1]:80");
  CHECK(Address::from_host("10.0.0.1", 80)->to_string() == "10.0.0.1:80");
  CHECK(Address::from_host("name.", 80)->to_string() == "name.:80");
}

TEST_CASE("a host that is none, or a port out of range, is told") {
  const auto says = [](std::string_view host, int64_t port, const char* text) {
    const auto address = Address::from_host(host, port);
    REQUIRE_FALSE(address.ok());
    CHECK(address.error().message.find(text) != std::string::npos);
  };
  says("", 80, "'' is not a host: it has no host");
  says("h:80", 80, "a port is given apart from the host");
  says("[::1", 80, "the '[' has no ']' at the end");
  says("[", 80, "the '[' has no ']' at the end");
  says("[]", 80, "is not an IPv6 address");
  says("grpc://h", 80, "it has a scheme");
  says(std::string(513, 'a'), 80, "it is longer than 512 bytes");
  says("h", 0, "the port 0 of the host 'h' is out of range");
  says("h", -1, "out of range");
  says("h", 65536, "out of range");
  says("h", INT64_MAX, "out of range");
}

TEST_CASE("an address at the start of a list is read as it is read alone, or not at all") {
  Address address;
  AddressPool pool;
  const auto reads = [&](const std::string& text) {
    return Address::read_plain(text, address, pool);
  };
  for (const std::string alone :
       {"a:1", "10.0.0.1:8470", "worker-0.ns.svc.cluster.local:65535", "sixteen.letters-:9"}) {
    for (const char* rest : {"", "\"", ",b:2", " "}) {
      CAPTURE(alone + rest);
      REQUIRE(reads(alone + rest) == alone.size());
      CHECK(address == *Address::parse(alone));
    }
  }
  for (const char* text : {"", "a", "a:", "a/80", "a 80", "a:0", "a:080", "a:65536", "a:655351",
                           ":80", "-a:80", "a..b:80", "1.2.3:80", "[::1]:80", "a.:80"}) {
    CAPTURE(text);
    CHECK(reads(text) == 0);
    CHECK(address.to_string() == "sixteen.letters-:9");
  }
}

TEST_CASE("a long host takes the memory of its text, not of a pool of its own") {
  const auto used = [] { return ::mallinfo2().uordblks; };
  std::vector<Address> addresses(1000);
  const size_t before = used();
  for (Address& address : addresses)
    address = *Address::parse("worker-0.training.default.svc.cluster.local:8470");
  // A sanitizer's allocator says that nothing is used.
  CHECK(used() - before <= addresses.size() * 128);
}

}  // namespace
}  // namespace muster
