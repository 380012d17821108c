// The template in C, as a stranger uses it: copied out of the tree, built by the line of its README, found, described, asked.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The line of the README that begins with "cc", with the header's folder put in.
std::string build_line() {
  std::istringstream readme(read_file(std::string(TEMPLATE) + "/README.md"));
  for (std::string line; std::getline(readme, line);) {
    if (!line.starts_with("cc ")) continue;
    const std::string include = "../../include";
    const size_t at = line.find(include);
    REQUIRE(at != std::string::npos);
    return line.replace(at, include.size(), std::string("'") + TEMPLATE + "/../../include'");
  }
  FAIL("the README has no build line");
  return "";
}

struct Stranger {
  Stranger() {
    std::filesystem::copy(TEMPLATE, dir.path(), std::filesystem::copy_options::recursive);
    const int status = std::system(("cd '" + dir.path() + "' && " + build_line()).c_str());
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    found.emplace(find_plugin(dir.search(), "roster"));
    if (!found->ok()) FAIL(found->error().message);
  }
  BackendOutcome ask(const std::string& roster) {
    ResolverConfig config;
    config.path = "cluster";
    config.backend = "roster";
    config.options_json = "{\"path\": \"" + dir.write("roster.txt", roster) +
                          "\", \"identity_variable\": \"ROSTER_SELF\"}";
    auto library = load_plugin(**found, *lines.log());
    REQUIRE(library.ok());
    auto secrets = std::make_shared<Secrets>();
    auto backend = Backend::create(*library, config, lines.log(), secrets, nullptr);
    REQUIRE(backend.ok());
    return (*backend)->resolve(Session::live(lines.log(), secrets), monotonic_ns() + 20'000'000'000,
                               CancelToken());
  }

  PluginDir dir;
  Lines lines;
  std::optional<Result<FoundPlugin>> found;
};

}  // namespace

TEST_CASE("a backend made of the template alone is built by one line, found, described and asked") {
  Stranger stranger;
  const FoundPlugin& found = **stranger.found;
  CHECK(found.descriptor.name == "roster");
  CHECK(has(found.descriptor.options_schema, "\"required\":[\"path\"]"));
  for (const std::string& library : found.needed) CHECK(library == "libc.so.6");

  ::setenv("ROSTER_SELF", "node-b", 1);
  const BackendOutcome outcome = stranger.ask(read_file(std::string(TEMPLATE) + "/members.txt"));

  if (!outcome.answer) FAIL(outcome.answer.error().message);
  const BackendAnswer& answer = *outcome.answer;
  REQUIRE(answer.spec.jobs().size() == 2);
  CHECK(answer.spec.task_address("worker", 0)->to_string() == "10.0.0.1:8470");
  CHECK(answer.spec.task_address("worker", 1)->to_string() == "[fd00::2]:8470");
  CHECK(answer.spec.task_address("ps", 0)->to_string() == "ps-0.example.com:8470");
  REQUIRE(answer.jobs.size() == 1);
  CHECK(answer.jobs[0].missing[0].name == "node-c");
  CHECK(answer.jobs[0].missing[0].reason == "powered off since Monday");
  CHECK(answer.identity.type == "worker");
  CHECK(answer.identity.index == 1);
  CHECK(answer.identity.evidence == std::vector<std::string>{"ROSTER_SELF is 'node-b'"});
}

TEST_CASE("what is wrong with a roster is told with its line") {
  Stranger stranger;
  const auto message = [&](const std::string& roster) {
    const BackendOutcome outcome = stranger.ask(roster);
    REQUIRE_FALSE(outcome.answer.ok());
    return outcome.answer.error().message;
  };
  CHECK(has(message("worker 0 a a:1\nworker x b b:1\n"),
            "/roster.txt:2: the index is not a number from 0; write 'job index name address'"));
  CHECK(has(message("worker 0 a"), "/roster.txt:1: there is no address"));
  CHECK(has(message("worker 0 a a:1\nworker 0 b b:1"), "job 'worker' has two tasks with index 0"));
  CHECK(has(
      message("worker 0 a nowhere"),
      "/roster.txt:1: 'nowhere' is not an address: it has no port, as in 'nowhere:8470'; write"));
}
