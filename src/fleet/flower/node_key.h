#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace subfleet::flower {

// The key by which a SuperLink knows a node: ECDSA on P-384. Immutable and thread-safe.
class NodeKey {
 public:
  // Reads a private key without a passphrase, in OpenSSH's format or as PEM; throws Error.
  static NodeKey read(const std::filesystem::path& path);
  // The same from text; `source` names it in errors.
  static NodeKey parse(const std::string& text, std::string_view source);
  // Makes a new key.
  static NodeKey generate();

  const std::string& public_pem() const { return public_pem_; }
  // ECDSA with SHA-256, in DER.
  std::string sign(std::string_view text) const;

 private:
  explicit NodeKey(std::shared_ptr<evp_pkey_st> key);
  std::shared_ptr<evp_pkey_st> key_;
  std::string public_pem_;
};

double unix_time();  // now, in seconds since 1970
// A moment as Python writes it: "2026-01-31T09:05:07.123456+00:00".
std::string iso_time(double unix_seconds);

}  // namespace subfleet::flower
