// Field numbers: generated.proto of k8s.io/api/core/v1, k8s.io/apimachinery pkg/apis/meta/v1 and pkg/runtime.
#include "plugins/kubernetes/pod_list_protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <vector>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

struct Misread : std::exception {
  explicit Misread(const char* words) : words(words) {}
  const char* what() const noexcept override { return words; }
  const char* words;
};

enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

constexpr std::ptrdiff_t kVarintMaximum = 10;  // bytes

// A number of seven bits a byte, least first, taken off the front; false, and nothing taken, when it does not end there.
bool take_varint(const char*& at, const char* end, uint64_t& out) {
  if (at != end && static_cast<signed char>(*at) >= 0) {
    out = static_cast<unsigned char>(*at++);
    return true;
  }
  uint64_t value = 0;
  const char* byte = at;
  for (unsigned shift = 0; byte != end && byte - at < kVarintMaximum; shift += 7) {
    const auto bits = static_cast<unsigned char>(*byte++);
    value |= uint64_t{bits & 0x7fU} << shift;
    if (bits < 0x80) {
      at = byte;
      out = value;
      return true;
    }
  }
  return false;
}

// One field of a message.
struct Field {
  uint32_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;      // of a varint
  std::string_view bytes;  // of a delimited one
};

bool is_number(uint64_t number) { return number != 0 && number < uint64_t{1} << 29; }

[[noreturn]] void misread(const char* words) { throw Misread(words); }

void expect(const Field& field, Type type) {
  if (field.type != type) misread("a field is of another type than Kubernetes has");
}

std::string_view bytes_of(const Field& field) {
  expect(field, Type::kDelimited);
  return field.bytes;
}

// Almost every text is; a longer one is looked at faster by others.
bool is_short_ascii(std::string_view text) {
  if (text.size() > 64) return false;
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  uint64_t eight = 0, wrong = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (; end - at >= 8; at += 8) {
    std::memcpy(&eight, at, 8);
    wrong |= eight | (eight - kOnes);  // of ASCII only a NUL borrows
  }
  for (; at != end; ++at) wrong |= static_cast<signed char>(*at) <= 0 ? kHigh : 0;
  return (wrong & kHigh) == 0;
}

// No name, address or reason has a NUL in it or is no UTF-8, and none may cross so (MP-4).
std::string_view text_of(const Field& field) {
  const std::string_view text = bytes_of(field);
  if (is_short_ascii(text)) return text;
  if (std::memchr(text.data(), 0, text.size()) != nullptr ||
      !simdjson::validate_utf8(text.data(), text.size()))
    throw Misread("a text is no UTF-8 or has a NUL");
  return text;
}

int64_t number_of(const Field& field) {
  expect(field, Type::kVarint);
  return static_cast<int64_t>(field.value);
}

// Calls `take(number, field)` for each field of a message.
template <typename Take>
void each_field(std::string_view message, const Take& take) {
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at != end) {
    uint64_t key = 0, value = 0;
    if (!take_varint(at, end, key) || !is_number(key >> 3U)) misread("a field has no number");
    Field field;
    field.number = static_cast<uint32_t>(key >> 3U);
    field.type = static_cast<Type>(key & 7U);
    switch (field.type) {
      case Type::kDelimited:
        if (!take_varint(at, end, value) || value > static_cast<uint64_t>(end - at))
          misread("a field is longer than the message it is in");
        field.bytes = {at, value};
        at += value;
        break;
      case Type::kVarint:
        if (!take_varint(at, end, field.value)) misread("a number does not end");
        break;
      case Type::kFixed64:
      case Type::kFixed32: {
        const std::ptrdiff_t size = field.type == Type::kFixed64 ? 8 : 4;
        if (end - at < size) misread("a field is longer than the message it is in");
        at += size;
        break;
      }
      default: misread("a field is of no type that there is");
    }
    take(field.number, field);
  }
}

// An entry of a map of texts.
struct Entry {
  std::string_view key, value;
};
Entry entry_of(const Field& map) {
  Entry entry;
  each_field(bytes_of(map), [&](uint32_t number, const Field& field) {
    if (number == 1) entry.key = text_of(field);
    if (number == 2) entry.value = text_of(field);
  });
  return entry;
}

// 0 for a Time without seconds, which is none.
int64_t time_of(const Field& time) {
  int64_t seconds = 0;
  each_field(bytes_of(time), [&](uint32_t number, const Field& field) {
    if (number == 1) seconds = number_of(field);
  });
  return seconds;
}

// One pod of a list.
class PodReader {
 public:
  PodReader(const Wanted& wanted, PodList& list, Pod& pod)
      : wanted_(wanted), list_(list), texts_(list.texts), pod_(pod) {}

  void read(std::string_view message) {
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 1: read_metadata(bytes_of(field)); break;
        case 2: read_spec(bytes_of(field)); break;
        case 3: read_status(bytes_of(field)); break;
        default: break;
      }
    });
  }

 private:
  void read_metadata(std::string_view message) {
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 1: pod_.name = texts_.add(text_of(field)); break;
        case 3: pod_.name_space = texts_.shared(text_of(field)); break;
        case 5: pod_.uid = texts_.add(text_of(field)); break;
        case 8: pod_.created = time_of(field); break;
        case 9: pod_.deleted = time_of(field); break;
        case 11: read_label(field); break;
        case 12: read_annotation(field); break;
        case 13: read_owner(bytes_of(field)); break;
        default: break;
      }
    });
  }

  void read_label(const Field& field) {
    const Entry entry = entry_of(field);
    take_label(pod_, texts_, entry.key, entry.value);
  }

  void read_annotation(const Field& field) {
    const Entry entry = entry_of(field);
    take_label(pod_, texts_, entry.key, entry.value);
    for (size_t n = 0; n < wanted_.annotations.size(); ++n) {
      if (wanted_.annotations[n] != entry.key) continue;
      if (annotations_ == nullptr)
        pod_.annotations = annotations_ = texts_.make<Text>(wanted_.annotations.size());
      annotations_[n] = texts_.add(entry.value);
    }
  }

  void read_owner(std::string_view message) {
    std::string_view kind, name, uid;
    bool controller = false;
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 1: kind = text_of(field); break;
        case 3: name = text_of(field); break;
        case 4: uid = text_of(field); break;
        case 6: controller = number_of(field) != 0; break;
        default: break;
      }
    });
    if (!controller) return;
    std::string owner(kind);
    pod_.owner = texts_.shared(owner.append("/").append(name));
    pod_.owner_uid = texts_.shared(uid);
  }

  void read_spec(std::string_view message) {
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 2: read_container(bytes_of(field)); break;
        case 7: read_node_label(field); break;
        case 10: pod_.node = texts_.shared(text_of(field)); break;
        case 11: pod_.host_network = number_of(field) != 0; break;
        case 16: pod_.hostname = texts_.add(text_of(field)); break;
        case 17: pod_.subdomain = texts_.shared(text_of(field)); break;
        default: break;
      }
    });
    if (ports_.empty()) return;
    auto* ports = texts_.make<ContainerPort>(ports_.size());
    std::copy(ports_.begin(), ports_.end(), ports);
    pod_.ports = ports;
    pod_.port_count = static_cast<uint16_t>(ports_.size());
  }

  void read_node_label(const Field& field) {
    const Entry entry = entry_of(field);
    take_node_label(pod_, texts_, entry.key, entry.value);
  }

  void read_container(std::string_view message) {
    each_field(message, [&](uint32_t number, const Field& field) {
      if (number == 6 && wanted_.ports) read_port(bytes_of(field));
      if (number == 8) read_resources(bytes_of(field));
    });
  }

  void read_port(std::string_view message) {
    std::string_view name;
    int64_t number = 0, host = 0;
    each_field(message, [&](uint32_t part, const Field& field) {
      switch (part) {
        case 1: name = text_of(field); break;
        case 2: host = number_of(field); break;
        case 3: number = number_of(field); break;
        default: break;
      }
    });
    if (number < 1 || number > 65535 || host < 0 || host > 65535)
      throw Misread("a container's port is none");
    ports_.push_back(
        {texts_.shared(name), static_cast<uint16_t>(number), static_cast<uint16_t>(host)});
  }

  void read_resources(std::string_view message) {
    constexpr uint32_t kLimits = 1;
    each_field(message, [&](uint32_t number, const Field& limits) {
      if (number == kLimits) read_limit(bytes_of(limits));
    });
  }

  void read_limit(std::string_view message) {
    std::string_view resource, quantity;
    each_field(message, [&](uint32_t number, const Field& field) {
      if (number == 1) resource = text_of(field);
      if (number != 2) return;
      each_field(bytes_of(field), [&](uint32_t inside, const Field& text) {
        if (inside == 1) quantity = text_of(text);
      });
    });
    if (!is_device(resource)) return;
    if (const auto count = support::parse_digits(quantity, 1000000))
      take_limit(pod_, resource, *count);
  }

  void read_status(std::string_view message) {
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 1: pod_.phase = parse_phase(text_of(field)); break;
        case 2: read_condition(bytes_of(field)); break;
        case 3: add_trouble(text_of(field), &Trouble::message); break;
        case 4: add_trouble(text_of(field), &Trouble::reason); break;
        case 5: pod_.host_ip = texts_.shared(text_of(field)); break;
        case 6: pod_.ip = texts_.add(text_of(field)); break;
        case 8: read_container_status(bytes_of(field), ContainerKind::kOwn); break;
        case 10: read_container_status(bytes_of(field), ContainerKind::kInitial); break;
        case 12: read_ip(bytes_of(field), pod_.ip, pod_.second_ip); break;
        case 16: read_ip(bytes_of(field), pod_.host_ip, pod_.second_host_ip); break;
        default: break;
      }
    });
  }

  void add_trouble(std::string_view text, Text Trouble::*field) {
    if (!text.empty()) list_.trouble_of(pod_).*field = texts_.add(text);
  }

  void read_ip(std::string_view message, Text& first, Text& second) {
    each_field(message, [&](uint32_t number, const Field& field) {
      if (number == 1) take_ip(first, second, texts_, text_of(field));
    });
  }

  void read_condition(std::string_view message) {
    std::string_view type, status, reason, words;
    int64_t since = 0;
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 1: type = text_of(field); break;
        case 2: status = text_of(field); break;
        case 4: since = time_of(field); break;
        case 5: reason = text_of(field); break;
        case 6: words = text_of(field); break;
        default: break;
      }
    });
    take_condition(pod_, list_, type, status, reason, words, since);
  }

  void read_container_status(std::string_view message, ContainerKind container) {
    each_field(message, [&](uint32_t number, const Field& field) {
      switch (number) {
        case 2: read_state(bytes_of(field), container, false); break;
        case 3: read_state(bytes_of(field), container, true); break;
        case 5: take_restarts(pod_, number_of(field)); break;
        default: break;
      }
    });
  }

  void read_state(std::string_view message, ContainerKind container, bool of_the_run_before) {
    each_field(message, [&](uint32_t kind, const Field& state) {
      const bool waiting = kind == 1, running = kind == 2, terminated = kind == 3;
      if (running && !of_the_run_before) take_running(pod_, container);
      if (!waiting && !terminated) return;
      std::string_view reason, words;
      int64_t exit_code = 0, finished = 0;
      each_field(bytes_of(state), [&](uint32_t number, const Field& field) {
        if (number == (waiting ? 1U : 3U)) reason = text_of(field);
        if (number == (waiting ? 2U : 4U)) words = text_of(field);
        if (terminated && number == 6) finished = time_of(field);
        if (terminated && number == 1) exit_code = number_of(field);
      });
      if (waiting) take_waiting(pod_, list_, reason, words);
      if (terminated) take_terminated(pod_, list_, reason, exit_code, of_the_run_before);
      if (terminated && !of_the_run_before) take_finished(pod_, container, exit_code, finished);
    });
  }

  const Wanted& wanted_;
  PodList& list_;
  TextArena& texts_;
  Pod& pod_;
  Text* annotations_ = nullptr;
  std::vector<ContainerPort> ports_;
};

std::string kind_of(std::string_view type_meta) {
  std::string kind;
  each_field(type_meta, [&](uint32_t number, const Field& field) {
    if (number == 2) kind = text_of(field);
  });
  return kind;
}

// The head of a field: its number, and how long its value is or, with type varint, what it is.
struct Head {
  uint64_t number = 0;
  Type type = Type::kVarint;
  uint64_t value = 0;
  size_t size = 0;  // of the head
};

// nullopt when it is not whole.
std::optional<Head> read_head(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  Head head;
  uint64_t key = 0;
  if (!take_varint(at, end, key) || !take_varint(at, end, head.value)) {
    if (end - at >= kVarintMaximum) misread("a number does not end");
    return std::nullopt;
  }
  head.number = key >> 3U;
  head.type = static_cast<Type>(key & 7U);
  head.size = static_cast<size_t>(at - bytes.data());
  return head;
}

constexpr uint64_t kTypeMeta = 1, kRaw = 2, kContentEncoding = 3;
constexpr uint64_t kListMeta = 1, kItems = 2;

}  // namespace

std::optional<size_t> ProtobufPodReader::take(std::string_view bytes, const Wanted& wanted,
                                              PodList& list) {
  const size_t all = bytes.size();
  if (place_ == Place::kMagic) {
    needed_ = kProtobufMagic.size();
    if (all < needed_) return 0;
    if (!bytes.starts_with(kProtobufMagic)) {
      why_ = "it does not begin as Kubernetes' protobuf does";
      return std::nullopt;
    }
    bytes.remove_prefix(kProtobufMagic.size());
    place_ = Place::kEnvelope;
  }
  try {
    while (!bytes.empty() && why_.empty()) {
      const auto taken = take_field(bytes, wanted, list);
      if (!taken) break;
      bytes.remove_prefix(*taken);
    }
  } catch (const Misread& error) {
    why_ = fmt::format("{} (after {} pods)", error.what(), list.pods.size());
  }
  if (!why_.empty()) return std::nullopt;
  return all - bytes.size();
}

// The size of the field at the front; nullopt when it is not all there yet.
std::optional<size_t> ProtobufPodReader::take_field(std::string_view bytes, const Wanted& wanted,
                                                    PodList& list) {
  const bool in_list = place_ == Place::kList;
  const auto head = read_head(bytes);
  if (!head) {
    if (in_list && bytes.size() >= left_) throw Misread("the list ends within a field");
    needed_ = bytes.size() + 1;
    return std::nullopt;
  }
  if (head->number == 0 || head->number >= (1U << 29U)) throw Misread("a field has no number");
  const bool delimited = head->type == Type::kDelimited;
  // The envelope and the list have no numbers of a fixed size; a varint was read with its head.
  if (!delimited && head->type != Type::kVarint)
    throw Misread("a field is of another type than Kubernetes has");
  const uint64_t value_size = delimited ? head->value : 0;
  if (in_list && (head->size > left_ || value_size > left_ - head->size))
    throw Misread("a field is longer than the list it is in");

  if (!in_list && head->number == kRaw) {
    if (!delimited || has_list_) throw Misread("the envelope has no list, or several");
    has_list_ = true;
    left_ = value_size;
    if (left_ != 0) place_ = Place::kList;
    return head->size;
  }
  if (value_size > bytes.size() - head->size) {
    needed_ = head->size + value_size;
    return std::nullopt;
  }
  const std::string_view value = bytes.substr(head->size, value_size);
  const size_t size = head->size + value.size();
  if (!in_list) {
    if (head->number == kTypeMeta && delimited) {
      if (const std::string kind = kind_of(value); kind != "PodList")
        throw Misread("it is something else than a PodList");
    }
    if (head->number == kContentEncoding && value_size != 0)
      throw Misread("its list is encoded in a way of its own");
    return size;
  }
  if ((head->number == kListMeta || head->number == kItems) && !delimited)
    throw Misread("a field is of another type than Kubernetes has");
  take_list_field(head->number, value, wanted, list);
  left_ -= size;
  if (left_ == 0) place_ = Place::kEnvelope;
  return size;
}

void ProtobufPodReader::take_list_field(uint64_t number, std::string_view value,
                                        const Wanted& wanted, PodList& list) {
  constexpr uint32_t kResourceVersion = 2, kContinue = 3;
  if (number == kListMeta) {
    each_field(value, [&](uint32_t inside, const Field& field) {
      if (inside == kResourceVersion) list.version = text_of(field);
      if (inside == kContinue) next_ = text_of(field);
    });
  } else if (number == kItems) {
    Pod& pod = list.pods.emplace_back();
    PodReader(wanted, list, pod).read(value);
    why_ = oddity(pod);
  }
}

bool ProtobufPodReader::whole() {
  if (!why_.empty()) return false;
  if (place_ == Place::kEnvelope && has_list_) return true;
  why_ = place_ == Place::kList ? "it ends within its list" : "it has no list";
  return false;
}

ApiStatus read_protobuf_status(std::string_view body) {
  if (!body.starts_with(kProtobufMagic)) return {};
  body.remove_prefix(kProtobufMagic.size());
  ApiStatus status;
  std::string kind;
  try {
    each_field(body, [&](uint32_t number, const Field& field) {
      if (number == kTypeMeta) kind = kind_of(bytes_of(field));
      if (number != kRaw) return;
      each_field(bytes_of(field), [&](uint32_t inside, const Field& text) {
        if (inside == 3) status.message = text_of(text);
        if (inside == 4) status.reason = text_of(text);
      });
    });
  } catch (const Misread&) {
    return {};
  }
  if (kind != "Status") return {};
  return status;
}

}  // namespace muster::kubernetes
