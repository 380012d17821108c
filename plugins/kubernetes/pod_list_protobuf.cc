// Field numbers: generated.proto of k8s.io/api/core/v1, k8s.io/apimachinery pkg/apis/meta/v1 and pkg/runtime.
#include "plugins/kubernetes/pod_list_protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <vector>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

struct Misread : std::exception {
  explicit Misread(const char* words) : words(words) {}
  const char* what() const noexcept override { return words; }
  const char* words;
};

void expect(const pbf_reader& field, pbf_wire_type type) {
  if (!field.has_wire_type(type)) throw Misread("a field is of another type than Kubernetes has");
}

std::string_view bytes_of(pbf_reader& field) {
  expect(field, pbf_wire_type::length_delimited);
  const auto view = field.get_view();
  return {view.data(), view.size()};
}

// Almost every text is; a longer one is looked at faster by others.
bool is_short_ascii(std::string_view text) {
  if (text.size() > 64) return false;
  unsigned char wrong = 0;
  for (const char c : text)
    wrong |= static_cast<unsigned char>(static_cast<signed char>(c) <=
                                        0);  // NUL, and bytes from 0x80 on
  return wrong == 0;
}

// No name, address or reason has a NUL in it or is no UTF-8, and none may cross so (MP-4).
std::string_view text_of(pbf_reader& field) {
  const std::string_view text = bytes_of(field);
  if (is_short_ascii(text)) return text;
  if (std::memchr(text.data(), 0, text.size()) != nullptr ||
      !simdjson::validate_utf8(text.data(), text.size()))
    throw Misread("a text is no UTF-8 or has a NUL");
  return text;
}

int64_t number_of(pbf_reader& field) {
  expect(field, pbf_wire_type::varint);
  return field.get_int64();
}

// Calls `take(number, field)` for each field of a message; it reads the field, or says that it does not look at it.
template <typename Take>
void each_field(std::string_view message, const Take& take) {
  pbf_reader field(message.data(), message.size());
  while (field.next())
    if (!take(field.tag(), field)) field.skip();
}

// An entry of a map of texts.
struct Entry {
  std::string_view key, value;
};
Entry entry_of(pbf_reader& map) {
  Entry entry;
  each_field(bytes_of(map), [&](uint32_t number, pbf_reader& field) {
    if (number == 1) return entry.key = text_of(field), true;
    return number == 2 && (entry.value = text_of(field), true);
  });
  return entry;
}

// 0 for a Time without seconds, which is none.
int64_t time_of(pbf_reader& time) {
  int64_t seconds = 0;
  each_field(bytes_of(time), [&](uint32_t number, pbf_reader& field) {
    return number == 1 && (seconds = number_of(field), true);
  });
  return seconds;
}

// One pod of a list.
class PodReader {
 public:
  PodReader(const Wanted& wanted, PodList& list, Pod& pod)
      : wanted_(wanted), list_(list), texts_(list.texts), pod_(pod) {}

  void read(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 1: return read_metadata(bytes_of(field)), true;
        case 2: return read_spec(bytes_of(field)), true;
        case 3: return read_status(bytes_of(field)), true;
        default: return false;
      }
    });
  }

 private:
  void read_metadata(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 1: return pod_.name = texts_.add(text_of(field)), true;
        case 3: return pod_.name_space = texts_.shared(text_of(field)), true;
        case 5: return pod_.uid = texts_.add(text_of(field)), true;
        case 8: return pod_.created = time_of(field), true;
        case 9: return pod_.deleted = time_of(field), true;
        case 11: return read_label(field), true;
        case 12: return read_annotation(field), true;
        case 13: return read_owner(bytes_of(field)), true;
        default: return false;
      }
    });
  }

  void read_label(pbf_reader& field) {
    const Entry entry = entry_of(field);
    take_label(pod_, texts_, entry.key, entry.value);
  }

  void read_annotation(pbf_reader& field) {
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
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 1: return kind = text_of(field), true;
        case 3: return name = text_of(field), true;
        case 4: return uid = text_of(field), true;
        case 6: return controller = number_of(field) != 0, true;
        default: return false;
      }
    });
    if (!controller) return;
    std::string owner(kind);
    pod_.owner = texts_.shared(owner.append("/").append(name));
    pod_.owner_uid = texts_.shared(uid);
  }

  void read_spec(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 2: return read_container(bytes_of(field)), true;
        case 7: return read_node_label(field), true;
        case 10: return pod_.node = texts_.shared(text_of(field)), true;
        case 11: return pod_.host_network = number_of(field) != 0, true;
        case 16: return pod_.hostname = texts_.add(text_of(field)), true;
        case 17: return pod_.subdomain = texts_.shared(text_of(field)), true;
        default: return false;
      }
    });
    if (ports_.empty()) return;
    auto* ports = texts_.make<ContainerPort>(ports_.size());
    std::copy(ports_.begin(), ports_.end(), ports);
    pod_.ports = ports;
    pod_.port_count = static_cast<uint16_t>(ports_.size());
  }

  void read_node_label(pbf_reader& field) {
    const Entry entry = entry_of(field);
    take_node_label(pod_, texts_, entry.key, entry.value);
  }

  void read_container(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      if (number == 6 && wanted_.ports) return read_port(bytes_of(field)), true;
      return number == 8 && (read_resources(bytes_of(field)), true);
    });
  }

  void read_port(std::string_view message) {
    std::string_view name;
    int64_t number = 0, host = 0;
    each_field(message, [&](uint32_t part, pbf_reader& field) {
      switch (part) {
        case 1: return name = text_of(field), true;
        case 2: return host = number_of(field), true;
        case 3: return number = number_of(field), true;
        default: return false;
      }
    });
    if (number < 1 || number > 65535 || host < 0 || host > 65535)
      throw Misread("a container's port is none");
    ports_.push_back(
        {texts_.shared(name), static_cast<uint16_t>(number), static_cast<uint16_t>(host)});
  }

  void read_resources(std::string_view message) {
    constexpr uint32_t kLimits = 1;
    each_field(message, [&](uint32_t number, pbf_reader& limits) {
      return number == kLimits && (read_limit(bytes_of(limits)), true);
    });
  }

  void read_limit(std::string_view message) {
    std::string_view resource, quantity;
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      if (number == 1) return resource = text_of(field), true;
      if (number != 2) return false;
      each_field(bytes_of(field), [&](uint32_t inside, pbf_reader& text) {
        return inside == 1 && (quantity = text_of(text), true);
      });
      return true;
    });
    if (!is_device(resource)) return;
    if (const auto count = support::parse_digits(quantity, 1000000))
      take_limit(pod_, resource, *count);
  }

  void read_status(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 1: return pod_.phase = parse_phase(text_of(field)), true;
        case 2: return read_condition(bytes_of(field)), true;
        case 3: return add_trouble(text_of(field), &Trouble::message), true;
        case 4: return add_trouble(text_of(field), &Trouble::reason), true;
        case 5: return pod_.host_ip = texts_.shared(text_of(field)), true;
        case 6: return pod_.ip = texts_.add(text_of(field)), true;
        case 8:
        case 10: return read_container_status(bytes_of(field)), true;
        case 12: return read_ip(bytes_of(field), pod_.ip, pod_.second_ip), true;
        case 16: return read_ip(bytes_of(field), pod_.host_ip, pod_.second_host_ip), true;
        default: return false;
      }
    });
  }

  void add_trouble(std::string_view text, Text Trouble::*field) {
    if (!text.empty()) list_.trouble_of(pod_).*field = texts_.add(text);
  }

  void read_ip(std::string_view message, Text& first, Text& second) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      return number == 1 && (take_ip(first, second, texts_, text_of(field)), true);
    });
  }

  void read_condition(std::string_view message) {
    std::string_view type, status, reason, words;
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 1: return type = text_of(field), true;
        case 2: return status = text_of(field), true;
        case 5: return reason = text_of(field), true;
        case 6: return words = text_of(field), true;
        default: return false;
      }
    });
    take_condition(pod_, list_, type, status, reason, words);
  }

  void read_container_status(std::string_view message) {
    each_field(message, [&](uint32_t number, pbf_reader& field) {
      switch (number) {
        case 2: return read_state(bytes_of(field), false), true;
        case 3: return read_state(bytes_of(field), true), true;
        case 5: return take_restarts(pod_, number_of(field)), true;
        default: return false;
      }
    });
  }

  void read_state(std::string_view message, bool of_the_run_before) {
    each_field(message, [&](uint32_t kind, pbf_reader& state) {
      const bool waiting = kind == 1, terminated = kind == 3;
      if (!waiting && !terminated) return false;
      std::string_view reason, words;
      int64_t exit_code = 0, finished = 0;
      each_field(bytes_of(state), [&](uint32_t number, pbf_reader& field) {
        if (number == (waiting ? 1U : 3U)) return reason = text_of(field), true;
        if (number == (waiting ? 2U : 4U)) return words = text_of(field), true;
        if (terminated && number == 6) return finished = time_of(field), true;
        return terminated && number == 1 && (exit_code = number_of(field), true);
      });
      if (waiting) take_waiting(pod_, list_, reason, words);
      if (terminated) take_terminated(pod_, list_, reason, exit_code, of_the_run_before);
      if (terminated && !of_the_run_before) take_finished(pod_, finished);
      return true;
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
  each_field(type_meta, [&](uint32_t number, pbf_reader& field) {
    return number == 2 && (kind = text_of(field), true);
  });
  return kind;
}

// The head of a field: its number, and how long its value is or, with type varint, what it is.
struct Head {
  uint64_t number = 0;
  pbf_wire_type type = pbf_wire_type::unknown;
  uint64_t value = 0;
  size_t size = 0;  // of the head
};

// nullopt when it is not whole.
std::optional<Head> read_head(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  try {
    Head head;
    const uint64_t key = protozero::decode_varint(&at, end);
    head.number = key >> 3U;
    head.type = static_cast<pbf_wire_type>(key & 7U);
    head.value = protozero::decode_varint(&at, end);
    head.size = static_cast<size_t>(at - bytes.data());
    return head;
  } catch (const protozero::end_of_buffer_exception&) {
    return std::nullopt;
  }
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
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // protozero's and ours
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
  const bool delimited = head->type == pbf_wire_type::length_delimited;
  // The envelope and the list have no numbers of a fixed size; a varint was read with its head.
  if (!delimited && head->type != pbf_wire_type::varint)
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
    each_field(value, [&](uint32_t inside, pbf_reader& field) {
      if (inside == kResourceVersion) return list.version = text_of(field), true;
      return inside == kContinue && (next_ = text_of(field), true);
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
    each_field(body, [&](uint32_t number, pbf_reader& field) {
      if (number == kTypeMeta) return kind = kind_of(bytes_of(field)), true;
      if (number != kRaw) return false;
      each_field(bytes_of(field), [&](uint32_t inside, pbf_reader& text) {
        if (inside == 3) return status.message = text_of(text), true;
        if (inside == 4) return status.reason = text_of(text), true;
        return false;
      });
      return true;
    });
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return {};
  }
  if (kind != "Status") return {};
  return status;
}

}  // namespace muster::kubernetes
