#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/examples.h"
#include "subfleet/model.h"

namespace subfleet {

struct DataOptions {
  std::string source = "glyphs";    // a name of data_source_names(); `glyphs` are generated
  std::filesystem::path path = {};  // the folder of a source that reads files (docs/data.md)
  uint32_t min_samples = 0;         // clients with fewer examples are left out
  uint32_t writers = 3400;          // glyphs: how many writers there are
  uint64_t seed = 0;  // glyphs: which writers; idx, cifar: whose images; every source: which are for testing
  // Of each client's examples, rounded to nearest; data that come with a split of their own keep it.
  double test_fraction = 0.1;
  bool raw_polarity = false;  // idx, leaf, hdf5: x = the pixel, from 0 to 1, instead of 1 - the pixel
  bool transpose = false;     // idx: rows and columns change places, as EMNIST's own files need it
  // idx, cifar: whose images they are. `auto`: their writers', and cifar's as `dirichlet`. Otherwise they are
  // dealt to `clients` clients as `iid`, `dirichlet` (each client has its own mix of classes) or `shards`
  // (each client gets `shards` pieces of the images sorted by class).
  std::string partition = "auto";
  uint32_t clients = 500;
  double dirichlet = 0.1;  // how alike the clients' mixes are; small is few classes each
  uint32_t shards = 2;
  uint32_t window_step = 10;  // text: characters from one window to the next
  bool operator==(const DataOptions&) const = default;
};

// Examples by client. Immutable; every method may be called from several threads at once.
class Federation {
 public:
  virtual ~Federation() = default;
  virtual uint32_t clients() const = 0;
  virtual Shape input() const = 0;
  virtual uint32_t classes() const = 0;

  // All examples of one client, in the order of the data, in place of what was there.
  virtual void read(uint32_t client, Examples& into) const = 0;
  Examples load(uint32_t client) const {
    Examples examples;
    read(client, examples);
    return examples;
  }
  // load(client).count(), without loading.
  virtual uint32_t samples(uint32_t client) const = 0;
  // Of data that come with a split of their own: how many of the client's examples, the last ones, are for
  // testing. Fewer than there are.
  virtual std::optional<uint32_t> own_test_samples(uint32_t client) const {
    static_cast<void>(client);
    return std::nullopt;
  }
  // Of data whose test examples are nobody's: these are what is tested with, and clients train with all of
  // theirs.
  virtual const Examples* own_test_set() const { return nullptr; }
  // A hash of all that read() and the counts can give, to tell whether the data are still the same.
  virtual uint64_t fingerprint() const = 0;
  // What the class is called ("A"), for pictures.
  virtual std::string class_name(uint32_t label) const = 0;
};

// A source's clients, each with its own training and test examples: those of the data's own split or, without
// one, drawn. Which examples are drawn for testing depends on the options' seed and the client alone.
class SplitFederation {
 public:
  SplitFederation(std::shared_ptr<const Federation> all, uint64_t seed, double test_fraction);
  const Federation& all() const { return *all_; }
  uint32_t clients() const { return all_->clients(); }
  uint32_t train_samples(uint32_t client) const;
  // In the data's order; read_train() puts them in place of what was there.
  void read_train(uint32_t client, Examples& into) const;
  Examples train(uint32_t client) const;
  Examples test(uint32_t client) const;

  // The test examples of every client, or of clients drawn by the seed until there are at least `limit`; of
  // nobody's (Federation::own_test_set()), so many drawn ones. 0 means all.
  Examples test_set(uint64_t limit) const;

 private:
  uint32_t test_samples(uint32_t client) const;
  std::vector<bool> test_mask(uint32_t client) const;
  std::shared_ptr<const Federation> all_;
  uint64_t seed_;
  double test_fraction_;
};

// The source of data that a program has in memory, which no name opens.
inline constexpr std::string_view kArrays = "arrays";

// Each client's examples, and those to test with, if they are nobody's (otherwise `test` is empty). Throws
// Error, in a line that says where, for examples of other shapes, values that are not finite and labels that
// are not below `classes`.
std::unique_ptr<Federation> make_array_federation(const Shape& input, uint32_t classes,
                                                  std::vector<Examples> clients,
                                                  std::optional<Examples> test);

// The source of that name; throws Error naming the nearest. A new source is one file in src/data and one line
// in sources.cpp.
std::unique_ptr<Federation> open_federation(const DataOptions& options);
// The same, with training and test examples apart.
SplitFederation open_split_federation(const DataOptions& options);
std::vector<std::string> data_source_names();

}  // namespace subfleet
