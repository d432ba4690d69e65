#include "fleet/flower/incoming.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "fleet/flower/objects.h"
#include "subfleet/base/text.h"
#include "subfleet/server/message.h"

namespace subfleet::flower {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostJobBytes = size_t{1} << 30;
constexpr size_t kMostChunks = 4096;
constexpr double kMostWait = 600;  // seconds for an object that was announced
constexpr std::string_view kRecord = "subfleet", kArray = "job", kStoredAs = "subfleet.job/";

// A message that can be answered, though only with what is wrong with it.
Error fault(std::string_view why) { return bad_request("message", why); }

// Out of "subfleet.job/2"; ours for what is no such type.
int64_t protocol_of(std::string_view type) {
  int64_t protocol = kProtocol;
  if (type.starts_with(kStoredAs)) {
    const std::string_view digits = type.substr(kStoredAs.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), protocol);
  }
  return protocol;
}

class Content {
 public:
  Content(FleetClient& client, uint64_t node_id, const wire::Metadata& envelope,
          const std::function<bool()>& stop)
      : client_(client), node_id_(node_id), envelope_(envelope), stop_(stop) {}

  // The bytes of an object, whose hash is looked at by whoever reads them.
  std::string pull(const std::string& id) {
    wire::PullObjectRequest request;
    request.mutable_node()->set_node_id(node_id_);
    request.set_run_id(envelope_.run_id());
    request.set_object_id(id);
    const double until = unix_time() + kMostWait;
    for (GrowingPause pauses; unix_time() < until;) {
      auto response = client_.call<wire::PullObjectResponse>("pull-object", request);
      if (!response.object_found()) throw failure("message", "the SuperLink no longer has all of it");
      if (response.object_available()) return std::move(*response.mutable_object_content());
      if (!pause(pauses.next(), stop_)) break;  // the server is still sending it
    }
    throw failure("message", "did not arrive whole");
  }

  // The metadata that the message's name stands for, and the name of what it holds.
  std::pair<wire::Metadata, std::string> message() {
    const std::string bytes = pull(envelope_.message_id());
    const ObjectView object = read_object(bytes, envelope_.message_id(), "Message");
    wire::Message message;
    if (!message.ParseFromArray(object.body.data(), static_cast<int>(object.body.size())) ||
        object.children.size() != 1)
      throw failure("message", "is malformed");
    message.mutable_metadata()->set_message_id(envelope_.message_id());
    return {message.metadata(), object.children.front()};
  }

  // {"name": "id"}: the only entry of a RecordDict or an ArrayRecord.
  std::string only_child(std::string_view bytes, const std::string& id, std::string_view kind,
                         std::string_view name) {
    const ObjectView object = read_object(bytes, id, kind);
    const Json json = Json::parse(object.body, nullptr, false);
    if (!json.is_object() || json.size() != 1 || !json.contains(name) || object.children.size() != 1 ||
        json.begin().value() != object.children.front())
      throw fault(fmt::format("its {} does not hold '{}' alone", kind, name));
    return object.children.front();
  }

  std::vector<std::byte> array(const std::string& id) {
    const std::string bytes = pull(id);
    const ObjectView object = read_object(bytes, id, "Array");
    const Json json = Json::parse(object.body, nullptr, false);
    const Json none;
    const auto field = [&](const char* name) -> const Json& {
      const auto at = json.is_object() ? json.find(name) : json.end();
      return at == json.end() ? none : *at;
    };
    const Json &shape = field("shape"), &chunks = field("arraychunk_ids");
    const std::string wanted = fmt::format("{}{}", kStoredAs, kProtocol);
    if (const Json& type = field("stype"); type != wanted && type.is_string())
      check_peer("protocol", protocol_of(type.get<std::string>()), kProtocol, "server", "node");
    if (field("dtype") != "uint8" || field("stype") != wanted || !shape.is_array() || shape.size() != 1 ||
        !shape[0].is_number_unsigned() || !chunks.is_array())
      throw fault(fmt::format("its array is not {}, bytes in one row", wanted));
    const auto size = shape[0].get<uint64_t>();
    if (size > kMostJobBytes || chunks.size() > kMostChunks) {
      throw fault(fmt::format("a job of {} bytes in {} pieces; at most {} in {} are taken", size,
                              chunks.size(), kMostJobBytes, kMostChunks));
    }
    return joined(object.children, chunks, size);
  }

  wire::ConfigRecord config(std::string_view bytes, const std::string& id) {
    const ObjectView object = read_object(bytes, id, "ConfigRecord");
    wire::ConfigRecord record;
    if (!record.ParseFromArray(object.body.data(), static_cast<int>(object.body.size())))
      throw fault("its ConfigRecord is malformed");
    return record;
  }

 private:
  std::vector<std::byte> joined(const std::vector<std::string>& ids, const Json& order, uint64_t size) {
    std::vector<std::byte> whole;
    for (const Json& index : order) {
      if (!index.is_number_unsigned() || index.get<uint64_t>() >= ids.size())
        throw fault("its array lacks a piece");
      const std::string& id = ids[index.get<uint64_t>()];
      const std::string bytes = pull(id);
      const ObjectView chunk = read_object(bytes, id, "ArrayChunk");
      if (chunk.body.size() > size - whole.size()) throw fault("its array is longer than its shape says");
      if (whole.empty()) whole.reserve(size);  // not before something of it has come
      const auto* data = reinterpret_cast<const std::byte*>(chunk.body.data());
      whole.insert(whole.end(), data, data + chunk.body.size());
    }
    if (whole.size() != size) throw fault("its array is shorter than its shape says");
    return whole;
  }

  FleetClient& client_;
  uint64_t node_id_;
  const wire::Metadata& envelope_;
  const std::function<bool()>& stop_;
};

void check_metadata(const wire::Metadata& metadata, const wire::Metadata& envelope, uint64_t node_id) {
  if (metadata.run_id() != envelope.run_id() || metadata.dst_node_id() != node_id)
    throw failure("message", "is for another node or run");
  if (!std::isfinite(metadata.created_at()) || !std::isfinite(metadata.ttl()) ||
      metadata.created_at() + metadata.ttl() <= unix_time())
    throw failure("message", "has expired");
}

// Throws Error unless the query's protocol and the format of its jobs are this node's.
void check_query(const wire::ConfigRecord& record) {
  int64_t protocol = 0, format = 1;  // before format 2, a query named none
  for (const auto& item : record.items()) {
    if (item.key() == "protocol") protocol = item.value().sint64();
    if (item.key() == "format") format = item.value().sint64();
  }
  if (protocol == 0) throw fault("the query names no protocol");
  check_peer("protocol", protocol, kProtocol, "server", "node");
  check_peer("format", format, kMessageFormat, "server", "node");
}

void read_record(Content& content, const std::string& records, Incoming& incoming) {
  const std::string record = content.only_child(content.pull(records), records, "RecordDict", kRecord);
  const std::string bytes = content.pull(record);
  if (incoming.metadata.message_type() == "query") {
    check_query(content.config(bytes, record));
  } else if (incoming.metadata.message_type() == "train") {
    incoming.job = content.array(content.only_child(bytes, record, "ArrayRecord", kArray));
  } else {
    throw fault(fmt::format("this node answers query and train, not '{}'",
                            clip_text(one_line(incoming.metadata.message_type()), 40)));
  }
}

}  // namespace

Incoming pull_content(FleetClient& client, uint64_t node_id, const wire::Metadata& envelope,
                      const std::function<bool()>& stop) {
  if (!is_object_id(envelope.message_id())) throw failure("message", "has no name");
  Content content(client, node_id, envelope, stop);
  auto [metadata, records] = content.message();
  check_metadata(metadata, envelope, node_id);
  Incoming incoming;
  incoming.metadata = std::move(metadata);
  try {
    read_record(content, records, incoming);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::kRequest) throw;
    incoming.fault = error.what();
    incoming.job.clear();
  }
  wire::ConfirmRequest request;
  request.mutable_node()->set_node_id(node_id);
  request.set_run_id(envelope.run_id());
  request.set_message_object_id(envelope.message_id());
  client.call<wire::ConfirmResponse>("confirm-message-received", request);
  return incoming;
}

}  // namespace subfleet::flower
