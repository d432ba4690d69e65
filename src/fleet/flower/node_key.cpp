#include "fleet/flower/node_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include "fleet/flower/openssh_key.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet::flower {
namespace {

constexpr const char* kCurve = "secp384r1";

template <auto free_it>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free_it(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_clear_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, Free<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Free<OSSL_PARAM_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

void require(bool done, std::string_view what) {
  if (!done) throw failure("OpenSSL", fmt::format("cannot {}", what));
}

Key from_numbers(const CurveKey& numbers) {
  const Number scalar(BN_bin2bn(reinterpret_cast<const unsigned char*>(numbers.scalar.data()),
                                static_cast<int>(numbers.scalar.size()), nullptr));
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  require(scalar && builder &&
              OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, kCurve, 0) == 1 &&
              OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, numbers.point.data(),
                                               numbers.point.size()) == 1 &&
              OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar.get()) == 1,
          "describe a key");
  const Params params(OSSL_PARAM_BLD_to_param(builder.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* made = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_KEYPAIR, params.get()) != 1)
    return nullptr;
  return Key(made);
}

bool is_sound(EVP_PKEY* key) {
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  return context && EVP_PKEY_check(context.get()) == 1;
}

bool is_on_curve(EVP_PKEY* key) {
  char name[64] = {};
  size_t length = 0;
  return EVP_PKEY_get_group_name(key, name, sizeof name, &length) == 1 && std::string_view(name) == kCurve;
}

int no_passphrase(char*, int, int, void*) { return -1; }

Key from_pem(const std::string& text) {
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  return Key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr);
}

std::string pem_of_public(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  require(bio && PEM_write_bio_PUBKEY(bio.get(), key) == 1, "write a public key");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<size_t>(size)};
}

}  // namespace

NodeKey::NodeKey(std::shared_ptr<EVP_PKEY> key)
    : key_(std::move(key)), public_pem_(pem_of_public(key_.get())) {}

NodeKey NodeKey::read(const std::filesystem::path& path) {
  return parse(read_file(path, kMostTextBytes), path.string());
}

NodeKey NodeKey::parse(const std::string& text, std::string_view source) {
  Key key = is_openssh_key(text) ? from_numbers(parse_openssh_key(text, source)) : from_pem(text);
  ERR_clear_error();  // what went wrong is said here
  if (!key) {
    throw bad_request(source,
                      "not a private key without a passphrase, in OpenSSH's format or as PEM; make one: "
                      "ssh-keygen -t ecdsa -b 384 -N ''");
  }
  if (!is_on_curve(key.get()))
    throw bad_request(source, "not an ECDSA key on P-384; make one: ssh-keygen -t ecdsa -b 384 -N ''");
  if (!is_sound(key.get())) throw bad_request(source, "its public and private parts do not belong together");
  return NodeKey({key.release(), EVP_PKEY_free});
}

NodeKey NodeKey::generate() {
  EVP_PKEY* made = EVP_EC_gen(kCurve);
  require(made != nullptr, "make a key");
  return NodeKey({made, EVP_PKEY_free});
}

std::string NodeKey::sign(std::string_view text) const {
  const DigestContext context(EVP_MD_CTX_new());
  size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  require(context && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1,
          "sign");
  std::vector<unsigned char> signature(size);
  require(EVP_DigestSign(context.get(), signature.data(), &size, bytes, text.size()) == 1, "sign");
  return {signature.begin(), signature.begin() + static_cast<ptrdiff_t>(size)};
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string iso_time(double unix_seconds) {
  const auto microseconds = static_cast<int64_t>(std::floor(unix_seconds * 1e6));
  const time_t whole = microseconds / 1'000'000;
  std::tm utc = {};
  gmtime_r(&whole, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}+00:00", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, microseconds % 1'000'000);
}

}  // namespace subfleet::flower
