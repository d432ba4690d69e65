#include "fuzz.h"
#include "subfleet/model.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> seeds{
      "input = [1, 28, 28]\n[[layer]]\ntype = \"conv2d\"\nunits = 4\nkernel = 3\n[[layer]]\ntype = "
      "\"flatten\"\n"
      "[[layer]]\ntype = \"dense\"\nunits = 62\ninitial = \"he\"\n",
      "input = [1, 2, 2]\noutputs = 4\n[[group]]\nname = \"a\"\nunits = 3\ndroppable = true\n"
      "[[tensor]]\nname = \"w\"\nshape = [9, 3]\nrows = { group = \"a\", outer = 3 }\ncolumns = [\"a\"]\n"
      "statistic = true\n"};
  for (const std::string& name : model_names()) seeds.push_back(model_toml(find_model(name)));
  return seeds;
}

void try_input(std::string_view input) {
  const ModelSpec model = parse_model(input, "f.toml");
  must_work([&] {
    expect(parse_model(model_toml(model), "again") == model, "what is read and written reads back the same");
    expect(class_count(model) >= (model.tensors ? 1 : 2) && parameter_count(model) > 0,
           "what is read can be trained");
  });
}

}  // namespace subfleet::fuzz
