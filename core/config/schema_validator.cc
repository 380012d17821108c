#include "core/config/schema_validator.h"

// valijson makes RapidJSON's assertions exceptions. An inline namespace keeps these functions apart from the ones of the
// files that use RapidJSON as it is, which would otherwise be the same symbols with another body.
#define VALIJSON_USE_EXCEPTIONS 1
#define RAPIDJSON_NAMESPACE rapidjson::throwing
#define RAPIDJSON_NAMESPACE_BEGIN \
  namespace rapidjson {           \
  inline namespace throwing {
#define RAPIDJSON_NAMESPACE_END \
  }                             \
  }
#include <new>
#include <stdexcept>
#include <valijson/adapters/rapidjson_adapter.hpp>
// In this order.
#include <rapidjson/error/en.h>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace muster::conf {
namespace {

Error bad_schema(std::string why) { return {Code::kInvalidArgument, std::move(why), {}}; }

}  // namespace

Result<Verdict> validate(std::string_view schema_json, std::string_view json) {
  // Iterative, so that a deep text of a stranger cannot exhaust the stack here.
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag;
  rapidjson::Document schema_document;
  schema_document.Parse<kFlags>(schema_json.data(), schema_json.size());
  if (schema_document.HasParseError()) {
    return bad_schema(rapidjson::GetParseError_En(schema_document.GetParseError()));
  }
  rapidjson::Document document;
  document.Parse<kFlags>(json.data(), json.size());
  if (document.HasParseError()) {
    return Error{Code::kInternal, "muster made JSON that cannot be read", {}};
  }
  try {
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::RapidJsonAdapter(schema_document), schema);
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    Verdict verdict;
    verdict.fits =
        validator.validate(schema, valijson::adapters::RapidJsonAdapter(document), &results);
    for (const valijson::ValidationResults::Error& error : results) {
      Finding finding;
      finding.what = error.description;
      // "<root>", then "[key]" and "[index]".
      for (size_t i = 1; i < error.context.size(); ++i) {
        const std::string& step = error.context[i];
        finding.path.push_back(step.size() >= 2 ? step.substr(1, step.size() - 2) : step);
      }
      verdict.findings.push_back(std::move(finding));
    }
    return verdict;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return bad_schema(error.what());
  }
}

}  // namespace muster::conf
