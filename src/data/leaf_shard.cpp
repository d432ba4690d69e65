#include "data/leaf_shard.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/vocabulary.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kPixels = values_of(ExampleKind::kCharacters);
constexpr auto kPixelsAre = "pixels are from 0 to 1", kLabelsAre = "labels are whole numbers from 0 to 61";

// One symbol per character; a character of several bytes becomes the symbol for unknown ones.
std::vector<uint16_t> symbols_of(std::string_view text) {
  std::vector<uint16_t> symbols;
  for (const char character : text) {
    const auto byte = static_cast<uint8_t>(character);
    if ((byte & 0xC0) != 0x80) symbols.push_back(kSymbolOf[byte]);
  }
  return symbols;
}

// Takes the events of nlohmann's parser. What an event means depends on its place in the file.
class ShardEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  ShardEvents(const std::string& file, const LeafUser& user) : file_(file), user_(user) {}

  bool start_object(size_t) override { return enter(false); }
  bool start_array(size_t) override { return enter(true); }

  bool key(std::string& name) override {
    key_ = name;
    if (place() == Place::kPeople) name_ = name;
    return true;
  }

  bool end_object() override {
    if (place() == Place::kPerson) finish_user();
    places_.pop_back();
    return true;
  }

  bool end_array() override {
    if (place() == Place::kPicture && examples_.values.size() != ++inputs_ * kPixels) throw not_a_picture();
    places_.pop_back();
    return true;
  }

  bool string(std::string& text) override {
    if (ignores()) return true;
    switch (place()) {
      case Place::kUsers:
        users_.push_back(text);
        return true;
      case Place::kInputs:
        add_window(text);
        return true;
      case Place::kLabels:
        add_character(text);
        return true;
      default:
        throw unexpected("a text");
    }
  }

  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool null() override { return ignores() ? true : throw unexpected("null"); }
  bool boolean(bool) override { return ignores() ? true : throw unexpected("true or false"); }
  bool binary(binary_t&) override { return true; }  // not in JSON

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    constexpr size_t kLongest = 100;
    std::string why = error.what();  // "[json...] parse error at line L, column C: why"
    if (const size_t colon = why.find(": "); colon != std::string::npos) why = why.substr(colon + 2);
    const std::string right = what_is_right();
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr) {
      throw complaint(fmt::format("has {} at byte {}, which is too large for any number{}",
                                  clip_text(one_line(token), kLongest), position, right));
    }
    const bool literal = why.find("invalid literal") != std::string::npos;
    throw complaint(fmt::format("is not whole JSON at byte {} ({}){}", position,
                                clip_text(one_line(why), kLongest), literal ? right : ""));
  }

  // Checks that the lists at the file's beginning agree with what was found.
  void check_lists() const {
    if (users_.size() != counts_.size() || users_.size() != found_.size()) {
      throw complaint(
          fmt::format("names {} users and {} num_samples, and has user_data of {}; they belong together",
                      users_.size(), counts_.size(), found_.size()));
    }
    for (size_t i = 0; i < users_.size(); ++i) {
      const auto found = found_.find(users_[i]);
      if (found == found_.end()) throw complaint(user_title(users_[i]) + " has no user_data");
      if (static_cast<double>(found->second) != counts_[i]) {
        throw complaint(fmt::format("{} has {} examples; its num_samples is {}", user_title(users_[i]),
                                    found->second, counts_[i]));
      }
    }
  }

 private:
  enum class Place { kFile, kTop, kUsers, kCounts, kPeople, kPerson, kInputs, kPicture, kLabels, kIgnored };

  Place place() const { return places_.back(); }

  // Whether the next value belongs to a key that LEAF's readers do not need.
  bool ignores() const {
    if (place() == Place::kTop) return key_ != "users" && key_ != "num_samples" && key_ != "user_data";
    if (place() == Place::kPerson) return key_ != "x" && key_ != "y";
    return place() == Place::kIgnored;
  }

  bool enter(bool list) {
    places_.push_back(ignores() ? Place::kIgnored : inside(list));
    return true;
  }

  Place inside(bool list) {
    if (place() == Place::kFile && !list) return Place::kTop;
    if (place() == Place::kTop && list && key_ == "users") return Place::kUsers;
    if (place() == Place::kTop && list && key_ == "num_samples") return Place::kCounts;
    if (place() == Place::kTop && !list && key_ == "user_data") return Place::kPeople;
    if (place() == Place::kPeople && !list) return Place::kPerson;
    if (place() == Place::kPerson && list) {
      if (std::exchange(key_ == "x" ? has_inputs_ : has_labels_, true)) {
        throw complaint(fmt::format("{} has {} twice", user_title(name_), key_));
      }
      return key_ == "x" ? Place::kInputs : Place::kLabels;
    }
    if (place() == Place::kInputs && list) {
      set_kind(ExampleKind::kCharacters);
      return Place::kPicture;
    }
    throw unexpected(list ? "a list" : "an object");
  }

  // Which numbers can stand in this place.
  std::string what_is_right() const {
    if (place() == Place::kPicture) return fmt::format("; {}", kPixelsAre);
    if (place() == Place::kLabels) return fmt::format("; {}", kLabelsAre);
    return "";
  }

  bool number(double value) {
    if (ignores()) return true;
    switch (place()) {
      case Place::kCounts:
        counts_.push_back(value);
        return true;
      case Place::kPicture:
        add_pixel(value);
        return true;
      case Place::kLabels:
        add_label(value);
        return true;
      default:
        throw unexpected("a number");
    }
  }

  void add_pixel(double value) {
    if (!is_pixel(value)) {
      throw complaint(fmt::format("{} has a pixel of {} in picture {}; {}", user_title(name_), value, inputs_,
                                  kPixelsAre));
    }
    if (examples_.values.size() == (inputs_ + 1) * kPixels) throw not_a_picture();
    examples_.values.push_back(pixel_code(value));
  }

  void add_label(double value) {
    if (!is_character_label(value)) {
      throw complaint(fmt::format("{} has the label {} at example {}; {}", user_title(name_), value,
                                  examples_.labels.size(), kLabelsAre));
    }
    set_label_kind(ExampleKind::kCharacters);
    examples_.labels.push_back(static_cast<uint8_t>(value));
  }

  void add_window(const std::string& text) {
    const std::vector<uint16_t> symbols = symbols_of(text);
    if (symbols.size() != kWindow) {
      throw complaint(fmt::format("{} has a text of {} characters at example {}; expected {}",
                                  user_title(name_), symbols.size(), inputs_, kWindow));
    }
    set_kind(ExampleKind::kText);
    examples_.values.insert(examples_.values.end(), symbols.begin(), symbols.end());
    ++inputs_;
  }

  void add_character(const std::string& text) {
    const std::vector<uint16_t> symbols = symbols_of(text);
    if (symbols.size() != 1) {
      throw complaint(fmt::format("{} has a label of {} characters at example {}; expected 1",
                                  user_title(name_), symbols.size(), examples_.labels.size()));
    }
    set_label_kind(ExampleKind::kText);
    examples_.labels.push_back(static_cast<uint8_t>(symbols.front()));
  }

  void finish_user() {
    if (!has_inputs_ || !has_labels_) {
      throw complaint(
          fmt::format("{} has no {}; every user needs x and y", user_title(name_), has_inputs_ ? "y" : "x"));
    }
    if (inputs_ != examples_.labels.size()) {
      throw complaint(fmt::format("{} has {} x and {} y; expected as many of both", user_title(name_),
                                  inputs_, examples_.labels.size()));
    }
    if (kind_ != label_kind_) {
      throw complaint(fmt::format("{} mixes pictures and text; numbers label pictures, characters text",
                                  user_title(name_)));
    }
    found_.emplace(name_, inputs_);
    user_(name_, kind_, std::exchange(examples_, {}));
    has_inputs_ = has_labels_ = false;
    inputs_ = 0;
  }

  void set_kind(ExampleKind kind) {
    if (inputs_ > 0 && kind != kind_) {
      throw complaint(fmt::format("{} mixes pictures and text", user_title(name_)));
    }
    kind_ = kind;
  }

  void set_label_kind(ExampleKind kind) {
    if (!examples_.labels.empty() && kind != label_kind_) {
      throw complaint(fmt::format("{} has numbers and characters as labels", user_title(name_)));
    }
    label_kind_ = kind;
  }

  Error complaint(const std::string& why) const { return bad_request(file_, why); }

  Error not_a_picture() const {
    return complaint(
        fmt::format("{} has a picture that does not have {} pixels, 28 x 28", user_title(name_), kPixels));
  }

  Error unexpected(std::string_view what) const {
    return complaint(fmt::format(
        "has {} in the wrong place; expected {{\"users\": [\"a\"], \"num_samples\": [1], \"user_data\": "
        "{{\"a\": {{\"x\": [...], \"y\": [...]}}}}}}",
        what));
  }

  const std::string& file_;
  const LeafUser& user_;
  std::vector<Place> places_{Place::kFile};
  std::string key_;
  std::vector<std::string> users_;
  std::vector<double> counts_;
  std::map<std::string, size_t> found_;  // examples by user

  // The user that is being read.
  std::string name_;
  ClientExamples examples_;
  size_t inputs_ = 0;
  bool has_inputs_ = false, has_labels_ = false;
  ExampleKind kind_ = ExampleKind::kCharacters, label_kind_ = ExampleKind::kCharacters;
};

}  // namespace

void read_leaf_shard(std::istream& in, const std::string& file, const LeafUser& user) {
  ShardEvents events(file, user);
  nlohmann::json::sax_parse(in, &events);
  events.check_lists();
}

}  // namespace subfleet
