// Backend "tolerates": asks for a file that is not there, and goes on without it; with `fails` it fails of its own.
#include <muster/plugin.hpp>

namespace {

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "tolerates",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "options": {"type": "object", "properties": {"fails": {"type": "boolean"}}}
})
// clang-format on

class Tolerates {
 public:
  static muster::sdk::Result<std::unique_ptr<Tolerates>> create(const muster::sdk::Host&,
                                                                std::string_view options) {
    return std::make_unique<Tolerates>(options.find("true") != std::string_view::npos);
  }
  explicit Tolerates(bool fails) : fails_(fails) {}

  muster::sdk::Status resolve(muster::sdk::Call& call) {
    auto file = call.file("/nowhere/at/all");
    if (fails_) return std::move(file).failure();
    call.add_task({"worker", 0, "", "a:1"});
    return {};
  }

 private:
  bool fails_;
};

}  // namespace

MUSTER_PLUGIN(Tolerates, "tolerates", "1.0.0")
