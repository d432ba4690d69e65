#include "subfleet/fleet/node.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "fleet/flower/superlink_testing.h"
#include "tiny_federation.h"

namespace subfleet::flower {
namespace {

constexpr double kHeartbeat = 1;
constexpr size_t kObjectsOfReply = 3;  // Message, RecordDict, ConfigRecord

// A node that runs until it is told to stop.
class RunningNode {
 public:
  explicit RunningNode(const TestSuperLink& link, uint32_t threads = 1, uint64_t max_jobs = 0)
      : options_{.superlink = link.address(),
                 .ca = {},
                 .key = {},
                 .heartbeat = kHeartbeat,
                 .device = "reference",
                 .threads = threads,
                 .max_jobs = max_jobs},
        thread_([this] {
          summary_ = run_node(options_, data_,
                              {.stop = [this] { return stop_.load(); }, .say = [](const std::string&) {}});
        }) {}
  ~RunningNode() { stop(); }

  void stop() { stop_ = true; }
  NodeSummary wait_for_end() {
    thread_.join();
    return summary_;
  }

 private:
  const NodeOptions options_;
  const NodeData data_{{std::make_unique<TinyFederation>(1), 0, 0.1}, std::nullopt};
  std::atomic<bool> stop_ = false;
  NodeSummary summary_;
  std::jthread thread_;
};

std::vector<wire::HeartbeatRequest> heartbeats(const TestSuperLink& link) {
  std::vector<wire::HeartbeatRequest> all;
  for (const auto& asked : link.asked("send-node-heartbeat")) all.emplace_back().ParseFromString(asked.body);
  return all;
}

// When the node was asked to stop, its reply was sent and nobody had taken it.
class Lingering : public testing::Test {
 protected:
  void send_a_reply(double ttl = 600) {
    ASSERT_TRUE(link_.wait_for("pull-messages", 1));
    link_.offer_query(ttl);
    ASSERT_TRUE(link_.wait_for("push-object", kObjectsOfReply));
    looks_before_ = link_.asked("pull-object").size();
    node_.stop();
  }
  // Looks for its reply.
  bool waits_for_looks(size_t count) { return link_.wait_for("pull-object", looks_before_ + count); }
  void expect_end_soon() {
    const double start = unix_time();
    node_.wait_for_end();
    EXPECT_LT(unix_time() - start, 10);
  }
  bool has_left() const { return !link_.asked("deactivate-node").empty(); }

  TestSuperLink link_;
  RunningNode node_{link_};
  size_t looks_before_ = 0;
};

TEST(SignsOfLife, AreGivenWhileTheNodeIsBusyWithSomethingElse) {
  TestSuperLink link;
  link.hold_messages(true);
  RunningNode node(link);
  ASSERT_TRUE(link.wait_for("send-node-heartbeat", 3));
  EXPECT_EQ(link.asked("pull-messages").size(), 1u);
  double last = link.asked("activate-node").at(0).time;
  for (const auto& asked : link.asked("send-node-heartbeat")) {
    EXPECT_LT(asked.time - last, 2 * kHeartbeat) << "after which a node counts as gone";
    EXPECT_GT(asked.time - last, 0.5 * kHeartbeat) << "more often than is needed";
    last = asked.time;
  }
  for (const wire::HeartbeatRequest& request : heartbeats(link)) {
    EXPECT_EQ(request.node().node_id(), 7u);
    EXPECT_EQ(request.heartbeat_interval(), kHeartbeat);
  }
  node.stop();
  link.hold_messages(false);
}

TEST(SignsOfLife, AreThoseOfTheNodeThatHasJoinedAgain) {
  TestSuperLink link;
  RunningNode node(link);
  ASSERT_TRUE(link.wait_for("pull-messages", 1));
  link.forget_node();
  ASSERT_TRUE(link.wait_for("activate-node", 2));
  const size_t before = heartbeats(link).size();
  ASSERT_TRUE(link.wait_for("send-node-heartbeat", before + 2));
  EXPECT_EQ(heartbeats(link).back().node().node_id(), 8u);
}

TEST(SignsOfLife, EndWhenTheNodeHasLeft) {
  TestSuperLink link;
  RunningNode node(link);
  ASSERT_TRUE(link.wait_for("send-node-heartbeat", 1));
  node.stop();
  node.wait_for_end();
  EXPECT_EQ(link.asked().back().name, "unregister-node");
}

TEST(MaxJobs, TheLastJobIsAnsweredThoughOtherThreadsTakeNoMore) {
  TestSuperLink link;
  link.hold_objects(true);
  RunningNode node(link, /*threads=*/2, /*max_jobs=*/1);
  ASSERT_TRUE(link.wait_for("pull-messages", 1));
  link.offer_job(/*ttl=*/600);
  ASSERT_TRUE(link.wait_for("pull-object", 3));  // by now the other thread knows that all are taken
  link.hold_objects(false);
  EXPECT_TRUE(link.wait_for("push-object", 1));
  link.drop_objects();  // the reply, an error of a single object, is taken
  EXPECT_EQ(node.wait_for_end().refused, 1u);
}

TEST(Query, OfAServerOfAnotherFormatIsRefusedInALineThatSaysWhoMustUpdate) {
  TestSuperLink link;
  RunningNode node(link);
  ASSERT_TRUE(link.wait_for("pull-messages", 1));
  size_t asked = 0;
  for (const auto& [format, says] : std::vector<std::pair<std::optional<int>, std::string>>{
           {std::nullopt, fmt::format("1 of an older server; this node speaks format {}: update the server",
                                      kMessageFormat)},
           {kMessageFormat + 1,
            fmt::format("{} of a newer server; this node speaks format {}: update the node",
                        kMessageFormat + 1, kMessageFormat)}}) {
    link.offer_query(5, format);
    ASSERT_TRUE(link.wait_for("push-messages", ++asked));
    wire::PushMessagesRequest request;
    ASSERT_TRUE(request.ParseFromString(link.asked("push-messages").back().body));
    EXPECT_EQ(request.messages_list(0).error().reason(), "message: format " + says);
  }
  link.drop_objects();
  node.stop();
  EXPECT_EQ(node.wait_for_end().refused, 2u);
}

TEST_F(Lingering, LastsUntilTheReplyWasTaken) {
  send_a_reply();
  ASSERT_TRUE(waits_for_looks(3));
  ASSERT_TRUE(link_.wait_for("send-node-heartbeat", link_.asked("send-node-heartbeat").size() + 2));
  EXPECT_FALSE(has_left());
  link_.drop_objects();
  const double taken = unix_time();
  EXPECT_EQ(node_.wait_for_end().queries, 1u);
  ASSERT_TRUE(has_left());
  EXPECT_GT(link_.asked("deactivate-node").at(0).time, taken);
  EXPECT_LT(unix_time() - taken, 10);
}

TEST_F(Lingering, EndsWhenTheReplyHasExpired) {
  const double start = unix_time();
  send_a_reply(3);
  node_.wait_for_end();
  ASSERT_TRUE(has_left());
  const double left = link_.asked("deactivate-node").at(0).time;
  EXPECT_GT(left - start, 3);
  EXPECT_LT(left - start, 15);
}

TEST_F(Lingering, EndsWhenTheSuperLinkHasForgottenTheNode) {
  send_a_reply();
  ASSERT_TRUE(waits_for_looks(1));
  link_.forget_node();
  expect_end_soon();
  EXPECT_EQ(link_.asked("activate-node").size(), 1u) << "it joined again only to leave";
}

TEST_F(Lingering, EndsWhenTheSuperLinkIsGone) {
  send_a_reply();
  ASSERT_TRUE(waits_for_looks(1));
  link_.kill();
  expect_end_soon();
}

}  // namespace
}  // namespace subfleet::flower
