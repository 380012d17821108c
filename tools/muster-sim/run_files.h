#pragma once

#include <filesystem>
#include <string>

#include "google_tokens.h"
#include "result.h"
#include "scenario.h"
#include "tls_material.h"

namespace muster::sim {

// The files clients need to reach the server: a directory only this user can read.
struct RunFiles {
  std::filesystem::path directory;
  std::filesystem::path kubeconfig;
  std::filesystem::path token;
  std::filesystem::path authority;   // ca.crt; empty without TLS
  std::filesystem::path in_cluster;  // token, ca.crt and namespace; empty without TLS
  std::filesystem::path google;      // credential files; empty without Google
  bool temporary = false;            // made by us: goes away with the server

  // Removes a temporary directory.
  void remove() const;
};

// Writes the files.
//
// directory       where; empty for a new temporary one. Made if it is not there; refused if
//                 others may read it.
// kubeconfig_out  a further copy of the kubeconfig, or empty
// world           its users must have their tokens
// material        null without TLS
// key             of Google's service account; null without Google
Result<RunFiles> write_run_files(const std::filesystem::path& directory,
                                 const std::filesystem::path& kubeconfig_out,
                                 const std::string& url, const Scenario& world,
                                 const TlsMaterial* material, const GoogleKey* key = nullptr);

// Writes a file that only this user can read: replace_file of core/file.
Result<std::filesystem::path> write_private_file(const std::filesystem::path& path,
                                                 const std::string& text);

}  // namespace muster::sim
