// Serving: what the core does for one frame of a backend: pushes into the call, services.
#pragma once

#include <muster/http.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/isolate/conversation.h"
#include "core/service/host.h"

namespace muster {

class Serving {
 public:
  explicit Serving(Conversation& conversation) : conversation_(conversation) {}

  // An error: the frame is not allowed here, or the conversation has failed.
  Status serve(const frames::v1::Frame& frame);

  // The same of a frame's message, when it is one of those of which there are very many; nothing: it is another.
  std::optional<Status> serve_quickly(std::string_view message);

  // A piece of a body, to be taken by the backend before this returns.
  static int32_t give_piece(void* target, const char* data, uint64_t size);

 private:
  using Frame = frames::v1::Frame;
  using Answer = frames::v1::Answer;

  const muster_call_v1* call() const { return conversation_.call_; }
  template <typename Table>
  const Table* service(const char* id) const {
    const muster_host_v1* host = conversation_.speaker_.host;
    return static_cast<const Table*>(host->get_service(host, id));
  }
  int32_t push(const Frame& frame) const;
  Status refuse_unless_ok(int32_t code);
  Status ask(const Frame& frame);
  Status check_address(const Frame& frame);
  Status read_file(const Frame& frame);
  Status send_http(const Frame& frame);
  Status begin_http(const Frame& frame);
  Status next_http(const Frame& frame);
  Status run_program(const Frame& frame);
  void forget_target(uint64_t number);
  // Sends the answer; what is long in parts.
  Status answer(uint64_t id, Answer answer, std::string_view content = {});
  Status answer(uint64_t id, int32_t code, const muster_error& error);

  Conversation& conversation_;
};

// A frame in one line, for people. Each text is without the secrets before it is cut; bodies and contents are numbers of bytes.
std::string frame_text(const frames::v1::Frame& frame, const Secrets& secrets);

}  // namespace muster
