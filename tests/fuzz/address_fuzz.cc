// Any text is an address or an error that says why; an address comes back from its own text.
#include <cstdlib>
#include <string_view>

#include "core/spec/address.h"
#include "core/spec/cluster_spec.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto address = muster::Address::parse(text);
  muster::Address quick;
  require(muster::Address::try_parse(text, quick) == address.ok());
  if (!address) {
    require(!address.error().message.empty() && muster::is_valid_text(address.error().message));
  } else {
    require(*address == quick && address->port() != 0 && !address->host().empty());
    const auto again = muster::Address::parse(address->to_string());
    require(again.ok() && *again == *address);
    const auto from_host = muster::Address::from_host(address->host(), address->port());
    require(from_host.ok() && *from_host == *address);
  }
  require(muster::natural_compare(text, text) == 0);
  if (size > 1) {
    const auto a = text.substr(0, size / 2);
    const auto b = text.substr(size / 2);
    const int order = muster::natural_compare(a, b);
    const int back = muster::natural_compare(b, a);
    require((order == 0) == (a == b) && (order < 0) == (back > 0) && (order > 0) == (back < 0));
  }
  return 0;
}
