// What a program that is started (posix_spawn) gets from us.
#pragma once

#include <spawn.h>

#include <csignal>
#include <string>
#include <vector>

namespace muster {

// Signals as a shell would give them: what this process blocks or ignores is its own affair.
struct SpawnActions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  // With a group of its own no Ctrl-C reaches it, and it may not read from the terminal.
  explicit SpawnActions(bool own_group) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
};

// The texts as argv and envp: valid as long as the texts are, ended by nullptr.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace muster
