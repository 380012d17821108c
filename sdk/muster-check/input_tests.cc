// Options of every kind that the schema allows, and of kinds that it does not; and where secrets go.
#include <fmt/format.h>

#include "sdk/muster-check/option_maker.h"
#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr int kInputs = 150;
constexpr int64_t kTime_ns = kSecond;

// Makes a resolver of each and asks it, in a world where nothing is there.
void try_options(Trial& trial, bool wrong) {
  const Descriptor& descriptor = trial.target.found->descriptor;
  OptionMaker maker(descriptor.options_schema, trial.seed);
  int taken = 0, refused = 0, made = 0;
  for (int i = 0; i < trial.times(kInputs) && !trial.report.found_any(); ++i) {
    const std::string json = wrong ? maker.wrong() : maker.right();
    const Result<ResolverConfig> config = checked_options(descriptor, json);
    if (!config) {
      ++refused;  // by the core: the plugin never sees them (MC-3)
      continue;
    }
    ++taken;
    World world(*config, nullptr);
    const auto subject = Subject::load(trial, world);
    if (subject == nullptr) return;
    Resolver resolver(trial, world, *subject, *config);
    trial.report.with(fmt::format("the options {}", json));
    resolver.create();
    if (!resolver.made()) continue;
    ++made;
    resolver.ask({.time_ns = kTime_ns});
  }
  trial.report.note(
      fmt::format("{} inputs of seed {}: {} fitted the schema, of {} a resolver was made",
                  taken + refused, trial.seed, taken, made));
}

void right_options(Trial& trial) { try_options(trial, false); }
void wrong_options(Trial& trial) { try_options(trial, true); }

// Each secret option gets a text that stands nowhere else; Said looks for it in all that the plugin says.
void secrets(Trial& trial) {
  const Target& target = trial.target;
  OptionMaker maker(target.found->descriptor.options_schema, trial.seed);
  const std::vector<std::string> options = maker.with_each_secret(target.config.options_json);
  if (options.empty()) return trial.report.note("its schema marks no option writeOnly");
  const Fault refused{"401", "answered 401", Fault::Kind::kStatus, 401};
  int tried = 0;
  for (const std::string& json : options) {
    const Result<ResolverConfig> config = checked_options(target.found->descriptor, json);
    if (!config) continue;
    ++tried;
    World world(*config, trial.recorded());
    const auto subject = Subject::load(trial, world);
    if (subject == nullptr) return;
    ask_once(trial, world, *subject, *config);
    for (size_t i = 0; i < world.servers().questions().size(); ++i) {
      world.servers().misbehave(i, refused);
      ask_once(trial, world, *subject, *config);
    }
  }
  trial.report.note(fmt::format("{} of {} secret options", tried, options.size()));
}

}  // namespace

std::vector<Test> input_tests() {
  return {
      {"input.options", "options made from the schema end well or in a failure with words", 120,
       true, right_options},
      {"input.wrong_options", "so do options that nearly fit it", 120, true, wrong_options},
      {"input.secrets", "options that are secrets stand in no log line, error or attribute", 60,
       true, secrets},
  };
}

}  // namespace muster::check
