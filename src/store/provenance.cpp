#include "subfleet/store/provenance.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(uint64_t value) { return fmt::format("{:016x}", value); }

uint64_t from_hexadecimal(const std::string& text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (code != std::errc() || end != text.data() + text.size()) throw std::invalid_argument("not a hash");
  return value;
}

uint32_t count_at(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > std::numeric_limits<uint32_t>::max())
    throw std::invalid_argument(fmt::format("'{}' is not a count", key));
  return value.get<uint32_t>();
}

}  // namespace

void check_run_format(uint64_t format, std::string_view name) { check_format(format, kRunFormat, name); }

std::string to_json(const Provenance& provenance) {
  const Provenance::Data& data = provenance.data;
  Json json = {
      {"format", kRunFormat},
      {"data", {{"source", data.source}, {"clients", data.clients}, {"hash", hexadecimal(data.fingerprint)}}},
      {"initial", nullptr},
      {"sessions", Json::array()}};
  if (const auto& initial = provenance.initial)
    json["initial"] = {{"file", initial->file}, {"hash", hexadecimal(initial->fingerprint)}};
  for (const Provenance::Session& session : provenance.sessions) {
    json["sessions"].push_back({{"from_round", session.from_round},
                                {"version", session.version},
                                {"device", session.device},
                                {"kernels", session.kernels},
                                {"threads", session.threads},
                                {"ranks", session.ranks}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Provenance parse_provenance(std::string_view text, std::string_view name) {
  try {
    const Json json = Json::parse(text);
    if (json.contains("format")) check_run_format(count_at(json, "format"), name);
    const Json& data = json.at("data");
    Provenance provenance{.data = {.source = data.at("source").get<std::string>(),
                                   .clients = count_at(data, "clients"),
                                   .fingerprint = from_hexadecimal(data.at("hash").get<std::string>())},
                          .initial = {},
                          .sessions = {}};
    if (const Json& initial = json.at("initial"); !initial.is_null()) {
      provenance.initial = {.file = initial.at("file").get<std::string>(),
                            .fingerprint = from_hexadecimal(initial.at("hash").get<std::string>())};
    }
    for (const Json& session : json.at("sessions")) {
      provenance.sessions.push_back({.from_round = count_at(session, "from_round"),
                                     .version = session.at("version").get<std::string>(),
                                     .device = session.at("device").get<std::string>(),
                                     .kernels = session.at("kernels").get<std::string>(),
                                     .threads = count_at(session, "threads"),
                                     .ranks = count_at(session, "ranks")});
    }
    return provenance;
  } catch (const Json::exception&) {
    throw bad_request(name, "does not say what the run came from; it is written when a run begins");
  } catch (const std::invalid_argument& error) {
    throw bad_request(name, error.what());
  }
}

Provenance go_on(Provenance saved, const Provenance& now, uint32_t from_round, const std::string& folder) {
  if (saved.data.fingerprint != now.data.fingerprint) {
    throw bad_request(folder,
                      fmt::format("was trained on other data ({} clients, hash {}) than these ({}, {}); "
                                  "give it its own, or start a new run with --out",
                                  saved.data.clients, hexadecimal(saved.data.fingerprint), now.data.clients,
                                  hexadecimal(now.data.fingerprint)));
  }
  for (Provenance::Session session : now.sessions) {
    session.from_round = from_round;
    saved.sessions.push_back(std::move(session));
  }
  return saved;
}

}  // namespace subfleet
