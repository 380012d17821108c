// Gives each file of a folder to a fuzz target once: the stored corpus as an ordinary test.
//
// usage: fuzz_NAME FOLDER_OR_FILE...

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

int count = 0;

bool replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  // A vector of just this size, so that a sanitizer sees the first byte read past its end.
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
    return false;
  }
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  ++count;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    if (!std::filesystem::is_directory(argv[i], error)) {
      if (!replay(argv[i])) return 1;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file() && !replay(entry.path())) return 1;
    }
  }
  std::printf("%d inputs replayed\n", count);
  // An empty folder is a wrong path or a lost corpus.
  return count > 0 ? 0 : 1;
}
