// Backend "tolerates": asks for a file that is not there, and goes on without it; with `fails` it fails of its own, with `no_memory` as where
// memory ends.
#include <muster/plugin.hpp>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace {

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "tolerates",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "options": {"type": "object", "properties": {"fails": {"type": "boolean"}, "no_memory": {"type": "boolean"}}}
})
// clang-format on

class Tolerates {
 public:
  static muster::sdk::Result<std::unique_ptr<Tolerates>> create(const muster::sdk::Host&,
                                                                std::string_view options) {
    const auto has = [&](std::string_view key) {
      return options.find(key) != std::string_view::npos;
    };
    return std::make_unique<Tolerates>(has("fails"), has("no_memory"));
  }
  Tolerates(bool fails, bool no_memory) : fails_(fails), no_memory_(no_memory) {}

  muster::sdk::Status resolve(muster::sdk::Call& call) {
    if (no_memory_) throw std::bad_alloc();
    auto file = call.file("/nowhere/at/all");
    if (fails_) return std::move(file).failure();
    call.add_task({"worker", 0, "", "a:1"});
    return {};
  }

 private:
  bool fails_, no_memory_;
};

}  // namespace

MUSTER_PLUGIN(Tolerates, "tolerates", "1.0.0")
