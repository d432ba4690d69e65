#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace subfleet {

// The characters of text models, in the order of their symbols: LEAF's for Shakespeare (Caldas et al., 2018).
// One more symbol stands for every other byte. Saved models depend on the order, so append and never reorder.
inline constexpr std::string_view kVocabulary =
    "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz}";
inline constexpr size_t kUnknownSymbol = kVocabulary.size();
inline constexpr size_t kSymbols = kVocabulary.size() + 1;
inline constexpr size_t kWindow = 80;  // characters of an input; the next one is the label

// The symbol of every byte.
inline constexpr std::array<uint8_t, 256> kSymbolOf = [] {
  std::array<uint8_t, 256> symbols{};
  symbols.fill(static_cast<uint8_t>(kUnknownSymbol));
  for (size_t i = 0; i < kVocabulary.size(); ++i) {
    symbols[static_cast<uint8_t>(kVocabulary[i])] = static_cast<uint8_t>(i);
  }
  return symbols;
}();

// A symbol's name, for people.
inline std::string symbol_name(uint32_t symbol) {
  if (symbol >= kVocabulary.size()) return "other";
  if (kVocabulary[symbol] == '\n') return "newline";
  if (kVocabulary[symbol] == ' ') return "space";
  return {kVocabulary[symbol]};
}

}  // namespace subfleet
