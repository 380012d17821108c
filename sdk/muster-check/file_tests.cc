// What the file says before any of its code runs, and what its table says when it does.
#include <fmt/format.h>
#include <muster/plugin.h>

#include <algorithm>

#include "core/config/option_schema.h"
#include "core/config/schema_validator.h"
#include "core/isolate/policy.h"
#include "core/isolate/program.h"
#include "core/plugin/backend.h"
#include "core/service/file.h"
#include "sdk/muster-check/elf_facts.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

std::optional<ElfLook> look(Trial& trial) {
  constexpr uint64_t kLargestFile = uint64_t{4} << 30;
  Result<std::string> bytes = read_regular_file(trial.target.file, kLargestFile);
  if (!bytes) {
    trial.report.broke("MP-2", bytes.error().message);
    return std::nullopt;
  }
  Result<ElfLook> look = look_at_elf(*bytes);
  if (!look) {
    trial.report.broke("MP-1", look.error().message);
    return std::nullopt;
  }
  return std::move(*look);
}

// muster_plugin_entry_v1, and those of other majors.
bool is_entry(const std::string& name) {
  constexpr std::string_view kPrefix = "muster_plugin_entry_v";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

void exports(Trial& trial) {
  const auto seen = look(trial);
  if (!seen) return;
  if (std::find(seen->exported.begin(), seen->exported.end(), MUSTER_PLUGIN_ENTRY_V1) ==
      seen->exported.end())
    trial.report.broke("MP-1", fmt::format("it does not export '{}'", MUSTER_PLUGIN_ENTRY_V1));
  for (const std::string& name : seen->exported) {
    if (!is_entry(name))
      trial.report.broke("MP-1", fmt::format("it exports '{}': hide it (-fvisibility=hidden, and a "
                                             "version script with 'local: *' for C++)",
                                             name));
  }
}

void unique(Trial& trial) {
  const auto seen = look(trial);
  if (!seen) return;
  for (const std::string& name : seen->unique)
    trial.report.broke("MP-1", fmt::format("it has the unique symbol '{}', which every library of "
                                           "the process shares: compile with -fno-gnu-unique",
                                           name));
}

void stack(Trial& trial) {
  const auto seen = look(trial);
  if (!seen) return;
  if (!seen->says_stack || seen->executable_stack)
    trial.report.broke("MP-1",
                       "it asks for an executable stack, and every thread of the launcher "
                       "gets one: link with -Wl,-z,noexecstack");
  if (seen->text_relocations)
    trial.report.broke("MP-1", "it has text relocations: compile all of it with -fPIC");
}

void needs(Trial& trial) {
  const auto seen = look(trial);
  if (!seen) return;
  for (const std::string& path : seen->search_paths)
    trial.report.broke("MP-1", fmt::format("it brings the search path '{}'", path));
  for (const std::string& library : seen->needed) {
    if (is_runtime_library(library)) continue;
    trial.report.broke("MP-1",
                       fmt::format("it needs '{}', which may be bound to another copy in "
                                   "the launcher: link it statically and hidden, or let the "
                                   "plugin run isolated",
                                   library));
  }
}

void descriptor(Trial& trial) {
  if (!trial.target.found) {
    const Error& why = trial.target.unusable;
    const std::string& duty = why.detail("duty");
    return trial.report.broke(duty.empty() ? "MP-2" : duty, why.message);
  }
  const Descriptor& said = trial.target.found->descriptor;
  if (said.abi_minor > MUSTER_PLUGIN_ABI_MINOR)
    trial.report.note(fmt::format("it is built for plugin ABI {}.{}, this checker for {}.{}",
                                  said.abi_major, said.abi_minor, MUSTER_PLUGIN_ABI_MAJOR,
                                  MUSTER_PLUGIN_ABI_MINOR));
  if (said.description.empty()) trial.report.note("its descriptor has no description");
  Result<conf::OptionSchema> schema = conf::OptionSchema::parse(said.options_schema);
  if (!schema) return trial.report.broke("MP-2", "its options: " + schema.error().message);
  const Result<conf::Verdict> verdict = conf::validate(schema->json(), "{}");
  if (!verdict) trial.report.broke("MP-2", "its options: " + verdict.error().message);
}

void table(Trial& trial) {
  if (!trial.target.found) return trial.report.skip("its descriptor cannot be read");
  // The core's own loader decides.
  trial.report.step("MP-19", "loading it");
  const Log silent;
  const auto library = load_plugin(*trial.target.found, silent);
  if (library) return;
  const Error& why = library.error();
  const std::string& duty = why.detail("duty");
  // "I cannot run in this host" is an answer.
  if (why.code == Code::kFailedPrecondition && duty.empty()) return trial.report.note(why.message);
  trial.report.broke(duty.empty() ? "MP-1" : duty, why.message);
}

// Asked again, it describes itself as before.
void hello(Trial& trial) {
  if (!trial.target.found) return trial.report.skip("its descriptor cannot be read");
  trial.report.step("MP-29", "its Hello");
  std::string first;
  for (int i = 0; i < 2; ++i) {
    const Result<std::string> said = describe_program(*trial.target.found, trial.target.helper);
    if (!said) {
      const std::string& duty = said.error().detail("duty");
      return trial.report.broke(duty.empty() ? "MP-29" : duty, said.error().message);
    }
    if (i > 0 && *said != first)
      trial.report.broke("MP-29", fmt::format("its Hello is not the same each time: '{}', and then "
                                              "'{}'",
                                              first, *said));
    first = *said;
  }
}

}  // namespace

std::vector<Test> file_tests() {
  return {
      {"file.exports", "exports its entry and nothing else", 10, false, exports, Scope::kFile},
      {"file.unique", "has no unique symbol", 10, false, unique, Scope::kFile},
      {"file.stack", "asks for no executable stack, and needs no text relocation", 10, false, stack,
       Scope::kFile},
      {"file.needs", "needs the C and C++ runtime alone", 10, false, needs, Scope::kFile},
      {"file.descriptor", "has a right descriptor with a right schema, and the file's name", 10,
       false, descriptor},
      {"file.table", "its table is that of its descriptor", 10, false, table, Scope::kShared},
      {"file.hello", "describes itself, and the same each time", 20, false, hello, Scope::kProgram},
  };
}

}  // namespace muster::check
