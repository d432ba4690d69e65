#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What Flower's messages consist of: trees of objects, each named by its hash. An object's bytes are "Kind
// childid,childid bodysize", a zero byte, and the body.
namespace subfleet::flower {

// The name of an object: SHA-256 of its bytes, in lower-case hexadecimal.
std::string object_id(std::string_view head, std::span<const std::byte> body);
bool is_object_id(std::string_view text);

// An object as it arrived; the views point into its bytes.
struct ObjectView {
  std::string_view kind;
  std::vector<std::string> children;
  std::string_view body;
};

// Throws Error unless the bytes have that id and kind and are well-formed.
ObjectView read_object(std::string_view bytes, std::string_view id, std::string_view kind);

// An object to be sent. The caller owns the body, which must outlive it.
struct Object {
  std::string id;
  std::string head;  // up to and including the zero byte
  std::span<const std::byte> body;
  std::string bytes() const;
};
Object make_object(std::string_view kind, std::span<const std::string> children,
                   std::span<const std::byte> body);

}  // namespace subfleet::flower
