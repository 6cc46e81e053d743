#include "taper/nn/serialize/value_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace taper::serialize::detail {

namespace {

using Json = nlohmann::json;

// JSON knows no infinity and no NaN: they are written as texts within {"double": ...}.
Json from_double(double value) {
  if (std::isfinite(value)) return value;
  return {{"double", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

double to_double(const Json& value) {
  if (!value.is_object()) return value.get<double>();
  const std::string text = value.at("double").get<std::string>();
  if (text == "nan") return std::nan("");
  if (text != "inf" && text != "-inf") throw std::invalid_argument("not a number");
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

int64_t to_int(const Json& value) {
  if (!value.is_number_integer()) throw std::invalid_argument("not an integer");
  return value.get<int64_t>();
}

template <class T, class Convert>
std::vector<T> to_list(const Json& values, Convert convert) {
  std::vector<T> out;
  for (const Json& value : values) out.push_back(convert(value));
  return out;
}

IValue parse(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return to_int(value);
  if (value.is_number_float() || value.contains("double")) return to_double(value);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return to_list<int64_t>(value, to_int);
  if (value.contains("doubles")) return to_list<double>(value["doubles"], to_double);
  return to_list<std::string>(value.at("strings"),
                              [](const Json& text) { return text.get<std::string>(); });
}

}  // namespace

std::string value_to_text(const std::string& key, const IValue& value) {
  Json json;
  if (value.isBool()) {
    json = value.toBool();
  } else if (value.isInt()) {
    json = value.toInt();
  } else if (value.isDouble()) {
    json = from_double(value.toDouble());
  } else if (value.isString()) {
    json = value.toStringRef();
  } else if (value.isIntList()) {
    json = value.toIntVector();
  } else if (value.isDoubleList()) {
    json["doubles"] = Json::array();
    for (const double number : value.toDoubleVector())
      json["doubles"].push_back(from_double(number));
  } else if (value.isList()) {
    json["strings"] = value.toStringVector();
  }
  try {
    return json.dump();
  } catch (const Json::exception&) {
    taper::detail::fail<ValueError>("archive: the text '", key, "' is not UTF-8");
  }
}

IValue value_from_text(const std::string& key, const std::string& text) {
  try {
    return parse(Json::parse(text));
  } catch (const std::exception&) {
    taper::detail::fail<Error>("archive: the value '", key, "' is damaged: ", text);
  }
}

}  // namespace taper::serialize::detail
