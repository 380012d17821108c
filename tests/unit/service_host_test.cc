// Host: log, errors, and the services options, clock and environment.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "core/service/file.h"
#include "core/service/text.h"
#include "service_world.h"

using namespace muster;
using namespace muster::testing;

namespace {

const muster_options_v1* options(const Host& host) {
  return static_cast<const muster_options_v1*>(
      host.table()->get_service(host.table(), MUSTER_OPTIONS_V1));
}
const muster_clock_v1* clock_service() { return World::service<muster_clock_v1>(MUSTER_CLOCK_V1); }
const muster_environment_v1* environment() {
  return World::service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1);
}

struct Read {
  const char* content = nullptr;
  uint64_t size = 0;
  muster_error error;
  int32_t code;
  Read(World& world, const std::string& path, uint64_t maximum = 1024, uint64_t flags = 0)
      : code(environment()->read_file(world.call(), path.c_str(), maximum, flags, &content, &size,
                                      &error)) {}
};

}  // namespace

TEST_CASE("a log line has the backend and path before it, and no secret in it") {
  Lines lines;
  auto secrets = std::make_shared<Secrets>();
  secrets->add("hunter22");
  const Host host("kubernetes", "cluster.merge[0]", "{}", lines.log(), secrets, nullptr);
  host.table()->log(host.table(), MUSTER_LOG_INFO, "the token is hunter22\nand a\x1b[31m trick",
                    MUSTER_NUL_TERMINATED);
  REQUIRE(lines.lines.size() == 1);
  CHECK(lines.lines[0] ==
        "1 kubernetes (cluster.merge[0]): the token is REDACTED and a [31m trick");
}

TEST_CASE("a log that was disarmed writes no more, for its writer may be gone") {
  Lines lines;
  auto secrets = std::make_shared<Secrets>();
  const auto kept = lines.log();
  const Host host("probe", "cluster", "{}", kept, secrets, nullptr);
  const auto log = [&] { host.table()->log(host.table(), MUSTER_LOG_ERROR, "late", 4); };
  log();
  kept->disarm();
  log();
  CHECK(lines.lines.size() == 1);
}

TEST_CASE("an error is set in one statement, and a later one replaces it with its details") {
  const Host host("probe", "cluster", "{}", nullptr, nullptr, nullptr);
  const muster_host_v1* table = host.table();
  muster_error error;
  CHECK(table->set_error(&error, MUSTER_E_NOT_FOUND, "no pod", MUSTER_NUL_TERMINATED) ==
        MUSTER_E_NOT_FOUND);
  table->add_detail(&error, "hint", "look again", 4);
  CHECK(error.error.detail("hint") == "look");
  CHECK(table->set_error(&error, MUSTER_E_UNAVAILABLE, "gone\xff", MUSTER_NUL_TERMINATED) ==
        MUSTER_E_UNAVAILABLE);
  CHECK(error.error.code == Code::kUnavailable);
  CHECK(error.error.message == "gone?");
  CHECK(error.error.details.empty());
}

TEST_CASE("the address service says what add_task would, with the reason") {
  const auto* address = World::service<muster_address_v1>(MUSTER_ADDRESS_V1);
  const auto said = [&](const char* text, int64_t port, uint64_t size = 512) {
    std::string reason(size, 'x');
    const int32_t code =
        address->check(text, MUSTER_NUL_TERMINATED, port, reason.data(), reason.size());
    CHECK((code == MUSTER_OK || code == MUSTER_E_INVALID_ARGUMENT));
    CHECK((code == MUSTER_OK) == (*reason.c_str() == '\0'));
    return std::string(reason.c_str());
  };
  CHECK(said("10.0.0.1:8470", 0) == "");
  CHECK(said("fd00::1", 8470) == "");
  CHECK(said("fd00::1", 0) ==
        "'fd00::1' is not an address: an IPv6 address needs brackets and a port, as in "
        "'[fd00::1]:8470'");
  CHECK(said("a:1", 2) ==
        "'a:1' is not a host: 'a:1' is not an IPv6 address; a port is given "
        "apart from the host");
  CHECK(said("a", 65536) == "port 65536 is not 1 to 65535, or 0 for the one in the address");
  CHECK(said("a", -1) == "port -1 is not 1 to 65535, or 0 for the one in the address");
  CHECK(said("é", 0, 3) == "'");  // never half a character
  CHECK(address->check(nullptr, 0, 0, nullptr, 0) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(address->check("a:1 and more", 3, 0, nullptr, 512) == MUSTER_OK);
}

TEST_CASE("every function of the host takes NULL and a pointer that is not the core's") {
  const Host host("probe", "cluster", "{}", nullptr, nullptr, nullptr);
  const muster_host_v1* table = host.table();
  muster_host_v1 strange{};
  strange.struct_size = sizeof(strange);
  uint64_t not_ours[64] = {};
  strange.ctx = not_ours;
  muster_error error;
  for (const muster_host_v1* bad : {static_cast<const muster_host_v1*>(nullptr),
                                    static_cast<const muster_host_v1*>(&strange)}) {
    table->log(bad, 0, "x", 1);
    CHECK(table->get_service(bad, MUSTER_CLOCK_V1) == nullptr);
    const char* text = nullptr;
    CHECK(options(host)->get_text(bad, "/a", &text, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  }
  table->log(table, 99, nullptr, 7);
  CHECK(table->set_error(nullptr, MUSTER_E_ABORTED, "x", 1) == MUSTER_E_ABORTED);
  CHECK(table->set_error(&error, MUSTER_E_ABORTED, nullptr, 3) == MUSTER_E_ABORTED);
  table->add_detail(nullptr, "k", "v", 1);
  table->add_detail(&error, nullptr, "v", 1);
  CHECK(table->get_service(table, nullptr) == nullptr);
  CHECK(table->get_service(table, "muster.nothing/1") == nullptr);
  CHECK(clock_service()->sleep_ns(nullptr, 1) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(clock_service()->realtime_ns(nullptr) == 0);
  CHECK(environment()->get_variable(nullptr, "A", nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(environment()->get_hostname(nullptr, nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(environment()->read_file(nullptr, "A", 1, 0, nullptr, nullptr, &error) ==
        MUSTER_E_INVALID_ARGUMENT);
  CHECK(error.error.message != "");
  const auto* http = World::service<muster_http_v1>(MUSTER_HTTP_V1);
  CHECK(http->send(nullptr, nullptr, nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(http->get_header(nullptr, nullptr, nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  http->release(nullptr, nullptr);
}

TEST_CASE(
    "options are read by JSON pointer, each by its own type, in the order the user wrote them") {
  const Host host(
      "probe", "cluster",
      R"({"text":"a\u0000b","number":8470.0,"half":0.5,"yes":true,"none":null,"z":{"b":1,"a":[2,"x"],"~/":3}})",
      nullptr, nullptr, nullptr);
  const muster_options_v1* table = options(host);
  const char* text = nullptr;
  uint64_t size = 0;
  int64_t number = 0;
  int32_t boolean = 0;
  CHECK(table->get_text(host.table(), "/text", &text, &size) == MUSTER_OK);
  CHECK(std::string(text, size) == std::string("a\0b", 3));
  CHECK(table->get_text(host.table(), "/yes", &text, &size) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(table->get_integer(host.table(), "/number", &number) == MUSTER_OK);
  CHECK(number == 8470);
  CHECK(table->get_integer(host.table(), "/half", &number) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(table->get_boolean(host.table(), "/yes", &boolean) == MUSTER_OK);
  CHECK(boolean == 1);
  CHECK(table->get_text(host.table(), "/none", &text, &size) == MUSTER_E_NOT_FOUND);
  CHECK(table->get_text(host.table(), "/missing/deep", &text, &size) == MUSTER_E_NOT_FOUND);
  CHECK(table->get_text(host.table(), "text", &text, &size) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(table->get_size(host.table(), "/z", &size) == MUSTER_OK);
  CHECK(size == 3);
  CHECK(table->get_key(host.table(), "/z", 0, &text, &size) == MUSTER_OK);
  CHECK(std::string(text, size) == "b");
  CHECK(table->get_key(host.table(), "/z", 3, &text, &size) == MUSTER_E_NOT_FOUND);
  CHECK(table->get_integer(host.table(), "/z/~0~1", &number) == MUSTER_OK);
  CHECK(table->get_json(host.table(), "/z", &text, &size) == MUSTER_OK);
  CHECK(std::string(text) == R"({"b":1,"a":[2,"x"],"~/":3})");
  const char* whole = nullptr;
  CHECK(table->get_json(host.table(), "", &whole, &size) == MUSTER_OK);
  CHECK(std::string(text) == R"({"b":1,"a":[2,"x"],"~/":3})");  // still there
}

TEST_CASE("options nested a hundred thousand deep do not end the stack") {
  const Host host("probe", "cluster", std::string(100000, '['), nullptr, nullptr, nullptr);
  uint64_t size = 0;
  CHECK(options(host)->get_size(host.table(), "", &size) == MUSTER_E_INVALID_ARGUMENT);
}

TEST_CASE(
    "a sleep waits its time, and ends at once when the call is cancelled or its time is over") {
  World world(Session::live(nullptr, nullptr), nullptr, 200 * kMillisecond);
  int64_t start = monotonic_ns();
  CHECK(clock_service()->sleep_ns(world.call(), 30 * kMillisecond) == MUSTER_OK);
  CHECK(monotonic_ns() - start >= 30 * kMillisecond);
  CHECK(clock_service()->sleep_ns(world.call(), -5) == MUSTER_OK);
  CHECK(clock_service()->sleep_ns(world.call(), INT64_MAX) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(monotonic_ns() - start < 2 * kSecond);

  World other;
  start = monotonic_ns();
  int64_t cancelled_at = 0;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancelled_at = monotonic_ns();
    other.cancel.cancel();
  });
  CHECK(clock_service()->sleep_ns(other.call(), 4 * kSecond) == MUSTER_E_CANCELLED);
  const int64_t end = monotonic_ns();
  canceller.join();
  CHECK(end - cancelled_at < 500 * kMillisecond);  // 10 ms on a machine that has time
}

TEST_CASE("a variable is told apart when unset and when blank") {
  World world;
  const Variable blank("MUSTER_TEST_BLANK", "");
  const Variable full("MUSTER_TEST_FULL", "value");
  const char* value = nullptr;
  uint64_t size = 9;
  CHECK(environment()->get_variable(world.call(), "MUSTER_TEST_BLANK", &value, &size) == MUSTER_OK);
  CHECK(size == 0);
  CHECK(environment()->get_variable(world.call(), "MUSTER_TEST_NONE", &value, &size) ==
        MUSTER_E_NOT_FOUND);
  CHECK(environment()->get_variable(world.call(), "MUSTER_TEST_FULL", &value, &size) == MUSTER_OK);
  CHECK(std::string(value) == "value");
}

TEST_CASE("a file comes whole with 64 zero bytes behind it") {
  const Folder folder;
  World world;
  const Read read(world, folder.write("a", "four"));
  REQUIRE(read.code == MUSTER_OK);
  CHECK(std::string(read.content, read.size) == "four");
  CHECK(std::string(read.content + read.size, 64) == std::string(64, '\0'));
}

TEST_CASE("what is read again and again in one call is kept once, and what has changed beside it") {
  const Folder folder;
  World world;
  const std::string path = folder.write("a", "four");
  const Read first(world, path);
  CHECK(Read(world, path).content == first.content);
  folder.write("a", "five");
  const Read changed(world, path);
  CHECK(std::string(changed.content, changed.size) == "five");
  CHECK(std::string(first.content, first.size) == "four");
  CHECK(std::string(changed.content + changed.size, 64) == std::string(64, '\0'));

  const Variable full("MUSTER_TEST_FULL", "value");
  const char *value = nullptr, *again = nullptr;
  REQUIRE(environment()->get_variable(world.call(), "MUSTER_TEST_FULL", &value, nullptr) ==
          MUSTER_OK);
  REQUIRE(environment()->get_variable(world.call(), "MUSTER_TEST_FULL", &again, nullptr) ==
          MUSTER_OK);
  CHECK(value == again);
}

TEST_CASE("a file in the home folder is found by ~/") {
  const Folder folder;
  folder.write("config", "x");
  const Variable home("HOME", folder.path(""));
  World world;
  CHECK(Read(world, "~/config").code == MUSTER_OK);
  const Read missing(world, "~/none");
  CHECK(missing.code == MUSTER_E_NOT_FOUND);
  CHECK(contains(missing.error.error.message, folder.path("")));
}

TEST_CASE("a file that is not there is told with the folder that is") {
  const Folder folder;
  World world;
  const Read read(world, folder.path("deep/er/file"));
  CHECK(read.code == MUSTER_E_NOT_FOUND);
  CHECK(read.error.error.message ==
        "'" + folder.path("deep/er/file") + "' does not exist; of its folders only '" +
            folder.path("").substr(0, folder.path("").size() - 1) + "' is there");
  CHECK(read.error.error.detail("hint") != "");
}

TEST_CASE("a file longer than its maximum is refused, whatever size it tells") {
  const Folder folder;
  World world;
  CHECK(Read(world, folder.write("a", "12345"), 5).code == MUSTER_OK);
  CHECK(Read(world, folder.write("b", "123456"), 5).code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(Read(world, "/proc/self/status", 10).code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(Read(world, "/proc/self/status", 100000).code == MUSTER_OK);
}

TEST_CASE("a pipe, a folder and a device are refused without waiting for them") {
  const Folder folder;
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  World world;
  const Read pipe(world, folder.path("pipe"));
  CHECK(pipe.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(contains(pipe.error.error.message, "is a pipe, not a regular file"));
  CHECK(Read(world, folder.path("")).code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(Read(world, "/dev/zero").code == MUSTER_E_FAILED_PRECONDITION);
}

TEST_CASE("a file that may not be read is told with owner, mode and what to do" *
          doctest::skip(geteuid() == 0)) {
  const Folder folder;
  World world;
  chmod(folder.write("closed", "x").c_str(), 0);
  const Read read(world, folder.path("closed"));
  CHECK(read.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(contains(read.error.error.message, "mode 0000, owned by"));
  CHECK(read.error.error.detail("hint") != "");
}

TEST_CASE("a secret file shows up nowhere afterwards, with and without its newline") {
  const Folder folder;
  Lines lines;
  World world(Session::live(lines.log(), std::make_shared<Secrets>()));
  CHECK(Read(world, folder.write("token", "s3cr3t-token\n"), 1024, MUSTER_FILE_SECRET).code ==
        MUSTER_OK);
  CHECK(world.session().secrets().redact("Bearer s3cr3t-token!") == "Bearer REDACTED!");
}

TEST_CASE("secrets are hidden longest first, where they overlap, and in the forms they travel in") {
  Secrets secrets;
  secrets.add("abc");  // too short to be one
  CHECK(secrets.redact("abc") == "abc");
  secrets.add("token");
  secrets.add("token-of-ann");
  CHECK(secrets.redact("token-of-ann, token") == "REDACTED, REDACTED");
  secrets.add("annabel");
  CHECK(secrets.redact("<token-of-annabel>") == "<REDACTED>");
  secrets.add("pass word/+\"9\"");
  CHECK(secrets.redact("q=pass%20word%2F%2B%229%22&x") == "q=REDACTED&x");
  CHECK(secrets.redact(R"({"k":"pass word/+\"9\""})") == R"({"k":"REDACTED"})");
  CHECK(secrets.redact("a " + base64_encode("pass word/+\"9\"") + " b").find("a REDACTED") == 0);
  CHECK(secrets.redact("") == "");
}

TEST_CASE("of a secret that a quote was cut in its beginning is hidden too") {
  Secrets secrets;
  secrets.add("ya29.a0AfH6SMBx7");
  secrets.add("ya29.b1");
  CHECK(secrets.redact("it says 'Bearer ya29.a0AfH6SMBx…'") == "it says 'Bearer REDACTED…'");
  CHECK(secrets.redact("it says 'Bearer ya29.a0...") == "it says 'Bearer REDACTED...");
  CHECK(secrets.redact("ya29….ya29.b… and 'ya29.b1…'") == "REDACTED….REDACTED… and 'REDACTED…'");
  // Base64 of it, as Basic has it.
  CHECK(secrets.redact("eWEyOS5hMEFm…") == "REDACTED…");
  // What is no beginning of one, or too little to be known by, stays.
  CHECK(secrets.redact("ya29.a0 is fine…, ya2… and a29.a…") == "ya29.a0 is fine…, ya2… and a29.a…");
  CHECK(secrets.may_be_in("ya29…"));
}

TEST_CASE("secrets are hidden wherever they stand in a large text") {
  Secrets secrets;
  for (int i = 0; i < 5; ++i) secrets.add("secret-number-" + std::to_string(i));
  std::string text;
  while (text.size() < 200'000) text += "some text, secret-number-3, more text\n";
  const std::string hidden = secrets.redact(text);
  CHECK(hidden.find("secret-number") == std::string::npos);
}

TEST_CASE("base64 gives back any bytes and refuses what is none") {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "\xff\xfe\x00\x01"})
    CHECK(base64_decode(base64_encode(bytes)) == bytes);
  CHECK(base64_encode("foob") == "Zm9vYg==");
  for (const char* bad : {"Zm9vYg=", "Zm9vY", "Z", "====", "Zm9v=", "Zm9v!", "Zg==Zg=="})
    CHECK_FALSE(base64_decode(bad).has_value());
}

TEST_CASE("what is there and no file is told what it is") {
  const Folder folder;
  const std::string path = folder.path("socket");
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof name.sun_path);
  path.copy(name.sun_path, path.size());
  REQUIRE(bind(server, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  World world;
  const auto said = [&](const std::string& file) { return Read(world, file).error.error.message; };
  CHECK(said(path) == "'" + path + "' is a socket, not a regular file");
  CHECK(said("/proc/self") == "'/proc/self' is a directory, not a regular file");
  CHECK(said("/dev/zero") == "'/dev/zero' is a device, not a regular file");
  close(server);
}

TEST_CASE("a file that is not there is told alone when its folder is, and a file for a folder") {
  const Folder folder;
  const std::string plain = folder.write("plain", "x");
  World world;
  const auto said = [&](const std::string& file) { return Read(world, file).error.error.message; };
  CHECK(said(folder.path("none")) == "'" + folder.path("none") + "' does not exist");
  CHECK(said(plain + "/under") ==
        "'" + plain + "/under' does not exist: '" + plain + "' is not a folder");
  CHECK(said(folder.path(std::string(300, 'a'))).find("cannot be opened: File name too long") !=
        std::string::npos);
}

TEST_CASE("a name of a file that is none is refused") {
  World world;
  CHECK(Read(world, "").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(absolute_path("").error().message == "the name of a file to read is empty");
  CHECK(absolute_path(std::string("a\0b", 3)).error().message ==
        "the name of a file to read has a NUL in it");
}

TEST_CASE("a folder that may not be searched is told before the file in it" *
          doctest::skip(geteuid() == 0)) {
  const Folder folder;
  World world;
  REQUIRE(mkdir(folder.path("shut").c_str(), 0700) == 0);
  folder.write("shut/file", "x");
  chmod(folder.path("shut").c_str(), 0);
  const Read read(world, folder.path("shut/file"));
  chmod(folder.path("shut").c_str(), 0700);
  CHECK(read.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(contains(read.error.error.message,
                 "the folder '" + folder.path("shut") + "' (mode 0000, owned by '"));
}

TEST_CASE("each thing that a service needs may be missing by itself") {
  const Folder folder;
  const Variable variable("MUSTER_TEST_ONE", "x");
  const std::string file = folder.write("a", "x");
  World world;
  const muster_call_v1* call = world.call();
  const char* value = nullptr;
  muster_error error;

  const auto get = environment()->get_variable;
  CHECK(get(nullptr, "MUSTER_TEST_ONE", &value, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(get(call, nullptr, &value, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(get(call, "MUSTER_TEST_ONE", nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(get(call, "MUSTER_TEST_ONE", &value, nullptr) == MUSTER_OK);

  const auto read = [&](const muster_call_v1* by, const char* path, const char** content) {
    return environment()->read_file(by, path, 9, 0, content, nullptr, &error);
  };
  CHECK(read(nullptr, file.c_str(), &value) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(read(call, nullptr, &value) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(read(call, file.c_str(), nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(read(call, file.c_str(), &value) == MUSTER_OK);

  const auto* http = World::service<muster_http_v1>(MUSTER_HTTP_V1);
  muster_http_response_v1 response{};
  response.struct_size = sizeof response;
  CHECK(http->get_header(nullptr, "a", &value, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(http->get_header(&response, nullptr, &value, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(http->get_header(&response, "a", nullptr, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(http->get_header(&response, "a", &value, nullptr) == MUSTER_E_NOT_FOUND);
  CHECK(http->send(nullptr, nullptr, &response, &error) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(error.error.message == "send was called without a call");
  CHECK(http->send(call, nullptr, nullptr, &error) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(contains(error.error.message, "the response is NULL"));
  response.status = 200;
  http->release(nullptr, &response);
  http->release(call, nullptr);
  CHECK(response.status == 200);
  response.struct_size = 8;
  CHECK(http->get_header(&response, "a", &value, nullptr) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(http->send(call, nullptr, &response, &error) == MUSTER_E_INVALID_ARGUMENT);
  http->release(call, &response);
  CHECK(response.status == 200);
}

TEST_CASE("a host that is cut short or empty has no services, a detail without a key is none") {
  const Host host("probe", "cluster", "{}", nullptr, nullptr, nullptr);
  muster_host_v1 table = *host.table();
  CHECK(host.table()->get_service(&table, MUSTER_CLOCK_V1) != nullptr);
  table.struct_size = 8;
  CHECK(host.table()->get_service(&table, MUSTER_CLOCK_V1) == nullptr);
  table = *host.table();
  table.ctx = nullptr;
  CHECK(host.table()->get_service(&table, MUSTER_CLOCK_V1) == nullptr);
  muster_error error;
  host.table()->add_detail(&error, "", "v", 1);
  CHECK(error.error.details.empty());
}
