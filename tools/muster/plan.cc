// muster plan: how many requests a config's resolves make, held against the published quotas.
#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

using rapidjson::Document;
using rapidjson::Value;

std::string_view text_of(const Value& object, const char* key) {
  const Value& value = object[key];
  return {value.GetString(), value.GetStringLength()};
}

// "10,100,1000"; empty, with a word about it, when it is no such list.
std::vector<int64_t> sizes_of(const std::string& text) {
  std::vector<int64_t> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, size);
    if (error != std::errc() || stop != text.data() + end || size < 1) {
      say(fmt::format("--members: '{}' is no number of 1 or more", text.substr(at, end - at)));
      say_hint("several are apart by commas: --members 10,100,1000");
      return {};
    }
    out.push_back(size);
    at = end + 1;
  }
  return out;
}

// Lines of columns, each as wide as its widest text; the last one ends where it ends.
class Columns {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void extend(std::string text) { rows_.back().push_back(std::move(text)); }
  std::string text() const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line = " ";
      for (size_t n = 0; n < row.size(); ++n) line += fmt::format(" {:<{}} ", row[n], widths[n]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// One kind of requests, or one quota, at each of the sizes: a backend need not have all of them at each.
struct Row {
  std::vector<std::string> names;
  std::vector<const Value*> values;  // null: none
};

// The rows of the lists that `list` finds in the plans; `keys` name one.
template <typename List>
std::vector<Row> rows_of(const std::vector<Document>& plans, const std::vector<const char*>& keys,
                         const List& list) {
  std::vector<Row> rows;
  for (size_t size = 0; size < plans.size(); ++size) {
    for (const Value& value : list(plans[size]).GetArray()) {
      std::vector<std::string> names;
      names.reserve(keys.size());
      for (const char* key : keys) names.emplace_back(text_of(value, key));
      auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.names == names && row.values[size] == nullptr;
      });
      if (at == rows.end())
        at = rows.insert(at, {std::move(names), std::vector<const Value*>(plans.size())});
      at->values[size] = &value;
    }
  }
  return rows;
}

std::vector<std::string> heading(std::vector<std::string> row, const std::vector<Document>& plans) {
  for (const Document& plan : plans) row.push_back(fmt::format("{}", plan["members"].GetInt64()));
  return row;
}

std::string range(int64_t least, int64_t most) {
  return least == most ? fmt::format("{}", most) : fmt::format("{}-{}", least, most);
}

std::string resolver_table(const std::vector<Document>& plans, rapidjson::SizeType at) {
  const Value& one = plans[0]["resolvers"][at];
  std::string out = fmt::format("{} ({})", text_of(one, "path"), text_of(one, "backend"));
  // What fails at one size need not at another, where the deadline came for one.
  const auto failed = std::find_if(plans.begin(), plans.end(), [at](const Document& plan) {
    return plan["resolvers"][at].HasMember("error");
  });
  if (failed != plans.end()) {
    const Value& why = (*failed)["resolvers"][at];
    return out + fmt::format(": it cannot be found out how many requests this makes: {}: {}\n",
                             text_of(why, "code"), text_of(why, "error"));
  }
  if (!one["known"].GetBool())
    return out + ": this backend does not say how many requests it makes\n";
  const std::vector<Row> rows = rows_of(
      plans, {"api", "request", "reason"},
      [at](const Document& plan) -> const Value& { return plan["resolvers"][at]["requests"]; });
  if (rows.empty()) return out + ": makes no requests\n";
  Columns table;
  table.add(heading({"API", "REQUEST"}, plans));
  table.extend("WHY");
  std::vector<std::pair<int64_t, int64_t>> sums(plans.size());
  for (const Row& row : rows) {
    table.add({row.names[0], row.names[1]});
    for (size_t size = 0; size < plans.size(); ++size) {
      const Value* planned = row.values[size];
      const int64_t least = planned == nullptr ? 0 : (*planned)["least"].GetInt64();
      const int64_t most = planned == nullptr ? 0 : (*planned)["most"].GetInt64();
      table.extend(range(least, most));
      sums[size].first += least;
      sums[size].second += most;
    }
    table.extend(row.names[2]);
  }
  table.add({"", "together"});
  for (const auto& [least, most] : sums) table.extend(range(least, most));
  return out + ": requests of one resolve, by its members\n" + table.text();
}

std::string quota_table(const std::vector<Document>& plans) {
  const std::vector<Row> rows = rows_of(
      plans, {"api", "quota"}, [](const Document& plan) -> const Value& { return plan["quotas"]; });
  if (rows.empty()) return {};
  Columns table;
  table.add(heading({"API", "QUOTA"}, plans));
  for (const Row& row : rows) {
    const auto any = std::find_if(row.values.begin(), row.values.end(),
                                  [](const Value* value) { return value != nullptr; });
    table.add({row.names[0],
               fmt::format("{} {} a minute", (**any)["per_minute"].GetInt64(), row.names[1])});
    for (const Value* value : row.values)
      table.extend(
          value == nullptr ? "-" : fmt::format("{}", (*value)["resolves_per_minute"].GetInt64()));
  }
  return "Resolves that fit into a minute, by the published default of each quota:\n" +
         table.text();
}

}  // namespace

int plan(const Options& options) {
  const std::vector<int64_t> sizes = sizes_of(options.members);
  if (sizes.empty()) return kExitUsage;
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Cluster cluster;
  Error error;
  if (muster_open(settings.get(), Out(cluster), Out(error)) != 0) return report(error);
  std::vector<Document> plans;
  std::string list;
  for (const int64_t size : sizes) {
    Text json;
    int32_t code = 0;
    {
      const CancelOnSignal signals(cluster.get());
      code = muster_plan(cluster.get(), size, Out(json), Out(error));
    }
    CancelOnSignal::die_if_signalled();
    if (code != 0) return report(error);
    std::string text = to_string(json);
    plans.emplace_back().Parse(text.data(), text.size());
    text.erase(text.find_last_not_of('\n') + 1);
    list += (list.empty() ? "[" : ",\n") + text;
  }
  std::string page;
  int status = 0;
  const Value& resolvers = plans[0]["resolvers"];
  for (rapidjson::SizeType at = 0; at < resolvers.Size(); ++at) {
    page += resolver_table(plans, at);
    for (const Document& plan : plans) {
      const Value& one = plan["resolvers"][at];
      if (one["known"].GetBool()) continue;
      status = kExitIncomplete;
      if (!one.HasMember("error")) continue;
      say(fmt::format("{} ({}): it cannot be found out how many requests this makes: {}: {}",
                      text_of(one, "path"), text_of(one, "backend"), text_of(one, "code"),
                      text_of(one, "error")));
      for (const Value& hint : one["hints"].GetArray())
        say_hint({hint.GetString(), hint.GetStringLength()});
      break;
    }
  }
  const int lost = options.json ? print(list + "]\n") : print_page(page + quota_table(plans));
  if (lost != 0) return lost;
  return status;
}

}  // namespace muster_command
