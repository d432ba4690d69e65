#include "subfleet/store/round_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

OutcomeCounts outcomes_of(uint32_t trained, uint32_t diverged, uint32_t rejected) {
  OutcomeCounts counts;
  counts[JobOutcome::kTrained] = trained;
  counts[JobOutcome::kDiverged] = diverged;
  counts[JobOutcome::kRejected] = rejected;
  return counts;
}

RoundRecord record_of(uint32_t round) {
  return {.round = round,
          .bytes_down = 924'519'400,
          .bytes_up = 9'007'199'254'740'993,  // does not fit a double
          .train_loss = 0.1 + 0.2,
          .train_accuracy_median = 1.0 / 3,
          .outcomes = outcomes_of(30, 2, 3),
          .seconds = 1e-7,
          .test_accuracy = std::nullopt,
          .test_loss = std::nullopt};
}

std::string error_of(std::string_view text) {
  try {
    parse_round_log(text, "log");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kRequest);
    return error.what();
  }
  return "no error";
}

TEST(RoundLog, RecordsReadBackToTheSameBits) {
  RoundRecord evaluated = record_of(8);
  evaluated.test_accuracy = std::nextafter(0.85, 1.0);
  evaluated.test_loss = 5e-324;
  const auto read = parse_round_log(to_json_line(record_of(7)) + to_json_line(evaluated), "log");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].round, 7U);
  EXPECT_EQ(read[0].bytes_down, 924'519'400U);
  EXPECT_EQ(read[0].bytes_up, 9'007'199'254'740'993U);
  EXPECT_EQ(read[0].train_loss, 0.1 + 0.2);
  EXPECT_EQ(read[0].train_accuracy_median, 1.0 / 3);
  EXPECT_EQ(read[0].seconds, 1e-7);
  EXPECT_EQ(read[0].outcomes, outcomes_of(30, 2, 3));
  EXPECT_FALSE(read[0].test_accuracy || read[0].test_loss);
  EXPECT_EQ(read[1].test_accuracy, std::nextafter(0.85, 1.0));
  EXPECT_EQ(read[1].test_loss, 5e-324);
}

TEST(RoundLog, TheClientsAccuraciesAreThereWhereTheyWereLogged) {
  RoundRecord record = record_of(2);
  record.train_accuracies = Quartiles{0, 0.25, 1.0 / 3, 0.5, 1};
  const auto read = parse_round_log(to_json_line(record_of(1)) + to_json_line(record), "log");
  EXPECT_FALSE(read.at(0).train_accuracies);
  EXPECT_EQ(read.at(1).train_accuracies, record.train_accuracies);
  std::string line = to_json_line(record);
  line.replace(line.find("[0.0,"), 5, "[\"0\",");
  EXPECT_NE(error_of(line).find("'train_accuracy_quartiles' is not a list of 5 numbers"), std::string::npos);
  record.train_accuracies->back() = 1.5;
  EXPECT_NE(error_of(to_json_line(record)).find("'train_accuracy_quartiles' is 1.5"), std::string::npos);
}

TEST(RoundLog, RatesAreThereWhereAScheduleChangesThem) {
  RoundRecord record = record_of(2);
  record.server_rate = 0.1 / 3;
  const auto read = parse_round_log(to_json_line(record_of(1)) + to_json_line(record), "log");
  EXPECT_FALSE(read.at(0).server_rate);
  EXPECT_EQ(read.at(1).server_rate, record.server_rate);
  EXPECT_FALSE(read.at(1).client_rate);
}

TEST(RoundLog, ALineHasTheDocumentedKeysInOrder) {
  RoundRecord record{.round = 1,
                     .bytes_down = 2,
                     .bytes_up = 3,
                     .train_loss = 0.5,
                     .outcomes = outcomes_of(4, 0, 1),
                     .test_accuracy = 0.25,
                     .test_loss = 2.5};
  EXPECT_EQ(to_json_line(record),
            "{\"round\":1,\"bytes_down\":2,\"bytes_up\":3,\"train_loss\":0.5,\"train_accuracy_median\":0.0,"
            "\"seconds\":0.0,\"trained\":4,\"rejected\":1,\"test_accuracy\":0.25,\"test_loss\":2.5}\n");
}

TEST(RoundLog, NonFiniteNumbersAreNull) {
  RoundRecord record = record_of(1);
  record.train_loss = std::numeric_limits<double>::infinity();
  record.test_accuracy = kNan;
  const std::string line = to_json_line(record);
  EXPECT_NE(line.find("\"train_loss\":null"), std::string::npos) << line;
  const auto read = parse_round_log(line, "log");
  EXPECT_TRUE(std::isnan(read.at(0).train_loss));
  ASSERT_TRUE(read[0].test_accuracy);
  EXPECT_TRUE(std::isnan(*read[0].test_accuracy));
}

TEST(RoundLog, AHalfLastLineIsIgnoredWhereverItIsCut) {
  const std::string whole = to_json_line(record_of(1)), last = to_json_line(record_of(2));
  for (size_t length = 0; length + 2 < last.size(); ++length) {
    EXPECT_EQ(parse_round_log(whole + last.substr(0, length), "log").size(), 1U) << last.substr(0, length);
  }
}

TEST(RoundLog, AnyOtherMalformedLineIsAnErrorThatNamesIt) {
  const std::string whole = to_json_line(record_of(1));
  EXPECT_EQ(error_of(whole + "{\"round\":2,\n" + to_json_line(record_of(3))).substr(0, 6), "log:2:");
  EXPECT_EQ(error_of(whole + whole.substr(0, 20) + "\n").substr(0, 6), "log:2:");
  EXPECT_EQ(error_of("[1,2]\n").substr(0, 6), "log:1:");
}

TEST(RoundLog, AMissingOrWrongFieldIsNamed) {
  EXPECT_NE(error_of("{\"bytes_down\":1}\n").find("'round' is missing"), std::string::npos);
  EXPECT_NE(error_of("{\"round\":-1}\n").find("'round' is not a count"), std::string::npos);
  EXPECT_NE(error_of("{\"round\":4294967296}\n").find("'round' is not a count"), std::string::npos);
  std::string line = to_json_line(record_of(1));
  line.replace(line.find("1e-07"), 5, "\"fast\"");
  EXPECT_NE(error_of(line).find("'seconds' is not a number"), std::string::npos);
}

TEST(RoundLog, AResumedRunReplacesTheRoundsItRepeats) {
  std::string log;
  for (const uint32_t round : {1U, 2U, 3U, 4U, 3U, 4U}) log += to_json_line(record_of(round));
  log += to_json_line(record_of(5));
  const auto read = parse_round_log(log, "log");
  ASSERT_EQ(read.size(), 5U);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(read[i].round, i + 1);
}

TEST(RoundLog, AnAccuracyIsAFraction) {
  RoundRecord record = record_of(1);
  record.test_accuracy = 50;
  EXPECT_NE(error_of(to_json_line(record)).find("'test_accuracy' is 50, not 0 to 1"), std::string::npos);
  record.test_accuracy = 1;
  record.train_accuracy_median = -0.5;
  EXPECT_NE(error_of(to_json_line(record)).find("'train_accuracy_median' is -0.5"), std::string::npos);
}

TEST(RoundLog, ByteCountsThatWouldWrapAreRefused) {
  RoundRecord first = record_of(1), second = record_of(2);
  first.bytes_down = kMostBytes;
  first.bytes_up = 0;
  second.bytes_down = 0;
  second.bytes_up = 1;
  EXPECT_EQ(parse_round_log(to_json_line(first), "log").size(), 1U);
  EXPECT_EQ(error_of(to_json_line(first) + to_json_line(second)).substr(0, 6), "log:2:");
  second.round = 1;  // replaces the first
  EXPECT_EQ(parse_round_log(to_json_line(first) + to_json_line(second), "log").size(), 1U);
  first.bytes_down = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(error_of(to_json_line(first)).substr(0, 6), "log:1:");
}

}  // namespace
}  // namespace subfleet
