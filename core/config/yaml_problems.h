// What is told of a text that is not YAML.
#pragma once

#include <cstddef>
#include <string>

#include "core/config/problems.h"

namespace muster::conf {

// yaml-cpp's message for people who write a configuration.
std::string in_our_words(const std::string& theirs);

// Characters that no YAML text holds, and bytes that no UTF-8 does: false, and the first of them told.
bool check_characters(size_t begin, size_t end, Problems* problems);

// A line that cannot be read may hold a secret: what follows a key that sounds so is hidden, on this line or, when
// the line goes on with what such a key began, all of it.
void hide_secrets_near(size_t offset, Problems* problems);

}  // namespace muster::conf
