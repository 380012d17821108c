// Finding plugins, and the story when it fails: core/plugin/finder.h. No plugin is loaded; the files have no code.
#include "core/plugin/finder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/loader/plugin_dir.h"
#include "tests/unit/elf_builder.h"

using namespace muster;
using muster::test::ElfBuilder;
using muster::test::PluginDir;

namespace {

bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

PluginSearch search_in(std::initializer_list<std::string> directories) {
  PluginSearch search;
  for (const std::string& directory : directories)
    search.places.push_back({"plugins.search", directory, ""});
  return search;
}

Error error_of(const PluginSearch& search, const std::string& name) {
  const Result<FoundPlugin> found = find_plugin(search, name);
  REQUIRE_FALSE(found.ok());
  return found.error();
}

SearchWorld world_of(const std::map<std::string, std::string>& variables, bool secure = false) {
  SearchWorld world;
  world.variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  world.secure = secure;
  world.installed = "/usr/lib/muster/plugins";
  return world;
}

std::string told(const PluginSearch& search) {
  std::string text;
  for (const SearchPlace& place : search.places)
    text += place.origin + "|" + place.directory + "|" + place.note + "\n";
  return text;
}

}  // namespace

TEST_CASE("the places stand in order, each with the reason why it is not looked in") {
  CHECK(told(search_places_in(world_of({{"HOME", "/home/u"}}), {}, {}, {})) ==
        "--plugin-dir||none given\n"
        "MUSTER_PLUGIN_PATH||unset\n"
        "plugins.search||none given\n"
        "user|/home/u/.local/share/muster/plugins|\n"
        "site|/usr/local/lib/muster/plugins|\n"
        "installed|/usr/lib/muster/plugins|\n");
  CHECK(told(search_places_in(
            world_of({{"MUSTER_PLUGIN_PATH", "/a/:rel::/b"}, {"XDG_DATA_HOME", "/data"}}),
            {"/flag"}, {"/c", "/d"}, {})) ==
        "--plugin-dir|/flag|\n"
        "MUSTER_PLUGIN_PATH|/a|\n"
        "MUSTER_PLUGIN_PATH|rel|ignored: not an absolute path\n"
        "MUSTER_PLUGIN_PATH||ignored: an empty element\n"
        "MUSTER_PLUGIN_PATH|/b|\n"
        "plugins.search|/c|\n"
        "plugins.search|/d|\n"
        "user|/data/muster/plugins|\n"
        "site|/usr/local/lib/muster/plugins|\n"
        "installed|/usr/lib/muster/plugins|\n");
}

TEST_CASE(
    "a program with raised privileges listens to neither its environment nor its user's "
    "directory") {
  const PluginSearch search = search_places_in(
      world_of({{"MUSTER_PLUGIN_PATH", "/a"}, {"HOME", "/home/u"}, {"XDG_DATA_HOME", "/x"}}, true),
      {}, {"/c"}, {});
  CHECK(told(search) ==
        "--plugin-dir||none given\n"
        "MUSTER_PLUGIN_PATH||ignored: this program runs with raised privileges (AT_SECURE)\n"
        "plugins.search|/c|\n"
        "user||ignored: this program runs with raised privileges (AT_SECURE)\n"
        "site|/usr/local/lib/muster/plugins|\n"
        "installed|/usr/lib/muster/plugins|\n");
}

TEST_CASE("what somebody said and does not count is marked, whatever the note's words are") {
  const auto ignored = [](const PluginSearch& search) {
    std::vector<std::string> notes;
    for (const SearchPlace& place : search.places)
      if (place.ignored) notes.push_back(place.origin + "|" + place.note);
    return notes;
  };
  CHECK(ignored(search_places_in(world_of({{"MUSTER_PLUGIN_PATH", "/a/:rel::/b"}}), {"", "/flag"},
                                 {""}, {})) ==
        std::vector<std::string>{"--plugin-dir|ignored: an empty name",
                                 "MUSTER_PLUGIN_PATH|ignored: not an absolute path",
                                 "MUSTER_PLUGIN_PATH|ignored: an empty element",
                                 "plugins.search|ignored: an empty name"});
  const std::string secure = "ignored: this program runs with raised privileges (AT_SECURE)";
  CHECK(ignored(search_places_in(
            world_of({{"MUSTER_PLUGIN_PATH", "/a"}, {"HOME", "/home/u"}}, true), {}, {}, {})) ==
        std::vector<std::string>{"MUSTER_PLUGIN_PATH|" + secure, "user|" + secure});
  CHECK(ignored(search_places_in(world_of({{"HOME", "relative"}}), {}, {}, {})).empty());
}

TEST_CASE("a plugin that is there is found with its descriptor, and none of its code ran") {
  PluginDir dir;
  const std::string file = dir.write("libmuster-gce.so", ElfBuilder::plugin("gce"));

  const Result<FoundPlugin> found = find_plugin(dir.search(), "gce");

  REQUIRE(found.ok());
  CHECK(found->path == file);
  CHECK(found->descriptor.name == "gce");
  CHECK(found->origin == "--plugin-dir");
  CHECK(found->shadowed.empty());
}

TEST_CASE("a plugin that is nowhere: the cause, every place with its reason, what to do") {
  PluginDir dir;
  dir.write("libmuster-gce.so", ElfBuilder::plugin("gce"));
  dir.write("file", "");
  PluginSearch search = search_in({dir.path(), dir.path() + "/no", dir.path() + "/file"});
  search.places.insert(search.places.begin(), {"MUSTER_PLUGIN_PATH", "", "unset"});

  const Error error = error_of(search, "gke");

  CHECK(error.code == Code::kNotFound);
  CHECK(error.message ==
        "cannot find plugin 'gke': no place has 'libmuster-gke.so'\n"
        "  looked in, in order:\n"
        "    MUSTER_PLUGIN_PATH  unset\n"
        "    plugins.search      '" +
            dir.path() +
            "': no such file\n"
            "    plugins.search      '" +
            dir.path() +
            "/no': does not exist\n"
            "    plugins.search      '" +
            dir.path() +
            "/file': not a directory\n"
            "  try: did you mean 'gce'? `muster plugins list` shows what is there; name the "
            "directory of another plugin with "
            "--plugin-dir, MUSTER_PLUGIN_PATH or, in the config, plugins.search");
}

TEST_CASE("a name that no backend can have is refused before any place is looked in") {
  for (const std::string name : {"", "GCE", "../x", "a b", "gce-2", "0x", "a/b"}) {
    const Error error = error_of({}, name);
    CHECK(error.code == Code::kInvalidArgument);
    CHECK(
        has(error.message,
            "'" + name + "' is not the name of a backend: a backend's name is lower-case letters"));
  }
}

TEST_CASE("the first place wins and the later files are told as shadowed") {
  PluginDir first, second;
  first.write("libmuster-gce.so", ElfBuilder::plugin("gce"));
  const std::string later = second.write("libmuster-gce.so", ElfBuilder::plugin("gce"));

  const Result<FoundPlugin> found =
      find_plugin(search_in({first.path(), second.path(), first.path()}), "gce");

  REQUIRE(found.ok());
  CHECK(found->path == first.file("gce"));
  CHECK(found->shadowed == std::vector<std::string>{later});
}

TEST_CASE("a wrong file in an earlier place is not passed over for a right one behind it") {
  PluginDir first, second;
  first.write("libmuster-gce.so",
              "not ELF, long enough to be looked at: ..............................");
  second.write("libmuster-gce.so", ElfBuilder::plugin("gce"));

  const Error error = error_of(search_in({first.path(), second.path()}), "gce");

  CHECK(error.code == Code::kInvalidArgument);
  CHECK(error.message ==
        "cannot use plugin 'gce': '" + first.file("gce") +
            "' is not a shared object that muster can load: it is not an ELF file\n"
            "  looked in, in order:\n"
            "    plugins.search  '" +
            first.path() +
            "': has 'libmuster-gce.so', which decides\n"
            "    plugins.search  '" +
            second.path() + "': has 'libmuster-gce.so' too, shadowed by '" + first.file("gce") +
            "'\n"
            "  try: install a build of it for this machine");
}

TEST_CASE("a file that others can write is not trusted, and the chmod that mends it is told") {
  PluginDir dir;
  const std::string file = dir.write("libmuster-gce.so", ElfBuilder::plugin("gce"));
  ::chmod(file.c_str(), 0664);

  const Error error = error_of(dir.search(), "gce");

  CHECK(error.code == Code::kPermissionDenied);
  CHECK(has(error.message, "cannot use plugin 'gce': file '" + file +
                               "' is not trusted: its group can write it (owner "));
  CHECK(has(error.message, "mode 0664)"));
  CHECK(has(error.message, "\n  try: chmod g-w " + file));
  ::chmod(file.c_str(), 0646);
  CHECK(has(error_of(dir.search(), "gce").message, "all others can write it"));
}

TEST_CASE("a directory above it that others can write is as bad, wherever it stands") {
  PluginDir dir;
  dir.write("a/b/libmuster-gce.so", ElfBuilder::plugin("gce"));
  ::chmod((dir.path() + "/a").c_str(), 0777);

  const Error error = error_of(search_in({dir.path() + "/a/b"}), "gce");

  CHECK(error.code == Code::kPermissionDenied);
  CHECK(has(error.message, "directory '" + dir.path() +
                               "/a' is not trusted: its group and all others can write it"));
  CHECK(has(error.message, "try: chmod go-w " + dir.path() + "/a"));

  ::chmod((dir.path() + "/a").c_str(), 01777);  // sticky: others cannot replace what is ours
  CHECK(find_plugin(search_in({dir.path() + "/a/b"}), "gce").ok());
}

TEST_CASE("a symbolic link is followed to its end, and every directory on the way counts") {
  PluginDir links, files;
  files.write("open/libmuster-gce.so", ElfBuilder::plugin("gce"));
  std::filesystem::create_symlink(
      "../" + std::filesystem::path(files.path()).filename().string() + "/open/libmuster-gce.so",
      links.file("gce"));

  const Result<FoundPlugin> found = find_plugin(links.search(), "gce");
  REQUIRE(found.ok());
  CHECK(found->path == files.path() + "/open/libmuster-gce.so");

  ::chmod((files.path() + "/open").c_str(), 0775);
  CHECK(has(error_of(links.search(), "gce").message,
            "directory '" + files.path() + "/open' is not trusted"));
}

TEST_CASE("links that lead nowhere or in a circle are told, not followed for ever") {
  PluginDir dir;
  std::filesystem::create_symlink("gone.so", dir.file("gone"));
  CHECK(has(error_of(dir.search(), "gone").message,
            "cannot look at '" + dir.path() + "/gone.so': No such file or directory"));
  std::filesystem::create_symlink("libmuster-circle.so", dir.file("circle"));
  CHECK(has(error_of(dir.search(), "circle").message, "Too many levels of symbolic links"));
}

TEST_CASE("a file of another user is not trusted" * doctest::skip(::geteuid() != 0)) {
  PluginDir dir;
  const std::string file = dir.write("libmuster-gce.so", ElfBuilder::plugin("gce"));
  REQUIRE(::chown(file.c_str(), 12345, 0) == 0);

  const Error error = error_of(dir.search(), "gce");

  CHECK(error.code == Code::kPermissionDenied);
  CHECK(has(error.message, "it belongs to another user than root (owner 12345, mode 0644)"));
  CHECK(has(error.message, "try: chown 0 " + file));
}

TEST_CASE("a pinned file must have the pinned hash") {
  PluginDir dir;
  dir.write("libmuster-gce.so", ElfBuilder::plugin("gce"));
  const Result<FoundPlugin> by_path = inspect_plugin(dir.file("gce"));
  REQUIRE(by_path.ok());
  CHECK(by_path->sha256.size() == 64);

  PluginSearch search = dir.search();
  search.sha256["gce"] = by_path->sha256;
  CHECK(find_plugin(search, "gce").ok());

  search.sha256["gce"] = std::string(64, 'A');
  const Error error = error_of(search, "gce");
  CHECK(error.code == Code::kPermissionDenied);
  CHECK(has(error.message, "is not the file that plugins.sha256 pins: its SHA-256 is " +
                               by_path->sha256 + ", pinned is " + std::string(64, 'a')));
}

TEST_CASE("a file without a descriptor is not a muster plugin") {
  PluginDir dir;
  dir.write("libmuster-gce.so", ElfBuilder().symbol("muster_plugin_entry_v1").bytes());
  const Error error = error_of(dir.search(), "gce");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(error.detail("duty") == "MP-2");
  CHECK(has(error.message,
            "is not a muster plugin: it has no descriptor (section '.muster.descriptor') (MP-2)"));
}

TEST_CASE("a plugin for another major of the ABI says which one it is for") {
  PluginDir dir;
  dir.write("libmuster-gce.so", ElfBuilder::plugin("gce", R"({"major": 2, "minor": 3})"));
  CHECK(has(error_of(dir.search(), "gce").message,
            "is built for plugin ABI 2.3; this muster takes 1.x (MP-2)"));
  dir.write("libmuster-new.so", ElfBuilder::plugin("new", R"({"major": 1, "minor": 9})"));
  CHECK(find_plugin(dir.search(), "new").ok());
}

TEST_CASE("the file's name and the descriptor's agree, and the entry is exported") {
  PluginDir dir;
  dir.write("libmuster-gce.so", ElfBuilder::plugin("gke"));
  CHECK(has(error_of(dir.search(), "gce").message,
            "holds backend 'gke' by its descriptor, but 'gce' by its file name (MP-2)"));
  dir.write("libmuster-no.so",
            ElfBuilder()
                .descriptor(R"({"name": "no", "version": "1", "abi": {"major": 1, "minor": 0}})")
                .bytes());
  CHECK(
      has(error_of(dir.search(), "no").message, "does not export 'muster_plugin_entry_v1' (MP-1)"));
}

TEST_CASE("a pipe or a directory of a plugin's name does not hang the search") {
  PluginDir dir;
  REQUIRE(::mkfifo(dir.file("pipe").c_str(), 0600) == 0);
  CHECK(
      has(error_of(dir.search(), "pipe").message, "a device, pipe or socket, not a regular file"));
  std::filesystem::create_directory(dir.file("folder"));
  CHECK(has(error_of(dir.search(), "folder").message, "is a directory, not a regular file"));
}

TEST_CASE(
    "the list shows what is there, usable or not, and the core's own libraries are not in it") {
  PluginDir first, second;
  first.write("libmuster-b.so", ElfBuilder::plugin("b"));
  first.write("libmuster-a.so", "junk");
  first.write("libmuster-http.so", ElfBuilder().symbol("muster_service_entry_v1").bytes());
  first.write("libother.so", ElfBuilder::plugin("other"));
  second.write("libmuster-b.so", ElfBuilder::plugin("b"));

  const std::vector<ListedPlugin> list =
      list_plugins(search_in({first.path(), second.path(), first.path()}));

  REQUIRE(list.size() == 3);
  CHECK(list[0].name == "a");
  CHECK_FALSE(list[0].usable);
  CHECK(has(list[0].reason, "it has only 4 bytes"));
  CHECK(list[1].name == "b");
  CHECK(list[1].usable);
  CHECK(list[1].reason == "");
  CHECK(list[2].path == second.file("b"));
  CHECK_FALSE(list[2].usable);
  CHECK(list[2].reason == "shadowed by '" + first.file("b") + "'");
}

TEST_CASE("the core finds its own library, and does not take it for a backend") {
  PluginDir dir;
  const std::string file =
      dir.write("libmuster-http.so", ElfBuilder().symbol("muster_service_entry_v1").bytes());
  const Result<std::string> found = find_service_library(dir.search(), "http");
  REQUIRE(found.ok());
  CHECK(*found == file);
  CHECK(has(error_of(dir.search(), "http").message, "is a part of muster itself, not a backend"));
  const Result<std::string> none = find_service_library(dir.search(), "grpc");
  REQUIRE_FALSE(none.ok());
  CHECK(has(none.error().message, "cannot find muster's own library 'libmuster-grpc.so'"));
}
