#include "fleet/flower/reply.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "fleet/flower/node_key.h"

namespace subfleet::flower {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kChunkBytes = size_t{5} << 20;   // as Flower cuts arrays
constexpr int64_t kClientAppRaisedException = 2;  // Flower's code for a client that could not

// The names of the children, each once.
std::vector<std::string> names_of(std::span<const wire::ObjectTree> children) {
  std::vector<std::string> names;
  for (const wire::ObjectTree& child : children)
    if (std::ranges::find(names, child.object_id()) == names.end()) names.push_back(child.object_id());
  return names;
}

}  // namespace

Reply Reply::with_update(const wire::Metadata& to, std::vector<std::byte> update) {
  Reply reply;
  const wire::ObjectTree array = reply.add_array(std::move(update));
  const wire::ObjectTree record =
      reply.add("ArrayRecord", {&array, 1}, Json{{"update", array.object_id()}}.dump());
  reply.finish(to, {&record, 1}, nullptr);
  return reply;
}

Reply Reply::with_config(const wire::Metadata& to, const wire::ConfigRecord& config) {
  Reply reply;
  const wire::ObjectTree record = reply.add("ConfigRecord", {}, config.SerializeAsString());
  reply.finish(to, {&record, 1}, nullptr);
  return reply;
}

Reply Reply::with_error(const wire::Metadata& to, std::string_view reason) {
  wire::Error error;
  error.set_code(kClientAppRaisedException);
  error.set_reason(std::string(reason));
  Reply reply;
  reply.finish(to, {}, &error);
  return reply;
}

wire::ObjectTree Reply::add(std::string_view kind, std::span<const wire::ObjectTree> children,
                            std::string body) {
  bodies_.push_back(std::move(body));
  objects_.push_back(make_object(kind, names_of(children), std::as_bytes(std::span(bodies_.back()))));
  wire::ObjectTree tree;
  tree.set_object_id(objects_.back().id);
  for (const wire::ObjectTree& child : children) *tree.add_children() = child;
  return tree;
}

wire::ObjectTree Reply::add_array(std::vector<std::byte> bytes) {
  array_ = std::move(bytes);
  std::vector<wire::ObjectTree> chunks;  // each once; pieces that are alike are one object
  Json order = Json::array();
  for (size_t first = 0; first < array_.size(); first += kChunkBytes) {
    const auto piece = std::span(array_).subspan(first, std::min(kChunkBytes, array_.size() - first));
    Object chunk = make_object("ArrayChunk", {}, piece);
    const auto same = std::ranges::find(chunks, chunk.id, &wire::ObjectTree::object_id);
    order.push_back(same - chunks.begin());
    if (same != chunks.end()) continue;
    chunks.emplace_back().set_object_id(chunk.id);
    objects_.push_back(std::move(chunk));
  }
  return add("Array", chunks,
             Json{{"dtype", "uint8"},
                  {"shape", Json::array({array_.size()})},
                  {"stype", "subfleet.update/1"},
                  {"arraychunk_ids", order}}
                 .dump());
}

void Reply::finish(const wire::Metadata& to, std::span<const wire::ObjectTree> record,
                   const wire::Error* error) {
  std::vector<wire::ObjectTree> content;
  if (error == nullptr)
    content.push_back(add("RecordDict", record, Json{{"subfleet", record.front().object_id()}}.dump()));

  wire::Metadata& metadata = *envelope_.mutable_metadata();
  const double now = unix_time();
  metadata.set_run_id(to.run_id());
  metadata.set_src_node_id(to.dst_node_id());
  metadata.set_dst_node_id(to.src_node_id());
  metadata.set_reply_to_message_id(to.message_id());
  metadata.set_group_id(to.group_id());
  metadata.set_message_type(to.message_type());
  metadata.set_created_at(now);
  metadata.set_ttl(to.created_at() + to.ttl() - now);
  if (to.has_src_task_id()) metadata.set_dst_task_id(to.src_task_id());
  if (to.has_dst_task_id()) metadata.set_src_task_id(to.dst_task_id());
  if (error != nullptr) *envelope_.mutable_error() = *error;
  // The object has neither its own name nor a content; what announces it has both.
  tree_ = add("Message", content, envelope_.SerializeAsString());
  metadata.set_message_id(tree_.object_id());
  if (error == nullptr) envelope_.mutable_content();
}

}  // namespace subfleet::flower
