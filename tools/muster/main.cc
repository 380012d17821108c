// muster: the command. Written on <muster/muster.h> alone.
#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <sstream>
#include <string>

#include "tools/muster/completion.h"
#include "tools/muster/options.h"
#include "tools/muster/templates.h"
#include "tools/muster/terminal.h"
#include "tools/muster/usage.h"

namespace {

using muster_command::kExitUnavailable;
using muster_command::Options;

constexpr const char* kStatuses =
    "Exit status: 0 complete answer, 10 incomplete answer, 11 not found, 12 wrong configuration, "
    "13 not permitted or\n"
    "not authenticated, 14 unavailable, 15 deadline, 16 a plugin misbehaved, 17 what was to be "
    "written cannot be (standard\n"
    "output, a file, a recording), 2 wrong usage, 1 internal, 128+n ended by signal n.";

void add_talk(CLI::App& app, Options& options) {
  app.add_flag("-q,--quiet", options.quiet, "say nothing but errors");
  app.add_flag("-v,--verbose", options.verbose, "say what is done; twice: in detail");
  app.add_flag("--no-color", options.no_color, "no colour on a terminal");
}

void add_plugin_dirs(CLI::App& app, Options& options) {
  app.add_option("--plugin-dir", options.plugin_dirs,
                 "directory to look for plugins in first; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void add_config(CLI::App& app, Options& options) {
  auto* file =
      app.add_option("-f,--file", options.file,
                     "config file (muster.yaml); - is standard input; default: $MUSTER_CONFIG")
          ->type_name("FILE");
  auto* backend =
      app.add_option("--backend", options.backend, "ask this one backend, without a config file")
          ->type_name("NAME");
  file->excludes(backend);
  app.add_option("-O,--option", options.backend_options,
                 "option of --backend; VALUE is YAML; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->needs(backend);
  app.add_option("--timeout", options.timeout, "time for the whole answer: 30s, 500ms, 2m")
      ->type_name("DURATION");
  app.add_option("--expect", options.expect, "tasks that a complete answer has: worker=16,ps=1")
      ->type_name("JOB=COUNT,...");
  auto* type =
      app.add_option("--task-type", options.task_type, "job of this process")->type_name("JOB");
  auto* id = app.add_option("--task-id", options.task_id, "index of this process in its job")
                 ->type_name("INDEX");
  type->needs(id);
  id->needs(type);
  app.add_option_function<std::string>(
         "--rpc-layer",
         [&options](const std::string& value) {
           options.rpc_layer = value;
           options.rpc_layer_given = true;
         },
         "scheme of master: grpc; '' for none")
      ->type_name("NAME");
  app.add_option_function<std::string>(
         "--environment",
         [&options](const std::string& value) {
           options.environment = value;
           options.environment_given = true;
         },
         "TensorFlow's environment")
      ->type_name("NAME");
  add_plugin_dirs(app, options);
}

void add_recording(CLI::App& app, Options& options) {
  auto* record = app.add_option("--record", options.record,
                                "write everything asked and answered to FILE, without secrets")
                     ->type_name("FILE");
  auto* replay =
      app.add_option("--replay", options.replay, "answer from a recording, without any network")
          ->type_name("FILE");
  record->excludes(replay);
}

void add_format(CLI::App& app, Options& options) {
  app.add_option("-o,--output", options.format,
                 "format: table, json, yaml, tf_config, ...; a wrong one lists them all")
      ->type_name("FORMAT");
  app.add_flag("--allow-incomplete", options.allow_incomplete,
               "print an incomplete answer also in formats that cannot say so");
}

CLI::App* add_command(CLI::App& parent, const char* name, const char* description, int& status,
                      std::function<int()> run) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->callback([&status, run = std::move(run)] { status = run(); });
  return command;
}

int run(int argc, char** argv) {
  Options options;
  int status = 0;
  CLI::App app("Who is in my cluster, and which one am I?", "muster");
  app.require_subcommand(1);
  app.footer(kStatuses);
  app.set_help_all_flag("--help-all", "help of every subcommand");

  CLI::App* resolve = add_command(app, "resolve", "ask the sources and print the cluster", status,
                                  [&] { return muster_command::resolve(options); });
  add_config(*resolve, options);
  add_recording(*resolve, options);
  add_format(*resolve, options);
  add_talk(*resolve, options);
  resolve->footer(
      "Examples:\n  muster resolve -f muster.yaml\n  muster resolve -f muster.yaml -o tf_config\n"
      "  muster resolve --backend kubernetes -O namespace=ml -O 'job_to_label_mapping={worker: "
      "[app=trainer]}' -o json");

  CLI::App* explain = add_command(app, "explain", "ask the sources and tell what each of them did",
                                  status, [&] { return muster_command::explain(options); });
  add_config(*explain, options);
  add_recording(*explain, options);
  explain->add_flag("--json", options.json,
                    "the whole answer as JSON, or the list of sources where there is none");
  add_talk(*explain, options);
  explain->footer("Example:\n  muster explain -f muster.yaml");

  CLI::App* watch = add_command(app, "watch", "print the cluster, and again whenever it changes",
                                status, [&] { return muster_command::watch(options); });
  add_config(*watch, options);
  add_format(*watch, options);
  watch
      ->add_option("--write", options.write,
                   "keep the newest answer in FILE, which is replaced at once, instead of printing")
      ->type_name("FILE");
  watch
      ->add_option("--on-stale", options.on_stale,
                   "what becomes of --write's file while its source fails: keep it, as "
                   "FILE.state says, or remove it until the source answers; default: keep")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"keep", "remove"}));
  watch->add_flag("--until-complete", options.until_complete,
                  "wait for the first complete answer, and end with it");
  watch
      ->add_option("--interval", options.interval,
                   "how often to ask a source that has no stream of its own; default: 10s")
      ->type_name("DURATION");
  add_talk(*watch, options);
  watch->footer(
      "A source that fails does not end it: the last answer stays and is called stale, in the "
      "answer where the format can\n"
      "say so, in FILE.state beside --write's FILE where it cannot, and on stderr. An empty line "
      "stands between two answers.\n"
      "Examples:\n  muster watch -f muster.yaml\n  muster watch -f muster.yaml -o tf_config "
      "--until-complete\n"
      "  muster watch -f muster.yaml -o hostfile --write /run/muster/hostfile");

  CLI::App* permissions =
      add_command(app, "permissions", "print what a config needs to be allowed, to be applied",
                  status, [&] { return muster_command::permissions(options); });
  add_config(*permissions, options);
  permissions
      ->add_option("--principal", options.principal,
                   "who is to be allowed; kubernetes: a service account's NAME or NAMESPACE:NAME, "
                   "user:NAME, group:NAME")
      ->type_name("WHO");
  permissions->add_flag("--watch", options.watch, "for a watch as well");
  permissions->add_flag("--json", options.json, "for programs");
  add_talk(*permissions, options);
  permissions->footer(
      "Asks no network. Exit status 10: a backend does not say what it needs.\n"
      "Example:\n  muster permissions -f muster.yaml --principal ml:trainer | kubectl apply -f -");

  CLI::App* plan =
      add_command(app, "plan", "print how many requests a resolve makes, beside the quotas", status,
                  [&] { return muster_command::plan(options); });
  add_config(*plan, options);
  plan->add_option("--members", options.members,
                   "how many members each source finds; several apart by commas; default: "
                   "10,100,1000")
      ->type_name("N,...");
  plan->add_flag("--json", options.json, "for programs: a list with one plan for each N");
  add_talk(*plan, options);
  plan->footer(
      "Asks no network. Exit status 10: a backend does not say how many requests it makes.\n"
      "Example:\n  muster plan -f muster.yaml --members 500,4000");

  CLI::App* config =
      app.add_subcommand("config", "look at a configuration without asking any source");
  config->require_subcommand(1);
  CLI::App* check =
      add_command(*config, "check", "is it right? Options are checked against each plugin's schema",
                  status, [&] { return muster_command::config_check(options); });
  check->add_option("FILE", options.file, "config file; - is standard input");
  add_config(*check, options);
  add_talk(*check, options);
  check->footer("Example:\n  muster config check muster.yaml");
  add_command(*config, "schema", "print the JSON Schema of muster.yaml, for editors", status,
              [] { return muster_command::config_schema(); });

  CLI::App* plugins =
      app.add_subcommand("plugins", "look at plugins, begin one, or see what one says");
  plugins->require_subcommand(1);
  CLI::App* list =
      add_command(*plugins, "list", "every plugin that is found, and why some cannot be used",
                  status, [&] { return muster_command::plugins_list(options); });
  CLI::App* describe =
      add_command(*plugins, "describe", "one plugin: what it is, and its options", status,
                  [&] { return muster_command::plugins_describe(options); });
  describe->add_option("PLUGIN", options.name, "name of a backend, or path of a file")->required();
  describe->footer(
      "Examples:\n  muster plugins describe kubernetes\n  muster plugins describe "
      "./libmuster-roster.so");
  CLI::App* fresh = add_command(*plugins, "new", "write a new backend, to be changed", status,
                                [&] { return muster_command::plugins_new(options); });
  fresh->add_option("NAME", options.name, "what users will write as `backend:`")->required();
  const auto languages = muster_command::template_languages();
  fresh->add_option("--lang", options.language, "its language")
      ->required()
      ->type_name("LANGUAGE")
      ->check(CLI::IsMember(std::vector<std::string>(languages.begin(), languages.end())));
  fresh->add_option("--dir", options.directory, "the folder to be made; default: ./NAME")
      ->type_name("DIR");
  fresh->footer("Example:\n  muster plugins new my_rack --lang cpp");
  add_talk(*fresh, options);
  CLI::App* trace = add_command(
      *plugins, "trace", "resolve with every backend in a process of its own, and print the frames",
      status, [&] { return muster_command::plugins_trace(options); });
  add_config(*trace, options);
  add_talk(*trace, options);
  trace->footer(
      "A line for each frame: -> to the backend, <- from it. Known secrets are REDACTED; bodies "
      "are "
      "numbers of bytes.\n"
      "Example:\n  muster plugins trace -f muster.yaml");
  CLI::App* path = add_command(*plugins, "path", "where plugins are looked for", status,
                               [&] { return muster_command::plugins_path(options); });
  for (CLI::App* command : {list, describe, path}) {
    command->add_flag("--json", options.json, "for programs");
    add_plugin_dirs(*command, options);
    add_talk(*command, options);
  }

  add_command(app, "version", "print the version", status,
              [] { return muster_command::version(); });
  CLI::App* completion =
      add_command(app, "completion", "print a completion script for a shell", status, [&] {
        const std::string script = muster_command::completion(app, options.name);
        return muster_command::print(script);
      });
  completion->add_option("SHELL", options.name, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("Example:\n  source <(muster completion bash)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream out, talk;
    app.exit(asked_for_help, out, talk);
    return muster_command::print(out.str());
  } catch (const CLI::ParseError& error) {
    muster_command::say_usage(app, error);
    return muster_command::kExitUsage;
  }
  return status;
}

// Its threads have the same limit. With less than this their stacks overflow, which nothing can tell any more.
constexpr rlim_t kLeastStack = 256 << 10;

bool has_stack() {
  rlimit stack;
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kLeastStack) return true;
  muster_command::say("the limit of the stack is " + std::to_string(stack.rlim_cur >> 10) +
                      " KiB, and muster needs 256 KiB: raise it (ulimit -s)");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  // One heap for all threads, and what it has it keeps: a short process gains nothing by giving memory back to the system page
  // by page, and asking for it again.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  muster_command::occupy_standard_streams();
  if (!has_stack()) return kExitUnavailable;
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    muster_command::say("out of memory");
    return kExitUnavailable;
  } catch (const std::exception& exception) {
    muster_command::say(std::string("unexpected: ") + exception.what());
    return 1;
  }
}
