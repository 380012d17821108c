// muster.address/1: what the sink takes for an address, asked before it is pushed.
#include "core/spec/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/service/services.h"

namespace muster {
namespace {

// Copies what fits, never half a character, and ends it with NUL.
void give_reason(const std::string& text, char* reason, uint64_t reason_size) {
  if (reason == nullptr || reason_size == 0) return;
  size_t size = std::min<size_t>(text.size(), reason_size - 1);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    --size;
  std::memcpy(reason, text.data(), size);
  reason[size] = '\0';
}

int32_t check(const char* address, uint64_t address_size, int64_t port, char* reason,
              uint64_t reason_size) {
  give_reason("", reason, reason_size);
  return guarded(nullptr, [&]() -> int32_t {
    std::string_view text;
    if (address != nullptr)
      text = address_size == MUSTER_NUL_TERMINATED ? std::string_view(address)
                                                   : std::string_view(address, address_size);
    Status status;
    if (port < 0 || port > 65535) {
      status =
          Error{Code::kInvalidArgument,
                fmt::format("port {} is not 1 to 65535, or 0 for the one in the address", port),
                {}};
    } else {
      const Result<Address> parsed =
          port == 0 ? Address::parse(text) : Address::from_host(text, port);
      if (!parsed) status = parsed.error();
    }
    if (status) return MUSTER_OK;
    give_reason(status.error().message, reason, reason_size);
    return MUSTER_E_INVALID_ARGUMENT;
  });
}

}  // namespace

const muster_address_v1* address_table() {
  static const muster_address_v1 table = {sizeof(muster_address_v1), check};
  return &table;
}

}  // namespace muster
