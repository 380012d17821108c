// Loading a plugin that is wrong in one thing.
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/plugin/library.h"
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

// The error of loading a variant of plugins/odd.c.
Error refusal(const std::string& variant) {
  World world("odd-" + variant, "odd");
  Result<std::shared_ptr<const PluginLibrary>> library = world.load();
  REQUIRE_FALSE(library.ok());
  return std::move(library).error();
}

void check(const Error& error, Code code, const std::string& duty, const std::string& part) {
  CHECK(error.code == code);
  CHECK(error.detail("duty") == duty);
  CHECK(error.detail("plugin") == "odd");
  CHECK(has(error.message, part));
}

}  // namespace

TEST_CASE("a right plugin loads, and resolves") {
  World world("odd-right", "odd");
  const Result<BackendAnswer> answer = world.answer();
  REQUIRE(answer.ok());
  CHECK(answer->spec.task_count() == 1);
}

TEST_CASE("a plugin of a later minor, with a longer table, loads and resolves") {
  World world("odd-higher_minor", "odd");
  CHECK(world.answer().ok());
}

TEST_CASE("a plugin that is compiled with a later header than it needs is loaded") {
  World world("odd-lower_minor", "odd");
  CHECK(world.answer().ok());
}

TEST_CASE("a table that ends after resolve loads; what lies behind its end is not read") {
  World world("odd-short_table", "odd");
  const auto library = world.load();
  REQUIRE(library.ok());
  CHECK_FALSE((*library)->can_interrupt());
  CHECK((*library)->table().get_extension("muster.watch/1") == nullptr);
  CHECK(world.answer().ok());
}

TEST_CASE("each wrong table is refused with its duty") {
  check(refusal("other_major"), Code::kInvalidArgument, "MP-3",
        "its table says plugin ABI 2.0; this muster takes 1.x (MP-3)");
  check(refusal("too_short_table"), Code::kInvalidArgument, "MP-3",
        "up to 'resolve' it must have 56 (MP-3)");
  check(refusal("no_size"), Code::kInvalidArgument, "MP-3",
        "the struct_size of its table is 0; it must be sizeof(muster_plugin_v1) (MP-3)");
  check(refusal("no_resolve"), Code::kInvalidArgument, "MP-3", "its table has no 'resolve' (MP-3)");
  check(refusal("other_name"), Code::kInvalidArgument, "MP-2",
        "its table says name 'even', its descriptor 'odd' (MP-2)");
  check(refusal("no_name"), Code::kInvalidArgument, "MP-2",
        "its table says name '', its descriptor 'odd' (MP-2)");
  check(refusal("other_version"), Code::kInvalidArgument, "MP-2",
        "its table says version '1.0.1', its descriptor '1.0.0' (MP-2)");
  check(refusal("needs_more_than_its_table"), Code::kInvalidArgument, "MP-2",
        "its descriptor needs plugin ABI 1.1, and its table is one of 1.0 (MP-2)");
}

TEST_CASE("a file that is wrong before it is loaded is told so") {
  check(refusal("no_descriptor"), Code::kInvalidArgument, "MP-2",
        "is not a muster plugin: it has no descriptor");
  check(refusal("no_entry"), Code::kInvalidArgument, "MP-1",
        "does not export 'muster_plugin_entry_v1' (MP-1)");
  check(refusal("bad_descriptor"), Code::kInvalidArgument, "MP-2",
        "the descriptor is wrong: it is not JSON: line 1, column 10");
}

TEST_CASE("a plugin that says it cannot run here is quoted") {
  const Error error = refusal("refuses");
  CHECK(error.code == Code::kFailedPrecondition);
  CHECK(has(error.message, "says that it cannot run in this host: "));
  CHECK(has(error.message, "no accelerator in this machine"));
}

TEST_CASE("an exception out of the entry is told, and stops nothing") {
  World world("throws-entry", "throws");
  const auto library = world.load();
  REQUIRE_FALSE(library.ok());
  CHECK(library.error().detail("duty") == "MP-13");
  CHECK(has(library.error().message,
            "its entry failed: a C++ exception left it: 'from the entry' (MP-13)"));
}

TEST_CASE("a file is loaded once, from many threads too") {
  World world("odd-right", "odd");
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const PluginLibrary>> libraries(8);
  threads.reserve(libraries.size());
  for (auto& library : libraries) {
    threads.emplace_back([&library, &world] {
      auto loaded = world.load();
      if (loaded) library = *loaded;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& library : libraries) {
    CHECK(library != nullptr);
    CHECK(library == libraries[0]);
  }
}

TEST_CASE("a file that is replaced between the check and the load is refused") {
  World world("odd-right", "odd");
  const Result<FoundPlugin> found = find_plugin(world.dir.search(), "odd");
  REQUIRE(found.ok());
  std::filesystem::remove(found->path);
  world.dir.add(std::string(PLUGINS) + "/libodd-other_version.so", "odd");
  const auto library = load_plugin(*found, *world.lines.log());
  REQUIRE_FALSE(library.ok());
  CHECK(library.error().code == Code::kFailedPrecondition);
  CHECK(has(library.error().message, "was replaced between being checked and being loaded"));
}

TEST_CASE("one that is replaced by a file of the same size and time, or grows, is refused too") {
  World world("odd-right", "odd");
  const Result<FoundPlugin> found = find_plugin(world.dir.search(), "odd");
  REQUIRE(found.ok());
  const auto time = std::filesystem::last_write_time(found->path);
  const std::string copy = world.dir.path() + "/copy";
  std::filesystem::copy_file(found->path, copy);
  std::filesystem::last_write_time(copy, time);
  std::filesystem::rename(copy, found->path);
  CHECK_FALSE(load_plugin(*found, *world.lines.log()).ok());

  const Result<FoundPlugin> again = find_plugin(world.dir.search(), "odd");
  REQUIRE(again.ok());
  std::ofstream(again->path, std::ios::app) << "and more";
  std::filesystem::last_write_time(again->path, time);
  CHECK_FALSE(load_plugin(*again, *world.lines.log()).ok());
}

TEST_CASE("a file that is replaced after it was loaded needs a new process") {
  World world("odd-right", "odd");
  REQUIRE(world.load().ok());
  std::filesystem::remove(world.dir.file("odd"));
  world.dir.add(std::string(PLUGINS) + "/libodd-higher_minor.so", "odd");
  const auto library = world.load();
  REQUIRE_FALSE(library.ok());
  CHECK(has(library.error().message,
            "was replaced since this process loaded version 1.0.0 of it, and a plugin is never "
            "unloaded (MC-6)"));
}

TEST_CASE("what the loader says is told in its own words") {
  World world("odd-right", "odd");
  // Whole for its headers, but without most of what they speak of.
  const Result<FoundPlugin> before = find_plugin(world.dir.search(), "odd");
  REQUIRE(before.ok());
  const std::string path = world.dir.file("odd");
  std::filesystem::remove(path);
  world.dir.write("libmuster-odd.so", "\177ELF junk that no loader takes");
  FoundPlugin forged = *before;  // as if the check had passed
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  forged.inode = status.st_ino;
  forged.size = status.st_size;
  forged.modified_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const auto library = load_plugin(forged, *world.lines.log());
  REQUIRE_FALSE(library.ok());
  CHECK(has(library.error().message, "cannot be loaded: the loader says: " + path + ": "));
}
