#pragma once

#include <optional>
#include <string>

#include "subfleet/model.h"

namespace subfleet {

// The same as model_text() (server/message.h), which is made once for calls with the same model in a row.
class ModelTexts {
 public:
  const std::string& of(const ModelSpec& model);

 private:
  std::optional<ModelSpec> model_;
  std::string text_;
};

}  // namespace subfleet
