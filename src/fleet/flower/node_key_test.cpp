#include "fleet/flower/node_key.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "fleet/flower/key_testing.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "temporary_folder.h"

namespace subfleet::flower {
namespace {

bool verifies(const NodeKey& key, std::string_view text, std::string_view signature) {
  const std::string& pem = key.public_pem();
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* read = PEM_read_bio_PUBKEY(bio, nullptr, nullptr, nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool good =
      EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, read) == 1 &&
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(read);
  BIO_free(bio);
  return good;
}

std::string complaint(const std::string& text) {
  try {
    NodeKey::parse(text, "KEY");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(NodeKey, ReadsWhatSshKeygenWrites) {
  const NodeKey key = NodeKey::parse(kOpenSsh, "KEY");
  EXPECT_EQ(key.public_pem(), kPublic);
  const std::string signature = key.sign("2026-01-31T09:05:07.123456+00:00");
  EXPECT_TRUE(verifies(key, "2026-01-31T09:05:07.123456+00:00", signature));
  EXPECT_FALSE(verifies(key, "2026-01-31T09:05:07.123457+00:00", signature));
}

TEST(NodeKey, ReadsKeysOfAnySsh) {
  const TemporaryFolder folder;
  const auto made = [&](const std::string& name, const std::string& options) {
    const std::string path = (folder / name).string();
    const std::string command = "ssh-keygen -q -t ecdsa " + options + " -f '" + path + "' >/dev/null 2>&1";
    return std::system(command.c_str()) == 0 ? path : std::string();
  };
  const std::string plain = made("plain", "-b 384 -N ''");
  if (plain.empty()) GTEST_SKIP() << "there is no ssh-keygen here";
  const NodeKey key = NodeKey::read(plain);
  EXPECT_TRUE(verifies(key, "text", key.sign("text")));
  const NodeKey pem = NodeKey::read(made("pem", "-b 384 -N '' -m PEM"));
  EXPECT_TRUE(verifies(pem, "text", pem.sign("text")));
  EXPECT_FALSE(verifies(pem, "text", key.sign("text")));
  for (const auto& [name, options, words] :
       std::vector<std::array<std::string, 3>>{{"locked", "-b 384 -N secret", "passphrase"},
                                               {"locked-pem", "-b 384 -N secret -m PEM", "passphrase"},
                                               {"small", "-b 256 -N ''", "P-384"},
                                               {"small-pem", "-b 256 -N '' -m PEM", "P-384"}}) {
    const std::string said = complaint(read_file(made(name, options)));
    EXPECT_NE(said.find(words), std::string::npos) << name << ": " << said;
  }
}

TEST(NodeKey, RefusesWhatIsNoKey) {
  EXPECT_NE(complaint("").find("not a private key"), std::string::npos);
  EXPECT_NE(complaint(kPublic).find("not a private key"), std::string::npos);
  const std::string whole = kOpenSsh;
  const size_t begin = whole.find('\n') + 1, end = whole.find("-----END");
  for (size_t cut = begin; cut + 1 < end; ++cut)  // however short; nothing is read behind its end
    EXPECT_NE(complaint(whole.substr(0, cut) + whole.substr(end)), "none") << cut;
  for (size_t at = begin; at < end; at += 3) {  // whatever stands there: a key, or one line
    std::string changed = whole;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(complaint(changed).find('\n'), std::string::npos);
  }
}

TEST(NodeKey, PartsHaveToBelongTogether) {
  std::string other = kOpenSsh;
  const size_t scalar = other.find("H2RnLgN5cuch");  // in the private part
  ASSERT_NE(scalar, std::string::npos);
  other[scalar] = 'J';
  EXPECT_NE(complaint(other).find("do not belong together"), std::string::npos) << complaint(other);
}

TEST(NodeKey, MakesNewOnes) {
  const NodeKey one = NodeKey::generate(), other = NodeKey::generate();
  EXPECT_NE(one.public_pem(), other.public_pem());
  EXPECT_TRUE(verifies(one, "text", one.sign("text")));
}

TEST(NodeKey, WritesTimesAsPythonDoes) {
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00.000000+00:00");
  EXPECT_EQ(iso_time(1769850307.125), "2026-01-31T09:05:07.125000+00:00");
}

}  // namespace
}  // namespace subfleet::flower
