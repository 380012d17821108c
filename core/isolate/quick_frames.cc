#include "core/isolate/quick_frames.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/isolate/frame_buffer.h"

namespace muster {
namespace {

constexpr uint8_t kText = 2;  // protobuf's wire types
constexpr uint8_t kNumber = 0;

constexpr uint8_t tag(int field, uint8_t type) { return static_cast<uint8_t>(field << 3 | type); }

// Numbers of the fields of Frame are above 15, so that their tags have two bytes.
constexpr char kTaskTag[] = {'\x9A', '\x01'};       // add_task = 19
constexpr char kAttributeTag[] = {'\xA2', '\x01'};  // set_attribute = 20
constexpr size_t kTagSize = sizeof kTaskTag;

size_t varint_size(uint64_t number) {
  size_t size = 1;
  for (; number >= 0x80; number >>= 7) ++size;
  return size;
}

size_t text_size(std::string_view text) {
  return text.empty() ? 0 : 1 + varint_size(text.size()) + text.size();
}

size_t number_size(uint64_t number) { return number == 0 ? 0 : 1 + varint_size(number); }

uint64_t zigzag(int64_t number) {
  return static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63);
}

// Writes into memory that is large enough.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}
  void bytes(std::string_view bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void varint(uint64_t number) {
    for (; number >= 0x80; number >>= 7) *at_++ = static_cast<char>(number | 0x80);
    *at_++ = static_cast<char>(number);
  }
  // What is empty or zero is left out.
  void text(int field, std::string_view text) {
    if (text.empty()) return;
    *at_++ = static_cast<char>(tag(field, kText));
    varint(text.size());
    bytes(text);
  }
  void number(int field, uint64_t number) {
    if (number == 0) return;
    *at_++ = static_cast<char>(tag(field, kNumber));
    varint(number);
  }

 private:
  char* at_;
};

// Makes room for a frame of that one message; gives who writes its fields.
Writer begin(const char (&frame_tag)[kTagSize], size_t size, std::string& out) {
  const size_t message = kTagSize + varint_size(size) + size;
  const size_t at = out.size();
  out.resize(at + kSizeBytes + message);
  put_size(message, out.data() + at);
  Writer writer(out.data() + at + kSizeBytes);
  writer.bytes({frame_tag, kTagSize});
  writer.varint(size);
  return writer;
}

class Reader {
 public:
  explicit Reader(std::string_view rest) : at_(rest.data()), end_(rest.data() + rest.size()) {}
  bool over() const { return at_ == end_; }
  uint8_t byte() { return static_cast<uint8_t>(*at_++); }
  bool varint(uint64_t& number) {
    number = 0;
    for (int shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const uint8_t next = byte();
      number |= static_cast<uint64_t>(next & 0x7F) << shift;
      if (next < 0x80) return true;
    }
    return false;
  }
  bool text(std::string_view& text) {
    uint64_t size = 0;
    if (!varint(size) || size > static_cast<uint64_t>(end_ - at_)) return false;
    text = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  // The message under this tag, which has to be all that there is.
  bool only(const char (&frame_tag)[kTagSize], std::string_view& message) {
    if (static_cast<size_t>(end_ - at_) < kTagSize || std::memcmp(at_, frame_tag, kTagSize) != 0)
      return false;
    at_ += kTagSize;
    return text(message) && over();
  }

 private:
  const char* at_;
  const char* end_;
};

std::string_view view_of(const char* text, uint64_t size) {
  return {text, static_cast<size_t>(size)};
}

}  // namespace

void append_task(const muster_task_v1& task, std::string& out) {
  const std::string_view job = view_of(task.job, task.job_size);
  const std::string_view name = view_of(task.name, task.name_size);
  const std::string_view address = view_of(task.address, task.address_size);
  const uint64_t index = zigzag(task.index);
  const auto port = static_cast<uint64_t>(task.port);
  Writer writer = begin(kTaskTag,
                        text_size(job) + number_size(index) + text_size(name) + text_size(address) +
                            number_size(port),
                        out);
  writer.text(1, job);
  writer.number(2, index);
  writer.text(3, name);
  writer.text(4, address);
  writer.number(5, port);
}

void append_attribute(std::string_view key, std::string_view value, std::string& out) {
  Writer writer = begin(kAttributeTag, text_size(key) + text_size(value), out);
  writer.text(1, key);
  writer.text(2, value);
}

bool read_task(std::string_view message, muster_task_v1& task) {
  std::string_view fields, job, name, address;
  if (!Reader(message).only(kTaskTag, fields)) return false;
  uint64_t index = 0, port = 0;
  for (Reader reader(fields); !reader.over();) {
    bool whole = false;
    switch (reader.byte()) {
      case tag(1, kText): whole = reader.text(job); break;
      case tag(2, kNumber): whole = reader.varint(index); break;
      case tag(3, kText): whole = reader.text(name); break;
      case tag(4, kText): whole = reader.text(address); break;
      case tag(5, kNumber): whole = reader.varint(port); break;
      default: break;
    }
    if (!whole) return false;
  }
  task = {sizeof task,
          job.data(),
          job.size(),
          static_cast<int64_t>(index >> 1 ^ (0 - (index & 1))),
          name.data(),
          name.size(),
          address.data(),
          address.size(),
          static_cast<int64_t>(port)};
  return true;
}

bool read_attribute(std::string_view message, std::string_view& key, std::string_view& value) {
  std::string_view fields;
  if (!Reader(message).only(kAttributeTag, fields)) return false;
  key = value = {};
  for (Reader reader(fields); !reader.over();) {
    bool whole = false;
    switch (reader.byte()) {
      case tag(1, kText): whole = reader.text(key); break;
      case tag(2, kText): whole = reader.text(value); break;
      default: break;
    }
    if (!whole) return false;
  }
  return true;
}

}  // namespace muster
