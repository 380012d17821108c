#include "core/format/tf_config_quick.h"

#include <algorithm>
#include <charconv>

namespace muster {
namespace {

// Every function answers false where the text is not what it takes; nothing goes on then.
class QuickReader {
 public:
  explicit QuickReader(std::string_view text) : rest_(text) {}

  bool read_config(TfConfig& config) {
    return each_member([&](std::string_view key) {
      if (key == "cluster" || key == "sparseCluster") {
        if (has_cluster_) return false;
        has_cluster_ = true;
        return read_cluster(config.cluster);
      }
      if (key == "task") return !std::exchange(has_task_, true) && read_task(config.task);
      if (key == "rpc_layer") return read_text(config.rpc_layer);
      if (key == "environment") return read_text(config.environment);
      if (key == "session_master") return read_text(config.session_master);
      return false;
    });
  }

  bool read_cluster(ClusterSpec& spec) {
    return each_member([&](std::string_view job) {
      // Checks the name, too.
      if (spec.find(job) != nullptr || !spec.add_job(job)) return false;
      std::vector<Task> tasks;
      if (!(at('[') ? read_list(tasks) : read_map(tasks))) return false;
      return spec.add_tasks(job, std::move(tasks)).ok();
    });
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  bool at(char c) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == c;
  }

  bool take(char c) {
    if (!at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A string of printable ASCII without escapes. A view into the text.
  bool read_string(std::string_view& text) {
    if (!take('"')) return false;
    size_t size = 0;
    while (size < rest_.size() && rest_[size] >= 0x20 && rest_[size] < 0x7f && rest_[size] != '"' &&
           rest_[size] != '\\')
      ++size;
    if (size == rest_.size() || rest_[size] != '"') return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size + 1);
    return true;
  }

  // An object; `read` takes the value of each key.
  template <typename Read>
  bool each_member(const Read& read) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string_view key;
      if (!read_string(key) || !take(':') || !read(key)) return false;
    } while (take(','));
    return take('}');
  }

  bool read_text(std::optional<std::string>& text) {
    std::string_view view;
    if (text || !read_string(view)) return false;
    text = view;
    return true;
  }

  bool read_task(Identity& task) {
    return each_member([&](std::string_view key) {
      if (key == "type") {
        std::string_view type;
        if (!task.type.empty() || !read_string(type) || !check_job_name(type)) return false;
        task.type = type;
        return true;
      }
      return key == "index" && !task.known() && read_index(task.index);
    });
  }

  // A number of digits alone, as JSON has it.
  bool read_index(int64_t& index) {
    skip_blanks();
    size_t size = 0;
    while (size < rest_.size() && rest_[size] >= '0' && rest_[size] <= '9') ++size;
    if (size == 0 || size > 10 || (size > 1 && rest_.front() == '0')) return false;
    // A fraction or an exponent may follow, or anything else that makes it no such number.
    if (size < rest_.size() && !is_blank(rest_[size]) && rest_[size] != ',' && rest_[size] != '}')
      return false;
    std::from_chars(rest_.data(), rest_.data() + size, index);
    rest_.remove_prefix(size);
    return index <= INT32_MAX;
  }

  bool read_address(Address& address) {
    if (!take('"')) return false;
    const size_t size = Address::read_plain(rest_, address, pool_);
    if (size == 0 || size == rest_.size() || rest_[size] != '"') return false;
    rest_.remove_prefix(size + 1);
    return true;
  }

  // Makes room for the tasks that the rest of the text can have, if they are written as the first was.
  void reserve(std::vector<Task>& tasks, const char* first) const {
    const auto size = static_cast<size_t>(rest_.data() - first);
    tasks.reserve(rest_.size() / size + 1);
  }

  static void give_back(std::vector<Task>& tasks) {
    if (tasks.capacity() / 2 > tasks.size()) tasks.shrink_to_fit();
  }

  bool read_list(std::vector<Task>& tasks) {
    take('[');
    if (take(']')) return true;
    const char* const first = rest_.data();
    do {
      if (tasks.size() == 1) reserve(tasks, first);
      Task& task = tasks.emplace_back();
      task.index = static_cast<int32_t>(tasks.size() - 1);
      if (!read_address(task.address)) return false;
    } while (take(','));
    give_back(tasks);
    return take(']');
  }

  bool read_map(std::vector<Task>& tasks) {
    const char* const first = rest_.data();
    const bool read = each_member([&](std::string_view key) {
      if (tasks.size() == 1) reserve(tasks, first);
      Task& task = tasks.emplace_back();
      const char* const end = key.data() + key.size();
      const auto [stop, error] = std::from_chars(key.data(), end, task.index);
      return error == std::errc() && stop == end && task.index >= 0 && read_address(task.address);
    });
    give_back(tasks);
    return read;
  }

  std::string_view rest_;
  AddressPool pool_;
  bool has_cluster_ = false;
  bool has_task_ = false;
};

}  // namespace

std::optional<ClusterSpec> quick_cluster_from_json(std::string_view json) {
  QuickReader reader(json);
  std::optional<ClusterSpec> spec(std::in_place);
  if (!reader.read_cluster(*spec) || !reader.at_end()) return std::nullopt;
  return spec;
}

std::optional<TfConfig> quick_parse_tf_config(std::string_view json) {
  QuickReader reader(json);
  std::optional<TfConfig> config(std::in_place);
  if (!reader.read_config(*config) || !reader.at_end()) return std::nullopt;
  return config;
}

}  // namespace muster
