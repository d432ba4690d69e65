#include "fleet/flower/membership.h"

#include <gtest/gtest.h>

#include "fleet/flower/superlink_testing.h"

namespace subfleet::flower {
namespace {

// A node that speaks to a SuperLink, and what it says to its owner.
class MembershipTest : public testing::Test {
 protected:
  std::string error_of_joining() {
    try {
      node_.join(client_, 0);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TestSuperLink link_;
  bool stop_ = false;
  std::vector<std::string> said_;
  const NodeOwner owner_{.stop = [this] { return stop_; },
                         .say = [this](const std::string& line) { said_.push_back(line); }};
  const NodeOptions options_{.superlink = link_.address(), .ca = {}, .key = {}, .heartbeat = 10};
  Membership node_{options_, owner_};
  FleetClient client_{{.superlink = link_.address(), .ca = {}, .stop = owner_.stop, .say = owner_.say},
                      node_.key()};
};

TEST_F(MembershipTest, IsJoinedOnceHoweverManyThreadsFindItMissing) {
  EXPECT_EQ(node_.id(), 0u);
  node_.join(client_, 0);
  node_.join(client_, 0);
  EXPECT_EQ(node_.id(), 7u);
  EXPECT_EQ(link_.asked("register-node").size(), 1u);
  EXPECT_EQ(link_.asked("activate-node").size(), 1u);
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_EQ(said_[0], "node 7 at " + link_.address() + ", without TLS");
}

TEST_F(MembershipTest, IsJoinedAgainUnderAnotherNumberWhenItWasForgotten) {
  node_.join(client_, 0);
  link_.forget_node();
  node_.join(client_, 7);
  EXPECT_EQ(node_.id(), 8u);
  EXPECT_NE(said_.at(1).find("does not know this node any more"), std::string::npos);
}

TEST_F(MembershipTest, AKeyThatIsRegisteredAlreadyIsItsOwn) {
  link_.refuse("register-node", 409, R"({"code": 23, "detail": "in use"})");
  node_.join(client_, 0);
  EXPECT_EQ(node_.id(), 7u);
}

TEST_F(MembershipTest, WhereNodesCannotRegisterThemselvesAKeyIsAskedFor) {
  link_.refuse("register-node", 403, R"({"code": 9, "detail": "by hand"})");
  const std::string error = error_of_joining();
  EXPECT_NE(error.find("give it by --key"), std::string::npos) << error;
  EXPECT_NE(error.find("by hand"), std::string::npos) << error;
  EXPECT_TRUE(link_.asked("activate-node").empty());
  EXPECT_EQ(node_.id(), 0u);
}

TEST_F(MembershipTest, ARefusedSignatureIsAQuestionOfTheClock) {
  link_.refuse("activate-node", 401, R"({"detail": "too old"})");
  const std::string error = error_of_joining();
  EXPECT_NE(error.find("clock"), std::string::npos) << error;
  EXPECT_NE(error.find("too old"), std::string::npos) << error;
}

TEST_F(MembershipTest, ANodeThatStillCountsAsPresentIsTriedUntilItsOwnerStops) {
  link_.refuse("activate-node", 412, R"({"detail": "present"})");
  stop_ = true;
  EXPECT_THROW(node_.join(client_, 0), Unreachable);
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("trying for 2"), std::string::npos) << said_[0];
}

TEST_F(MembershipTest, LeavesAndTakesItsKeyWithIt) {
  node_.join(client_, 0);
  node_.leave(client_);
  EXPECT_EQ(link_.asked("deactivate-node").size(), 1u);
  EXPECT_EQ(link_.asked("unregister-node").size(), 1u);
  EXPECT_FALSE(node_.left()) << "signs of life go on until it is forgotten";
  node_.forget();
  EXPECT_TRUE(node_.left());
  node_.keep_alive(client_);  // ends at once
  EXPECT_TRUE(link_.asked("send-node-heartbeat").empty());
}

TEST_F(MembershipTest, LeavingWhereItIsNotKnownIsNoError) {
  node_.join(client_, 0);
  link_.forget_node();
  node_.leave(client_);
  EXPECT_EQ(link_.asked("deactivate-node").size(), 1u);
}

}  // namespace
}  // namespace subfleet::flower
