#include "fleet/flower/objects.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "subfleet/error.h"

namespace subfleet::flower {
namespace {

constexpr size_t kMostHead = size_t{1} << 20;  // 16,000 children
constexpr size_t kIdLength = 64;

Error malformed(std::string_view why) { return bad_request("object", why); }

// The head of an object whose hash is right, without its zero byte.
std::string_view head_of(std::string_view bytes, std::string_view id) {
  if (object_id(bytes, {}) != id) throw malformed("its bytes do not match its name, which is their hash");
  const size_t end = bytes.substr(0, kMostHead).find('\0');
  if (end == std::string_view::npos) throw malformed("has no head");
  return bytes.substr(0, end);
}

std::vector<std::string> split_ids(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty()) {
    const std::string_view id = text.substr(0, text.find(','));
    if (!is_object_id(id)) throw malformed("has a child whose name is not a hash");
    ids.emplace_back(id);
    text.remove_prefix(std::min(text.size(), id.size() + 1));
  }
  return ids;
}

}  // namespace

std::string object_id(std::string_view head, std::span<const std::byte> body) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, 32> digest{};
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), head.data(), head.size()) != 1 ||
      EVP_DigestUpdate(context.get(), body.data(), body.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1)
    throw failure("OpenSSL", "cannot hash");
  std::string id;
  id.reserve(kIdLength);
  for (const unsigned char byte : digest) fmt::format_to(std::back_inserter(id), "{:02x}", byte);
  return id;
}

bool is_object_id(std::string_view text) {
  return text.size() == kIdLength &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

ObjectView read_object(std::string_view bytes, std::string_view id, std::string_view kind) {
  const std::string_view head = head_of(bytes, id);
  const size_t first = head.find(' '), last = head.rfind(' ');
  if (first == std::string_view::npos || first == last)
    throw malformed("has a head without kind, children and size");
  ObjectView object{.kind = head.substr(0, first),
                    .children = split_ids(head.substr(first + 1, last - first - 1)),
                    .body = bytes.substr(head.size() + 1)};
  if (object.kind != kind) throw malformed(fmt::format("is not a {}, which is expected here", kind));
  const std::string_view size = head.substr(last + 1);
  size_t stated = 0;
  const auto [end, code] = std::from_chars(size.data(), size.data() + size.size(), stated);
  if (code != std::errc() || end != size.data() + size.size() || stated != object.body.size()) {
    throw malformed(
        fmt::format("the size of its body, {}, is not the one that its head states", object.body.size()));
  }
  return object;
}

std::string Object::bytes() const {
  std::string all = head;
  all.append(reinterpret_cast<const char*>(body.data()), body.size());
  return all;
}

Object make_object(std::string_view kind, std::span<const std::string> children,
                   std::span<const std::byte> body) {
  std::string head = fmt::format("{} {} {}", kind, fmt::join(children, ","), body.size());
  head += '\0';
  return {.id = object_id(head, body), .head = head, .body = body};
}

}  // namespace subfleet::flower
