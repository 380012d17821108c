// What the command line says, for every subcommand.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace muster_command {

struct Options {
  std::string file;
  std::string backend;
  std::vector<std::string> backend_options;  // -O NAME=VALUE
  std::vector<std::string> plugin_dirs;
  std::string timeout;
  std::string expect;
  std::string task_type;
  std::string task_id;
  std::string rpc_layer;
  bool rpc_layer_given = false;  // "" means none, which differs from not given
  std::string environment;
  bool environment_given = false;
  std::string record;
  std::string replay;

  std::string format = "table";
  bool allow_incomplete = false;
  bool json = false;                    // explain, permissions, plan and plugins: for programs
  std::string principal;                // permissions: who is to be allowed
  bool watch = false;                   // permissions: for a watch as well
  std::string members = "10,100,1000";  // plan: how many are found, apart by commas
  std::string name;                     // of a plugin, a shell
  std::string language;                 // plugins new
  std::string directory;                // plugins new: where to; "" is ./NAME
  std::string interval;                 // watch: between two questions to a source without a stream
  std::string write;                    // watch: the file that has the newest answer
  std::string on_stale = "keep";  // watch --write: "remove" the file while its answer is stale
  bool until_complete = false;    // watch: to the first complete answer

  bool quiet = false;
  int verbose = 0;
  bool no_color = false;
};

// Exit statuses of our own; those of errors are muster_error_exit_status's.
constexpr int kExitUsage = 2;
constexpr int kExitUnavailable = 14;  // no memory
constexpr int kExitIncomplete = 10;
constexpr int kExitNotWritten = 17;  // there is an answer, and where it should go takes it not

int resolve(const Options& options);
int explain(const Options& options);
int watch(const Options& options);
int permissions(const Options& options);
int plan(const Options& options);
int config_check(const Options& options);
int config_schema();
int plugins_list(const Options& options);
int plugins_describe(const Options& options);
int plugins_path(const Options& options);
int plugins_new(const Options& options);
int plugins_trace(const Options& options);
int version();

}  // namespace muster_command
