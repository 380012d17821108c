// The value that ${NAME} in a config stands for.
#pragma once

#include <string>
#include <vector>

namespace muster {

struct VariableValue {
  std::string name;
  std::string value;
};

// The text with ${NAME} where it quotes such a value, or the beginning of one that it cuts. A value of less than 4 bytes stays: it
// would be found in other words.
std::string name_variables(std::string text, const std::vector<VariableValue>& variables);

}  // namespace muster
