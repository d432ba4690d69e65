#pragma once

#include <string>

#include "subfleet/base/png.h"
#include "subfleet/codes.h"
#include "subfleet/codes/quality.h"

namespace subfleet {

struct DrawnBook {
  std::string name;
  const CodeBook& book;
  const BookQuality& quality;
};

// A code book for people: its words, how many clients keep each unit, the overlap of every pair of clients,
// and how often each overlap and each coverage occurs, beside those of another book, if there is one. The
// picture is of about the same size for any book: large ones are drawn with several units or clients per
// pixel.
ColourImage book_picture(const std::string& title, const DrawnBook& drawn, const DrawnBook* beside);

}  // namespace subfleet
