// The texts of errors are an interface: each file NAME.yaml of tests/unit/golden/config says in NAME.txt how its errors
// read. MUSTER_WRITE_GOLDEN=1 writes them anew, for a reviewer to read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/config_world.h"

using namespace muster;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("each wrong configuration is told with the words that were reviewed") {
  ConfigWorld world;
  world.set("WORD", "never-shown").set("EMPTY", "");
  world.failing_backend(
      "untrusted", Code::kPermissionDenied,
      "the plugin '/opt/x/libmuster-untrusted.so' is not trusted: the group may write it (mode "
      "0775)\nTry: chmod g-w /opt/x/libmuster-untrusted.so");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_UNIT_GOLDEN "/config")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 20);
  for (const auto& file : files) {
    CAPTURE(file.filename().string());
    const std::string message = world.error(read(file)) + "\n";
    CHECK(message.size() > 1);
    CHECK_FALSE(has(message, "never-shown"));
    CHECK_FALSE(has(message, "hunter"));
    std::filesystem::path golden = file;
    golden.replace_extension(".txt");
    if (std::getenv("MUSTER_WRITE_GOLDEN") != nullptr)
      std::ofstream(golden, std::ios::binary) << message;
    CHECK(message == read(golden));
  }
}
