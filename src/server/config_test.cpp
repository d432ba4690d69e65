#include "subfleet/config.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"

namespace subfleet {
namespace {

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Config, DefaultsAreThePapers) {
  Config config;
  validate(config);
  EXPECT_EQ(config.round.clients, 35);
  EXPECT_EQ(config.round.batch, 10);
  EXPECT_EQ(config.round.epochs, 1);
  EXPECT_FLOAT_EQ(config.round.client_lr, 0.035f);
  EXPECT_EQ(config.code.keep, 0.5);
  EXPECT_EQ(config.run.rounds, 500);
  EXPECT_EQ(config.server.beta1, 0.9);
  EXPECT_EQ(config.server.beta2, 0.99);
  EXPECT_EQ(config.server.tau, 1e-3);
}

TEST(Config, WhatIsPrintedReadsBackTheSame) {
  Config config;
  set(config, "model.name", "emnist-mlp");
  set(config, "data.path", "a \"quoted\" \\ folder");
  set(config, "round.client_lr", "0.1");
  set(config, "server.lr", "1e-7");
  set(config, "round.momentum", "0.9");
  set(config, "round.weight_decay", "1e-4");
  set(config, "round.proximal", "0.01");
  set(config, "round.shuffle", "false");
  set(config, "run.seed", "1234567890123456789");
  const std::string text = to_toml(config);
  EXPECT_EQ(to_toml(parse_config(text, "test")), text);
  EXPECT_EQ(parse_config(text, "test").run.seed, 1234567890123456789u);
  EXPECT_EQ(parse_config(text, "test").round, config.round);
  for (const char* value : {"true", "false"}) {
    set(config, "code.rescale", value);
    EXPECT_EQ(parse_config(to_toml(config), "test").code.rescale, config.code.rescale) << value;
  }
}

TEST(Config, ARunOfDevicesCanChangeHowLongItWaitsForThem) {
  Config before, after;
  set(after, "round.deadline", "2.5");
  set(after, "round.min_replies", "0");
  EXPECT_EQ(after.round.deadline, 2.5);
  EXPECT_EQ(after.round.min_replies, 0);
  EXPECT_EQ(first_difference(fixed_settings(before), fixed_settings(after)), std::nullopt);
  EXPECT_THROW(set(after, "round.deadline", "-1"), Error);
  EXPECT_THROW(set(after, "round.min_replies", "1.1"), Error);
}

TEST(Config, ATargetIsAnAccuracyOrAMultipleOfChance) {
  Config config;
  EXPECT_DOUBLE_EQ(config.tune.target.among(62), 20.0 / 62);
  for (const char* value : {"0.25", "12.5x", "'7x'"}) {
    set(config, "tune.target", value);
    EXPECT_EQ(to_toml(parse_config(to_toml(config), "test")), to_toml(config)) << value;
  }
  EXPECT_DOUBLE_EQ(config.tune.target.among(62), 7.0 / 62);
  EXPECT_DOUBLE_EQ(parse_config("[tune]\ntarget = 0.25", "t").tune.target.among(62), 0.25);
}

TEST(Config, LayersAndTiersReadBackTheSame) {
  Config config;
  set(config, "code.layers.conv2.keep", "0.75");
  set(config, "code.layers.conv2.family", "random");
  set(config, "code.layers.dense1.family", "cwc");
  set(config, "code.tiers", "[1, 0.5, 0.25]");
  validate(config);
  const std::string text = to_toml(config);
  EXPECT_NE(
      text.find("\ntiers = [1.0, 0.5, 0.25]\nlayers.conv2.family = 'random'\nlayers.conv2.keep = 0.75\n"),
      std::string::npos)
      << text;
  const Config read = parse_config(text, "test");
  EXPECT_EQ(to_toml(read), text);
  EXPECT_EQ(read.code.tiers, (std::vector<double>{1.0, 0.5, 0.25}));
  EXPECT_EQ(read.code.of("conv2").family, "random");
  EXPECT_EQ(read.code.of("conv2").keep, 0.75);
  EXPECT_EQ(read.code.of("dense1").family, "cwc");
  EXPECT_EQ(read.code.of("dense1").keep, 0.5);

  // The other ways to write it in TOML.
  EXPECT_EQ(parse_config("[code.layers.conv2]\nkeep = 0.75", "t").code.of("conv2").keep, 0.75);
  EXPECT_EQ(parse_config("code.layers = {conv2 = {keep = 0.75}}", "t").code.of("conv2").keep, 0.75);

  Config copy;
  for (const Setting& s : settings(config)) set(copy, s.name, s.value);
  EXPECT_EQ(to_toml(copy), text);
}

TEST(Config, MistakesInLayersAndTiersAreOneLine) {
  Config config;
  EXPECT_EQ(complaint([&] { set(config, "code.layers.conv2.keep", "1.5"); }),
            "code.layers.conv2.keep: 1.5 is not between 0 and 1");
  EXPECT_EQ(complaint([&] { set(config, "code.layers.conv2.keep", "0"); }),
            "code.layers.conv2.keep: 0 is not a fraction above 0 and up to 1");
  EXPECT_EQ(complaint([&] { set(config, "code.layers.conv2.keep", "half"); }),
            "code.layers.conv2.keep: must be a number");
  EXPECT_EQ(complaint([&] { set(config, "code.layers.conv2.family", "''"); }),
            "code.layers.conv2.family: must name a family");
  for (const char* name : {"code.layers", "code.layers.", "code.layers.conv2", "code.layers.conv2.kep",
                           "code.layers..keep", "code.layers.a b.keep", "code.layers.conv2.keep.x"}) {
    EXPECT_NE(complaint([&] {
                set(config, name, "0.5");
              }).find("neither code.layers.LAYER.family nor code.layers.LAYER.keep"),
              std::string::npos)
        << name << " " << complaint([&] { set(config, name, "0.5"); });
  }
  EXPECT_EQ(complaint([&] { set(config, "code.tiers", "0.5"); }),
            "code.tiers: must be a list of numbers, as in [1.0, 0.5]");
  EXPECT_EQ(complaint([&] { set(config, "code.tiers", "[1.0, 'weak']"); }), "code.tiers: must be a number");
  EXPECT_EQ(complaint([&] { set(config, "code.tiers", "[1.0, 2]"); }),
            "code.tiers: 2 is not between 0 and 1");
  EXPECT_EQ(to_toml(config), to_toml(Config{})) << "what was refused changes nothing";
  set(config, "code.tiers", "[0.0]");
  EXPECT_NE(complaint([&] { validate(config); }), "none");
  set(config, "code.tiers", "[]");
  EXPECT_EQ(complaint([&] { validate(config); }), "none");
  set(config, "code.layers.conv3.keep", "0.5");
  EXPECT_EQ(complaint([&] { validate(config); }).substr(0, 45),
            "code.layers: unknown 'conv3'; nearest: conv2 ");
}

TEST(Config, EverySettingCanBeSetToWhatItPrints) {
  Config config;
  for (const Setting& s : settings(config)) {
    EXPECT_FALSE(s.help.empty()) << s.name;
    set(config, s.name, s.value);
  }
  EXPECT_EQ(to_toml(config), to_toml(Config{}));
}

TEST(Config, MistakesAreOneLineThatNamesWhatWouldBeRight) {
  Config config;
  EXPECT_EQ(complaint([&] { set(config, "round.client", "3"); }).substr(0, 58),
            "setting: unknown 'round.client'; nearest: round.clients, r");
  EXPECT_EQ(complaint([&] { set(config, "round.clients", "many"); }),
            "round.clients: must be a whole number from 1 to 20000");
  EXPECT_EQ(complaint([&] { set(config, "round.clients", "0"); }),
            "round.clients: must be a whole number from 1 to 20000");
  EXPECT_EQ(complaint([&] { set(config, "code.keep", "1.5"); }), "code.keep: 1.5 is not between 0 and 1");
  EXPECT_EQ(complaint([&] { set(config, "server.lr", "nan"); }),
            "server.lr: nan is not between 0 and 1000000");
  EXPECT_EQ(complaint([&] { set(config, "server.lr", "3333333333333333333"); }).substr(0, 27),
            "server.lr: 3.33333333333333");
  EXPECT_EQ(complaint([&] { set(config, "round.shuffle", "1"); }), "round.shuffle: must be true or false");
  EXPECT_EQ(complaint([] { parse_config("[code]\nfamily = 3", "f.toml"); }),
            "f.toml: code.family: must be a text");
  EXPECT_EQ(complaint([] { parse_config("[round]\nclients = = 3", "f.toml"); }).substr(0, 15),
            "f.toml: line 2:");
  EXPECT_EQ(complaint([] { parse_config("[round]\nclient = 3", "f.toml"); }).substr(0, 40),
            "f.toml: setting: unknown 'round.client';");
}

TEST(Config, ValidateChecksWhatOnlyShowsTogether) {
  const auto with = [](const char* name, const char* value) {
    Config config;
    set(config, name, value);
    return complaint([&] { validate(config); });
  };
  EXPECT_EQ(with("model.name", "emnist-mlp"), "none");
  EXPECT_NE(with("model.name", "emnist"), "none");
  EXPECT_NE(with("code.family", "golden"), "none");
  EXPECT_NE(with("code.keep", "0.3"), "none");  // gold keeps half
  EXPECT_NE(with("server.optimizer", "sgd"), "none");
  EXPECT_NE(with("server.unheld", "drop"), "none");
  EXPECT_NE(with("server.mean", "some"), "none");
}

TEST(Config, TheServersRateDefaultsToTheOptimizers) {
  Config config;
  set(config, "server.optimizer", "fedavg");
  validate(config);
  EXPECT_EQ(config.server.lr, 1.0);
}

TEST(Config, OnlyLengthMeasurementAndPlaceMayChangeInARunThatHasBegun) {
  Config a, b;
  set(b, "run.rounds", "7");
  set(b, "run.eval_every", "3");
  set(b, "data.path", "elsewhere");
  EXPECT_EQ(fixed_settings(a), fixed_settings(b));
  set(b, "code.layers.conv2.keep", "0.5");  // though it is code.keep: it was not said
  EXPECT_NE(fixed_settings(a), fixed_settings(b));
  set(a, "code.layers.conv2.keep", "0.5");
  EXPECT_EQ(fixed_settings(a), fixed_settings(b));
  set(a, "code.tiers", "[1.0, 0.5]");
  EXPECT_NE(fixed_settings(a), fixed_settings(b));
  set(b, "code.tiers", "[1.0, 0.5]");
  set(a, "code.rescale", "true");
  set(b, "code.rescale", "false");
  EXPECT_NE(fixed_settings(a), fixed_settings(b));
  set(b, "code.rescale", "true");
  EXPECT_EQ(fixed_settings(a), fixed_settings(b));
  for (const char* name : {"round.momentum", "round.weight_decay", "round.proximal", "server.lr"}) {
    set(b, name, "0.5");
    EXPECT_EQ(first_difference(fixed_settings(a), fixed_settings(b)), name);
    set(a, name, "0.5");
  }
}

TEST(Config, TextsThatLookLikeNumbersStayTexts) {
  Config config;
  set(config, "data.path", "2024");
  EXPECT_EQ(config.data.path, "2024");
}

TEST(Config, WholeNumbersAreNeverCutToFit) {
  Config config;
  EXPECT_EQ(complaint([&] { set(config, "data.min_samples", "4294967296"); }),
            "data.min_samples: must be a whole number from 0 to 4294967295");
  EXPECT_EQ(complaint([&] { set(config, "run.seed", "-1"); }),
            "run.seed: must be a whole number from 0 to 18446744073709551615");
  set(config, "run.seed", "9223372036854775807");
  EXPECT_EQ(config.run.seed, 9223372036854775807u);
}

TEST(Config, WhatIsNotUtf8IsNoSetting) {
  Config config;
  EXPECT_THROW(set(config, "data.path", "caf\xE9"), Error);
  EXPECT_THROW(set(config, "data.path", "a\x1B[31m"), Error);
  set(config, "data.path", "caf\xC3\xA9");
  EXPECT_EQ(parse_config(to_toml(config), "again").data.path, "caf\xC3\xA9");
}

TEST(Config, ATextOfAnyCharactersReadsBackTheSame) {
  for (const char* text : {"\n'4", "a\tb", "'''", "\"\"\"", "C:\\data", "\n\n"}) {
    Config config;
    config.data.path = text;
    EXPECT_EQ(parse_config(to_toml(config), "again").data.path, text) << to_toml(config);
  }
}

TEST(Config, AKeyOfManyPartsIsAMistakeNotACrash) {
  std::string key = "a";
  for (int i = 0; i < 40'000; ++i) key += ".a";
  EXPECT_THROW(parse_config(key + " = 1", "f.toml"), Error);
  Config config;
  EXPECT_THROW(set(config, "round.clients", "{" + key + " = 1}"), Error);
}

}  // namespace
}  // namespace subfleet
