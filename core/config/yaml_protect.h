// What yaml-cpp would misread is put behind bytes that no UTF-8 text has, and taken back afterwards.
//
// Two things: the braces of ${VAR} in a plain scalar of [...] or {...}, which end the scalar there by YAML's rules; and
// JSON's escapes of characters beyond U+FFFF ("\ud83d\ude00"), which yaml-cpp refuses although a JSON text may have them.
// Both keep the text's length, so places stay what they are.
#pragma once

#include <string>
#include <string_view>

namespace muster::conf {

std::string protect_from_yaml(std::string_view text);

// The scalar as it was written; in a double-quoted one the pairs of escapes become their characters.
void restore_from_yaml(std::string* scalar, bool double_quoted);

}  // namespace muster::conf
