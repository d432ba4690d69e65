// The node command as a user meets it, without a SuperLink; tests/flower/node_test.py has one.

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "program.h"
#include "subfleet/base/file.h"
#include "temporary_folder.h"

namespace subfleet {
namespace {

// Nobody listens on port 1.
const std::vector<std::string> kNode{"node", "--superlink", "127.0.0.1:1", "--client", "0"};

TEST(NodeCommand, WhatIsWrongIsOneLine) {
  const auto expect = [](const std::vector<std::string>& more, const std::string& words) {
    expect_one_line_error(run_program(with(kNode, more)), 2, words);
  };
  expect({}, "--ca CA.pem");
  expect({"--insecure", "--ca", "ca.pem"}, "exclude each other");
  expect({"--insecure", "--clients", "0-3"}, "--client");
  expect({"--insecure", "--set", "data.writers=0"}, "data.writers");
  expect({"--insecure", "--device", "cuda"}, "cuda");
  expect({"--insecure", "--heartbeat", "5"}, "10 to 1800");
  expect_one_line_error(run_program({"node", "--insecure"}), 2, "--superlink");
  expect_one_line_error(run_program({"node", "--insecure", "--superlink", "127.0.0.1"}), 2, "HOST:PORT");
  expect_one_line_error(run_program({"node", "--insecure", "--superlink", "http://a@b:1"}), 2, "HOST:PORT");
  const std::vector<std::string> all{"node", "--insecure", "--superlink", "127.0.0.1:1"};
  expect_one_line_error(run_program(all), 2, "the data have 3400 clients");
  expect_one_line_error(run_program(with(all, {"--clients", "9-8"})), 2, "'9-8' is not A-B");
  expect_one_line_error(run_program(with(all, {"--client", "3400"})), 2, "0 to 3399");
}

TEST(NodeCommand, AKeyThatIsNoneIsOneLine) {
  const TemporaryFolder folder;
  const std::string key = (folder / "key").string();
  write_file(key, "no key");
  expect_one_line_error(run_program(with(kNode, {"--insecure", "--key", key, "--quiet"})), 2, "ssh-keygen");
}

TEST(NodeCommand, TriesAgainUntilItIsStopped) {
  using Clock = std::chrono::steady_clock;
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto begin = Clock::now();
    const Outcome outcome =
        run_program(with(kNode, {"--insecure"}),
                    {.signal_when = [&] { return Clock::now() - begin > std::chrono::milliseconds(1500); },
                     .signal = signal});
    EXPECT_EQ(outcome.status, 128 + signal);
    EXPECT_NE(outcome.out.find("no answer from 127.0.0.1:1"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("0 jobs, 0 queries, 0 refused"), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace subfleet
