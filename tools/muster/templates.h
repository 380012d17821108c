// The templates of sdk/templates, which are inside the command.
#pragma once

#include <string_view>
#include <vector>

namespace muster_command {

struct TemplateFile {
  std::string_view language;  // "c", "rust", ...
  std::string_view path;      // below the new folder
  bool verbatim;              // of the SDK: goes along as it is
  bool executable;
  std::string_view text;
};

const std::vector<TemplateFile>& template_files();

// The languages, each once, in order.
std::vector<std::string_view> template_languages();

}  // namespace muster_command
