// Compression of large answers.
#include "gzip.h"

#include <algorithm>
#include <array>
#include <limits>

#include <zlib.h>

namespace muster::sim {

std::string gzip(const std::vector<std::string_view>& slices) {
  z_stream stream{};
  constexpr int kGzipFormat = 15 + 16;
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out;
  std::array<char, 65536> buffer{};
  const auto run = [&](std::string_view piece, int flush) {
    // zlib never writes to its input, though its interface does not say so.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, flush);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (auto slice : slices) {
    while (!slice.empty()) {
      const auto piece = slice.substr(0, std::numeric_limits<uInt>::max() / 2);
      run(piece, Z_NO_FLUSH);
      slice.remove_prefix(piece.size());
    }
  }
  run({}, Z_FINISH);
  deflateEnd(&stream);
  return out;
}

}  // namespace muster::sim
