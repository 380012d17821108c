#include "core/isolate/child/descendants.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace muster::isolate {
namespace {

void add_children(pid_t pid, std::vector<pid_t>& all) {
  const std::string threads = fmt::format("/proc/{}/task", pid);
  DIR* folder = ::opendir(threads.c_str());
  if (folder == nullptr) return;
  while (const dirent* thread = ::readdir(folder)) {
    if (thread->d_name[0] == '.') continue;
    std::FILE* list =
        std::fopen(fmt::format("{}/{}/children", threads, thread->d_name).c_str(), "re");
    if (list == nullptr) continue;
    int child = 0;
    while (std::fscanf(list, "%d", &child) == 1) all.push_back(child);
    std::fclose(list);
  }
  ::closedir(folder);
}

}  // namespace

std::vector<pid_t> descendants() {
  std::vector<pid_t> all;
  add_children(::getpid(), all);
  for (size_t at = 0; at < all.size(); ++at) add_children(all[at], all);
  return all;
}

}  // namespace muster::isolate
