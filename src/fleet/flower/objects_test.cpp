#include "fleet/flower/objects.h"

#include <gtest/gtest.h>

#include <array>

#include "fleet/flower/reply.h"
#include "subfleet/error.h"

namespace subfleet::flower {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string id_of(std::string_view bytes) { return object_id(bytes, {}); }

TEST(Objects, AreNamedByTheirHash) {
  // printf 'abc' | sha256sum
  EXPECT_EQ(object_id("a", bytes_of("bc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(is_object_id(id_of("")));
  EXPECT_FALSE(is_object_id(id_of("").substr(1)));
  EXPECT_FALSE(is_object_id(std::string(64, 'G')));
}

TEST(Objects, ComeBackAsTheyWere) {
  const std::array<std::string, 2> children{id_of("one"), id_of("two")};
  const Object object = make_object("RecordDict", children, bytes_of(std::string_view("a\0b c", 5)));
  const std::string bytes = object.bytes();
  EXPECT_EQ(bytes, "RecordDict " + children[0] + "," + children[1] + " 5" + std::string("\0a\0b c", 6));
  EXPECT_EQ(object.id, id_of(bytes));
  const ObjectView view = read_object(bytes, object.id, "RecordDict");
  EXPECT_EQ(view.kind, "RecordDict");
  EXPECT_EQ(view.children, std::vector<std::string>(children.begin(), children.end()));
  EXPECT_EQ(view.body, std::string_view("a\0b c", 5));
  const std::string childless = make_object("ArrayChunk", {}, {}).bytes();
  EXPECT_EQ(childless, std::string("ArrayChunk  0\0", 14));
  EXPECT_TRUE(read_object(childless, id_of(childless), "ArrayChunk").children.empty());
}

TEST(Objects, AreRefusedWhenMalformed) {
  const std::string good = make_object("Array", std::array{id_of("x")}, bytes_of("body")).bytes();
  EXPECT_THROW(read_object(good, id_of("else"), "Array"), Error);
  EXPECT_THROW(read_object(good, id_of(good), "ArrayChunk"), Error);
  for (const std::string& bad :
       {std::string(), std::string("Array"), std::string("Array\0", 6), std::string("Array 0\0", 8),
        std::string("Array abc 0\0", 12), std::string("Array  -1\0", 10),
        std::string("Array  4\0body behind", 20), std::string("Array  5\0body", 13),
        std::string("Array  4 \0body", 14), "Array , 0" + std::string(1, '\0'),
        good.substr(0, good.size() - 1), good + "x"})
    EXPECT_THROW(read_object(bad, id_of(bad), "Array"), Error) << bad;
}

wire::Metadata question() {
  wire::Metadata to;
  to.set_run_id(7);
  to.set_message_id(id_of("question"));
  to.set_src_node_id(1);
  to.set_dst_node_id(99);
  to.set_message_type("train");
  to.set_group_id("3");
  to.set_created_at(1e9);
  to.set_ttl(1e9);
  return to;
}

// The object of that kind, of which there is one.
const Object& only(const Reply& reply, std::string_view kind) {
  const Object* found = nullptr;
  for (const Object& object : reply.objects()) {
    if (!object.head.starts_with(std::string(kind) + " ")) continue;
    EXPECT_EQ(found, nullptr) << kind;
    found = &object;
  }
  return *found;
}

TEST(Reply, CarriesAnUpdateInPieces) {
  const size_t piece = size_t{5} << 20;
  std::vector<std::byte> update(3 * piece + 2, std::byte{0});  // three pieces alike, and a rest
  update.back() = std::byte{9};
  const Reply reply = Reply::with_update(question(), update);
  EXPECT_EQ(reply.objects().size(), 6u);  // Message, RecordDict, ArrayRecord, Array, two different pieces
  EXPECT_EQ(reply.objects().back().id, reply.envelope().metadata().message_id());
  EXPECT_EQ(reply.tree().object_id(), reply.envelope().metadata().message_id());
  const Object& array = only(reply, "Array");
  const std::string bytes = array.bytes();
  const ObjectView view = read_object(bytes, array.id, "Array");
  EXPECT_EQ(view.children.size(), 2u);
  EXPECT_EQ(view.body,
            R"({"dtype":"uint8","shape":[15728642],"stype":"subfleet.update/1","arraychunk_ids":[0,0,0,1]})");
  EXPECT_EQ(only(reply, "RecordDict").bytes().substr(76),
            "79" + std::string(1, '\0') + R"({"subfleet":")" + only(reply, "ArrayRecord").id + R"("})");
  const wire::Metadata& metadata = reply.envelope().metadata();
  EXPECT_EQ(metadata.src_node_id(), 99u);
  EXPECT_EQ(metadata.dst_node_id(), 1u);
  EXPECT_EQ(metadata.reply_to_message_id(), question().message_id());
  EXPECT_NEAR(metadata.created_at() + metadata.ttl(), 2e9, 1e-3);
  EXPECT_TRUE(reply.envelope().has_content());
}

TEST(Reply, CarriesAnError) {
  const Reply reply = Reply::with_error(question(), "no such client");
  EXPECT_EQ(reply.objects().size(), 1u);
  EXPECT_EQ(reply.envelope().error().code(), 2);
  EXPECT_EQ(reply.envelope().error().reason(), "no such client");
  EXPECT_FALSE(reply.envelope().has_content());
}

}  // namespace
}  // namespace subfleet::flower
