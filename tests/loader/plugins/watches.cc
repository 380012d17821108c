// Backend "watches": does what the file of its option `orders` says, as soon as it says something else: "tasks 3" commits
// three workers, "fail" fails, "end" returns OK, "twice" commits two snapshots at once, "bad" one that is refused. An order "poll"
// at the start says that it cannot be watched. Its resolve answers one worker on port 1.
#include <fstream>
#include <string>

#include <muster/plugin.hpp>

MUSTER_DESCRIPTOR({
  "name" : "watches",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "options" : {"type" : "object", "properties" : {"orders" : {"type" : "string"}}}
})

namespace {

using namespace muster::sdk;

class Watches {
 public:
  static Result<std::unique_ptr<Watches>> create(const Host& host, std::string_view) {
    const auto* options = host.service<muster_options_v1>(MUSTER_OPTIONS_V1);
    const char* path = "";
    uint64_t size = 0;
    options->get_text(host.get(), "/orders", &path, &size);
    auto made = std::make_unique<Watches>();
    made->clock_ = host.service<muster_clock_v1>(MUSTER_CLOCK_V1);
    made->orders_.assign(path, size);
    return made;
  }

  Status resolve(Call& call) {
    call.add_task({"worker", 0, "polled", "10.0.0.1:1"});
    return {};
  }

  Status watch(Call& call) {
    std::string done;
    for (;;) {
      const std::string order = read();
      if (order == done) {
        if (clock_->sleep_ns(call.get(), 2'000'000) != MUSTER_OK)
          return Failure{MUSTER_E_CANCELLED, "told to stop", {}};
        continue;
      }
      done = order;
      if (order == "poll") return Failure{MUSTER_E_UNIMPLEMENTED, "cannot be watched", {}};
      if (order == "fail") return Failure{MUSTER_E_UNAVAILABLE, "the stream broke", {}};
      if (order == "end") return {};
      if (order == "bad") call.add_task({"worker", -2, "w", "10.0.0.1:2"});
      if (order == "twice") commit(call, 1);
      if (order == "twice") commit(call, 2);
      if (order.rfind("tasks ", 0) == 0) commit(call, std::stoi(order.substr(6)));
      if (call.refused()) return {};
    }
  }

 private:
  static void commit(Call& call, int tasks) {
    for (int n = 0; n < tasks; ++n)
      call.add_task({"worker", n, "", "10.0.0." + std::to_string(n + 1) + ":2"});
    call.commit();
  }

  std::string read() const {
    std::ifstream file(orders_);
    std::string line;
    std::getline(file, line);
    return line;
  }

  const muster_clock_v1* clock_ = nullptr;
  std::string orders_;
};

}  // namespace

MUSTER_PLUGIN(Watches, "watches", "1.0.0")
