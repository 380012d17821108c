#include "plugins/support/lines.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Cuts the next column off `rest`; empty at the end of the line.
std::string_view next_column(std::string_view& rest) {
  const size_t begin = rest.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    rest.remove_prefix(rest.size());
    return {};
  }
  rest.remove_prefix(begin);
  const std::string_view column = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(column.size());
  return column;
}

class Reader {
 public:
  Reader(const sdk::Host& host, std::string_view text, const std::string& path)
      : host_(host), text_(text), path_(path) {}

  sdk::Result<std::vector<TaskLine>> read() {
    size_t at = 0;
    while (at < text_.size()) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      begin_ = text_.data() + at;
      if (auto failed = read_line(text_.substr(at, end - at)); !failed)
        return std::move(failed).failure();
      at = end + 1;
    }
    return std::move(lines_);
  }

 private:
  sdk::Status read_line(std::string_view line) {
    std::string_view rest = line.substr(0, line.find('#'));
    if (!is_text(line)) return problem(line, "the line is not UTF-8 text");
    TaskLine row;
    row.job = next_column(rest);
    if (row.job.empty()) return {};
    const std::string_view index = next_column(rest);
    if (index.empty())
      return problem(rest, "no index follows the job; a line is: job index address [name]");
    row.address = next_column(rest);
    if (row.address.empty())
      return problem(rest, "no address follows the index; a line is: job index address [name]");
    row.name = next_column(rest);
    if (const std::string_view extra = next_column(rest); !extra.empty())
      return problem(extra,
                     fmt::format("{} is one column too many; a line is: job index address [name]",
                                 quote(extra)));

    if (row.job.size() > 255) return problem(row.job, "the name of a job has at most 255 bytes");
    if (!is_job_name(row.job))
      return problem(row.job, fmt::format("{} is no name of a job: it has a control character",
                                          quote(row.job)));
    const auto number = parse_digits(index, 2147483647);
    if (!number)
      return problem(index,
                     fmt::format("the index {} is no number from 0 to 2147483647", quote(index)));
    row.index = *number;
    if (auto why = host_.address_problem(row.address)) return problem(row.address, *why);
    const auto [seen, added] = seen_[row.job].emplace(row.index, line_);
    if (!added)
      return problem(index, fmt::format("index {} of job {} stands in line {} already", row.index,
                                        quote(row.job), seen->second));
    lines_.push_back(row);
    return {};
  }

  // `where` begins at the place within the line.
  sdk::Failure problem(std::string_view where, const std::string& why) const {
    const auto offset = static_cast<size_t>(where.data() - begin_);
    const auto column = position_of({begin_, offset}, offset).column;
    return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}:{}:{}: {}", path_, line_, column, why), {}};
  }

  const sdk::Host& host_;
  std::string_view text_;
  const std::string& path_;
  std::vector<TaskLine> lines_;
  std::map<std::string_view, std::unordered_map<int64_t, size_t>> seen_;  // job, index -> line
  size_t line_ = 0;
  const char* begin_ = nullptr;
};

}  // namespace

sdk::Result<std::vector<TaskLine>> read_lines(const sdk::Host& host, std::string_view text,
                                              const std::string& path) {
  return Reader(host, text, path).read();
}

}  // namespace muster::support
