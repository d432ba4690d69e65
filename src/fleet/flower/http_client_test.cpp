#include "fleet/flower/http_client.h"

#include <gtest/gtest.h>

#include "fleet/flower/superlink_testing.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet::flower {
namespace {

using Failure = HttpReply::Failure;
constexpr auto kRegister = "/v1/fleet/register-node";

HttpClient::Options options_for(const TestSuperLink& link, size_t most_reply = 1000) {
  return {.server = link.address(), .ca = {}, .most_reply = most_reply};
}

TEST(HttpClient, PostsOverOneConnectionAndCountsItsBytes) {
  const TestSuperLink link;
  HttpClient client(options_for(link));
  const std::string body(100'000, 'b');
  for (int i = 0; i < 3; ++i) {
    const HttpReply reply = client.post(kRegister, {}, body);
    EXPECT_EQ(reply.failure, Failure::kNone) << reply.why;
    EXPECT_EQ(reply.status, 200);
  }
  EXPECT_EQ(link.connections(), 1u);
  const auto asked = link.asked("register-node");
  ASSERT_EQ(asked.size(), 3u);
  for (const auto& one : asked) EXPECT_EQ(one.body, body);
  EXPECT_GT(client.bytes().up, 3 * body.size());
  EXPECT_LT(client.bytes().up, 3 * body.size() + 3000);
  EXPECT_GT(client.bytes().down, 0u);
}

TEST(HttpClient, AnAnswerThatIsNoneHasItsStatusAndBody) {
  TestSuperLink link;
  link.refuse("register-node", 403, "no");
  const HttpReply reply = HttpClient(options_for(link)).post(kRegister, {}, "");
  EXPECT_EQ(reply.failure, Failure::kNone);
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.body, "no");
}

TEST(HttpClient, ALongReplyIsNotTakenIn) {
  TestSuperLink link;
  link.refuse("register-node", 200, "12345");
  HttpClient client(options_for(link, 4));
  const HttpReply reply = client.post(kRegister, {}, "");
  EXPECT_EQ(reply.failure, Failure::kRefused);
  EXPECT_EQ(reply.why, "a reply of more than 4 bytes");
  EXPECT_EQ(reply.body, "");
  link.refuse("register-node", 200, "1234");
  EXPECT_EQ(client.post(kRegister, {}, "").body, "1234") << "the next one is";
}

TEST(HttpClient, AServerThatIsGoneIsUnreachableAndItsBytesStayCounted) {
  TestSuperLink link;
  HttpClient client(options_for(link));
  ASSERT_EQ(client.post(kRegister, {}, "first").status, 200);
  const auto sent = client.bytes().up;
  link.kill();
  const HttpReply reply = client.post(kRegister, {}, "second");
  EXPECT_EQ(reply.failure, Failure::kUnreachable);
  EXPECT_FALSE(reply.why.empty());
  EXPECT_GE(client.bytes().up, sent);
}

TEST(HttpClient, WithoutTheFileOfItsAuthorityNothingIsSent) {
  const TestSuperLink link;
  const TemporaryFolder folder;
  HttpClient::Options options = options_for(link);
  options.ca = folder / "missing.pem";
  EXPECT_EQ(HttpClient(options).post(kRegister, {}, "secret").failure, Failure::kRefused);
  EXPECT_TRUE(link.asked().empty());
}

}  // namespace
}  // namespace subfleet::flower
