#include "fleet/flower/openssh_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "subfleet/error.h"

namespace subfleet::flower {
namespace {

constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view kEnd = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view kMagic{"openssh-key-v1\0", 15};
constexpr size_t kPointBytes = 97, kScalarBytes = 48;
constexpr size_t kMostText = 16384;

// Walks over the binary part: 32-bit lengths, most significant byte first, each followed by its bytes.
struct Reader {
  std::string_view bytes;
  std::string_view source;

  Error malformed() const { return bad_request(source, "not a whole private key in OpenSSH's format"); }
  std::string_view take(size_t count) {
    if (count > bytes.size()) throw malformed();
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
  }
  uint32_t number() {
    uint32_t value = 0;
    for (const char byte : take(4)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }
  std::string_view text() { return take(number()); }
};

std::string decode_base64(std::string_view letters, const Reader& reader) {
  std::string plain;
  for (const char c : letters)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) plain += c;
  if (plain.empty() || plain.size() % 4 != 0) throw reader.malformed();
  const size_t padding = static_cast<size_t>(std::count(plain.end() - 2, plain.end(), '='));
  std::vector<unsigned char> decoded(plain.size() / 4 * 3);
  if (EVP_DecodeBlock(decoded.data(), reinterpret_cast<const unsigned char*>(plain.data()),
                      static_cast<int>(plain.size())) < 0)
    throw reader.malformed();
  return {decoded.begin(), decoded.end() - static_cast<ptrdiff_t>(padding)};
}

}  // namespace

bool is_openssh_key(std::string_view text) { return text.find(kBegin) != std::string_view::npos; }

CurveKey parse_openssh_key(std::string_view text, std::string_view source) {
  Reader outer{{}, source};
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (text.size() > kMostText || begin == std::string_view::npos || end == std::string_view::npos ||
      end < begin + kBegin.size())
    throw outer.malformed();
  const std::string decoded =
      decode_base64(text.substr(begin + kBegin.size(), end - begin - kBegin.size()), outer);
  outer.bytes = decoded;
  if (outer.take(kMagic.size()) != kMagic) throw outer.malformed();
  const std::string_view cipher = outer.text(), derivation = outer.text();
  outer.text();  // the derivation's options
  if (cipher != "none" || derivation != "none") {
    throw bad_request(source,
                      "has a passphrase, which nobody is there to type; make one without: "
                      "ssh-keygen -t ecdsa -b 384 -N ''");
  }
  if (outer.number() != 1) throw outer.malformed();
  outer.text();  // the public key, which the private part holds too
  Reader inner{outer.text(), source};

  const uint32_t check = inner.number();
  if (inner.number() != check) throw inner.malformed();
  const std::string_view kind = inner.text();
  if (kind != "ecdsa-sha2-nistp384")
    throw bad_request(source, "not an ECDSA key on P-384; make one: ssh-keygen -t ecdsa -b 384 -N ''");
  if (inner.text() != "nistp384") throw inner.malformed();
  const std::string_view point = inner.text();
  std::string_view scalar = inner.text();
  while (!scalar.empty() && scalar.front() == 0) scalar.remove_prefix(1);
  if (point.size() != kPointBytes || point.front() != 4 || scalar.empty() || scalar.size() > kScalarBytes)
    throw inner.malformed();
  return {.point = std::string(point), .scalar = std::string(scalar)};
}

}  // namespace subfleet::flower
