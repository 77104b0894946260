package password

import (
	"strings"
	"testing"
)

const battery = "correct horse"

// Where the hashes come from: openssl passwd, glibc's crypt, PHP's password_hash and
// hash, slappasswd and htpasswd, the specification of sha-crypt, and phpass's own test.
var known = map[string]struct{ hash, password string }{
	"argon2id of PHP":                      {"$argon2id$v=19$m=1024,t=2,p=1$d3pmVlRnbzRPbFIuOTAyVg$tdh0CcdB7kb6cYZGOB1vK4veK9Yr0fuxCtvjc50wkJA", battery},
	"argon2i of PHP":                       {"$argon2i$v=19$m=1024,t=2,p=1$ci94LnYuOU5FcGtWZjZ3Zg$901Kgxq50a+6BDH6gZnAq9xUWXCM/usdGLR5XZ0MH8Q", battery},
	"bcrypt of PHP":                        {"$2y$05$wwLqQF7hWgqFiIpLV6YxS.kJ2Y9sjZnolYJwrxdEInOplEmuIvlC2", battery},
	"bcrypt $2b$":                          {"$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2", battery},
	"bcrypt $2a$":                          {"$2a$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2", battery},
	"bcrypt of htpasswd":                   {"$2y$05$0KksbjX9zYj8C0SnZsrvgeyVCCcFFJWqVLYg0BilqxCd68VJ4/OFq", battery},
	"WordPress 6.8":                        {"$wp$2y$05$LHC/dXFIbaEhOgQy6qovSO1J.ZwQp9wGaSZrAYp8M9akfseEgUzK2", battery},
	"phpass, its own test":                 {"$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", "test12345"},
	"phpass of WordPress":                  {"$P$984478476IagS59wHZvyQMArzfx58u.", "hashcat"},
	"phpass of phpBB":                      {"$H$984478476IagS59wHZvyQMArzfx58u.", "hashcat"},
	"Drupal 7":                             {"$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf", "hashcat"},
	"md5-crypt":                            {"$1$abcdefgh$y6iHhJNbuC0xpbk0w9pm80", battery},
	"md5-crypt of Apache":                  {"$apr1$abcdefgh$sIQmFnT1CuEXAsyjuXjUX/", battery},
	"md5-crypt of nothing":                 {"$1$abc$Or2rbeUYTvt12aiVzMuS/.", ""},
	"md5-crypt of a long one":              {"$1$longpass$.Bdn3laT/uOGIyZBHbYNG/", strings.Repeat("x", 100)},
	"md5-crypt beyond ASCII":               {"$1$q$gwhqT2ln0fjSlGGYxh6ba0", "p\u00e4ssw\u00f6rd 0123456789"},
	"sha256-crypt":                         {"$5$saltstring$vc6YOOogU4kWVvwga8e9zTFgKcy4tb5LaPxIiPJzqEC", battery},
	"sha512-crypt":                         {"$6$saltstring$.r0X7ub5wGR2v4Xz7svCIozfnlorFh19V89t8KC9Umd81uGhFgsyTRNyzQDXDIm17fFcR9z3z7oBNdsyYBbtm/", battery},
	"sha512-crypt, its specification":      {"$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1", "Hello world!"},
	"sha512-crypt with rounds":             {"$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.", "Hello world!"},
	"sha256-crypt with rounds":             {"$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA", "Hello world!"},
	"sha256-crypt with the default rounds": {"$5$rounds=5000$toolongsaltstrin$Un/5jzAHMgOGZ5.mWJpuVolil07guHPvOW8mGRcvxa5", "This is just a test"},
	"sha512-crypt of a long one":           {"$6$rounds=1400$a$QMh5topDUPB6kpckDqn9Fd5lQar/FCcueG7hcIFzoB6qPNr2zViB6S4Hm0L7fI0Hs.s3JJi5LT2j4JUkZntd3/", strings.Repeat("x", 200)},
	"sha512-crypt of nothing":              {"$6$abc$mJP3a6FyA8uCnzRtlnNypPwjnvpi5TP9qOrInzrfDmwxUQG38PkpCPdqfTb8JQfAngapMxeim4AZ..hSdRRzD.", ""},
	"argon2id of Django":                   {"argon2$argon2id$v=19$m=1024,t=2,p=1$d3pmVlRnbzRPbFIuOTAyVg$tdh0CcdB7kb6cYZGOB1vK4veK9Yr0fuxCtvjc50wkJA", battery},
	"bcrypt of Django":                     {"bcrypt$$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2", battery},
	"bcrypt over SHA-256 of Django":        {"bcrypt_sha256$$2b$05$abcdefghijklmnopqrstuuFRrKxBsFtwnfZtmHymgDN/Qb8toxLuK", battery},
	"PBKDF2 of Django":                     {"pbkdf2_sha256$1000$NaClNaClNaClNaClNaClNa$pcoEeOKdU29ad7CREHyoIszxaCZuhS476TlVjDMs2+M=", battery},
	"PBKDF2 of Django, SHA-1":              {"pbkdf2_sha1$1000$NaClNaClNaClNaClNaClNa$5uQ2AQQxjFcaJhr3tQ6AiaWQPmE=", battery},
	"PBKDF2 of Werkzeug":                   {"pbkdf2:sha256:1000$Salt8ch1$f34ea06bddd6c74b2cf115de03ba5e431ab09aef70dc4cfb5be44845a28752fa", battery},
	"PBKDF2 of Werkzeug, SHA-512":          {"pbkdf2:sha512:1500$Salt8ch1$96be394843328a91c8385a6d1d1099ab6cac759cb8ef17f81f932740fdc04d0f88eafadb8e628d3168b41c941a9ff3ebc63a54de256bd51877f5fa3864599ebe", battery},
	"PBKDF2 of passlib":                    {"$pbkdf2-sha256$1000$.vv8/f7/AAECAwQFBgcICQ$.BSNb1xMxP43N4xaA83zMhQcFyfQ6wx5b2KuuDieyks", battery},
	"PBKDF2 of passlib, SHA-512":           {"$pbkdf2-sha512$1000$.vv8/f7/AAECAwQFBgcICQ$gdea/pW1JOU7rDzEq3dNd0ccu1sLdcR./zjPFqdeJVXTm5hAjYymmxgRhU7TcOrbzGZax2bxU5zWNzprx8BMCw", battery},
	"PBKDF2 of passlib, SHA-1":             {"$pbkdf2$1000$.vv8/f7/AAECAwQFBgcICQ$INIP6b7Gy6bxYDS.Ik4UbQGPwQ8", battery},
	"scrypt of Django":                     {"scrypt$NaClNaClNaClNaClNaClNa$1024$8$5$DkBh0ntP6EBEHHyJ17cVchxvS0tdCDuPust9zVl+Thbi6wCFKjLNuoN5vsIHAjY8rl1vwR/kzQH96frqzQlo7w==", battery},
	"scrypt of Werkzeug":                   {"scrypt:1024:8:1$Salt8charsSalt16$6cc716fb0bca428bf51f95ea42ac021a5ed81f4a5f33db555568d911dfa8c6e419b13aa92ea3f693cd962753435270db5772cae8a88a7999709c944cdda36f19", battery},
	"scrypt of passlib":                    {"$scrypt$ln=10,r=8,p=1$+vv8/f7/AAECAwQFBgcICQ$Pl7yl9efz95Ty177UVKBi6IONw1tBfTAxNYUdst2jMQ", battery},
	"SSHA":                                 {"{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0", battery},
	"SSHA of slappasswd":                   {"{SSHA}a5s2g5JB9BszWSZ0yzc5eZpW757k03Fq", battery},
	"SMD5 of slappasswd":                   {"{SMD5}TRhuHUvlRhAzHKGYZkXMFabiPt0=", battery},
	"SHA, in small letters":                {"{sha}L55TUjtiq8FBorTWAZ0jy6g129A=", battery},
	"MD5":                                  {"{MD5}PLTnMmMfR+brlh80VUt83g==", battery},
	"SSHA256":                              {"{SSHA256}YflVcOMs6k7tbGkQbQNVn6/ehAnUAVltiLPKHBWGi2tzYWx0c2FsdA==", battery},
	"SSHA384":                              {"{SSHA384}rPNf5wu9raqOYyrDpEXtTWzU9J8yYxdna88Zv3VPM7t8wAY2Wum1UGOWoZRj523lc2FsdHNhbHQ=", battery},
	"SSHA512":                              {"{SSHA512}50rsRNBf8j3I5xE+QwaHdFyMhOzITssZ8BB3UxwQ+SI1JKygYm6ZeRYTDuUyFZIIqDonoTuXwB0Z/MAPhgQCFHNhbHRzYWx0", battery},
	"CRYPT of slappasswd":                  {"{CRYPT}$6$gJVEmLDf$sT/U86rJ4CNoLY.Mk56MZGlKFVObT8OXLjvSa.CtTewhEagSU5rzs9OG3k71PZAVRmbE2NwjJOvc6sPXn2WCO.", battery},
}

func TestForeignHashesMatchOnlyTheirPasswords(t *testing.T) {
	for name, k := range known {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(k.hash)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Matches(k.password) {
				t.Error("does not match its own password")
			}
			for _, other := range []string{k.password + "x", k.password + "\x00", k.password + " ", " " + k.password, strings.ToUpper(k.password) + "!", "\x00" + k.password} {
				if p.Matches(other) {
					t.Errorf("matches %q", other)
				}
			}
			if strings.HasPrefix(k.hash, "{") == (p.cost.kind[0] != '{') && !strings.Contains(k.hash, "CRYPT") {
				t.Errorf("kind %q", p.cost.kind)
			}
			if !p.Outdated() {
				t.Error("would not be replaced")
			}
		})
	}
}

func parsed(t *testing.T, hash string) *Parsed {
	t.Helper()
	p, err := Parse(hash)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewHashMatchesAndIsUpToDate(t *testing.T) {
	for _, pass := range []string{battery, "", "before\x00after", strings.Repeat("x", 1024), "\xff"} {
		hash := Hash(pass)
		p := parsed(t, hash)
		if !p.Matches(pass) || p.Outdated() {
			t.Errorf("a fresh hash matches: %t, is outdated: %t", p.Matches(pass), p.Outdated())
		}
		if p.Matches(pass + "x") {
			t.Error("another password matches")
		}
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=47104,t=1,p=1$") {
			t.Errorf("hash %s", hash)
		}
	}
	if first, second := Hash(battery), Hash(battery); first == second {
		t.Error("two hashes have one salt")
	}
	cheaper := parsed(t, Cost{kind: "argon2id", memory: 4096, rounds: 1, threads: 1, salt: 16, tag: 32}.hashPassword(battery))
	if !cheaper.Matches(battery) || !cheaper.Outdated() {
		t.Errorf("a cheaper hash matches: %t, is outdated: %t", cheaper.Matches(battery), cheaper.Outdated())
	}
}

func TestBcryptRefusesTruncatedAndRepeatedPasswords(t *testing.T) { // U21
	whole := strings.Repeat("0123456789", 7) + "ab" // 72 bytes
	p, err := Parse("$2y$04$abcdefghijklmnopqrstuuMtJwfagkGaCKZ.IMpPJzYjhgL/xnp2C")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Matches(whole) {
		t.Error("72 bytes do not match")
	}
	for name, other := range map[string]string{"73 bytes": whole + "c", "1,024 bytes": whole + strings.Repeat("c", 952), "71 bytes": whole[:71]} {
		if p.Matches(other) {
			t.Errorf("%s match", name)
		}
	}
	for _, not := range []string{whole + "c", "a\x00b", "\x00"} {
		if _, ok := HashBcrypt(not); ok {
			t.Errorf("a hash of %q was made", not)
		}
	}
	// The algorithm repeats the password with a NUL behind it: these two are one key.
	single, err := Parse("$2y$04$abcdefghijklmnopqrstuuMFdJu9yVgmagVAIC24fOZkaFqd3s9JC")
	if err != nil || !single.Matches("a") || single.Matches("a\x00a") {
		t.Errorf("a password with a NUL matches the one without (%v)", err)
	}
}

func TestExpensiveOrInvalidHashesAreRefusedUnquoted(t *testing.T) {
	fifty := strings.Repeat("s", 53)
	cases := map[string]struct{ hash, want string }{
		"nothing":                      {"", "not a password hash of a known form"},
		"a password":                   {"hunter2", "not a password hash of a known form"},
		"bare digits":                  {"3cb4e732631f47e6eb961f34554b7cde", "not a password hash of a known form"},
		"PBKDF2 without end":           {"pbkdf2_sha256$5000001$salt$boRToEKoQr22LeDTyHDsEkHpDsDOTyWJq16HknEiweU=", "1000 to 5000000 iterations"},
		"PBKDF2 for nothing":           {"pbkdf2:sha256:1$salt$c4e11f1baca610327c7cd483d8ce88274afc6c4e457956b18183276485593de9", "1000 to 5000000 iterations"},
		"PBKDF2 over MD5":              {"pbkdf2:md5:1000$salt$00000000000000000000000000000000", "is no PBKDF2 hash"},
		"PBKDF2 with a short hash":     {"pbkdf2:sha256:1000$salt$00112233", "16 to 32 bytes"},
		"PBKDF2 with a hash of blocks": {"pbkdf2:sha256:1000$salt$000000000000000000000000000000000000000000000000000000000000000000", "16 to 32 bytes"},
		// 128 characters: of a hash that costs as much the salt would be too long to read.
		"PBKDF2 with a long salt":      {"pbkdf2:sha256:1000$" + strings.Repeat("é", 128) + "$" + strings.Repeat("00", 32), "salt of at most 128 bytes"},
		"scrypt with a long salt":      {"scrypt:1024:8:1$" + strings.Repeat("é", 128) + "$" + strings.Repeat("00", 64), "salt of at most 128 bytes"},
		"PBKDF2 in no base64":          {"pbkdf2_sha256$1000$salt$A", "not properly encoded"},
		"scrypt without end":           {"scrypt:1048576:8:1$salt$00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "asks for more or less work"},
		"scrypt with many lanes":       {"scrypt:32768:8:9999$salt$00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "asks for more or less work"},
		"scrypt of a huge N":           {"$scrypt$ln=99,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "asks for more or less work"},
		"scrypt for nothing":           {"scrypt:2:8:1$salt$00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "asks for more or less work"},
		"scrypt of an odd N":           {"scrypt:32769:8:1$salt$00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "no power of two"},
		"scrypt with a short hash":     {"scrypt:1024:8:1$salt$0011", "16 to 128 bytes"},
		"scrypt of something else":     {"scrypt:1024$salt$0011", "is no scrypt hash"},
		"DES":                          {"ab01FAX.bQRSU", "not a password hash of a known form"},
		"a text far too long":          {"{SSHA}" + strings.Repeat("A", maxHash), "not a password hash of a known form"},
		"bcrypt of cost 17":            {"$2y$17$" + fifty, "a bcrypt cost from 4 to 16"},
		"bcrypt of cost 31":            {"$2a$31$" + fifty, "a bcrypt cost from 4 to 16"},
		"bcrypt of cost 3":             {"$2a$03$" + fifty, "a bcrypt cost from 4 to 16"},
		"bcrypt that was broken":       {"$2x$10$" + fifty, "no bcrypt hash"},
		"bcrypt cut short":             {"$2y$10$" + fifty[1:], "no bcrypt hash"},
		"bcrypt with more":             {"$2y$10$" + fifty + "\n", "no bcrypt hash"},
		"WordPress of cost 17":         {"$wp$2y$17$" + fifty, "a bcrypt cost from 4 to 16"},
		"phpass of 2^21":               {"$P$J" + strings.Repeat("s", 30), "2 to the power of 7 to 20"},
		"phpass of 2^30":               {"$P$S" + strings.Repeat("s", 30), "2 to the power of 7 to 20"},
		"phpass of 2^6":                {"$H$4" + strings.Repeat("s", 30), "2 to the power of 7 to 20"},
		"phpass cut short":             {"$P$B" + strings.Repeat("s", 29), "no phpass hash"},
		"phpass with another letter":   {"$P$B" + strings.Repeat("s", 29) + "=", "no phpass hash"},
		"Drupal of 2^30":               {"$S$S" + strings.Repeat("s", 51), "2 to the power of 7 to 20"},
		"sha-crypt of 1,000,001":       {"$6$rounds=1000001$salt$" + strings.Repeat("s", 86), "1000 to 1000000 rounds"},
		"sha-crypt of 999,999,999":     {"$5$rounds=999999999$salt$" + strings.Repeat("s", 43), "1000 to 1000000 rounds"},
		"sha-crypt of 999":             {"$5$rounds=999$salt$" + strings.Repeat("s", 43), "1000 to 1000000 rounds"},
		"sha-crypt beyond 32 bits":     {"$6$rounds=99999999999$salt$" + strings.Repeat("s", 86), "no sha-crypt hash"},
		"sha-crypt with a long salt":   {"$6$saltstringsaltstr$" + strings.Repeat("s", 86), "no sha-crypt hash"},
		"sha256-crypt of 86":           {"$5$salt$" + strings.Repeat("s", 86), "no sha-crypt hash"},
		"md5-crypt with a long salt":   {"$1$saltsalts$" + strings.Repeat("s", 22), "no md5-crypt hash"},
		"md5-crypt without a salt":     {"$1$" + strings.Repeat("s", 22), "no md5-crypt hash"},
		"argon2 of 1 GiB and one byte": {"$argon2id$v=19$m=1048577,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "at most m=1048576"},
		"argon2 of too much together":  {"$argon2id$v=19$m=1048576,t=5,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "4194304 for m times t"},
		"argon2 of no rounds":          {"$argon2id$v=19$m=1024,t=0,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "no Argon2 hash"},
		"argon2d":                      {"$argon2d$v=19$m=1024,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "no Argon2 hash"},
		"bcrypt over SHA-256, cost 17": {"bcrypt_sha256$$2b$17$" + strings.Repeat("s", 53), "a bcrypt cost from"},
		"another LDAP scheme":          {"{CLEARTEXT}hunter2", "not a password hash of a known form"},
		"an open brace":                {"{SSHA", "not a password hash of a known form"},
		"LDAP in another encoding":     {"{SHA}L55TUjtiq8FBorTWAZ0jy6g129A", "not in base64"},
		"SHA with a salt":              {"{SHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0", "does not match its name"},
		"SSHA cut short":               {"{SSHA}c2hvcnQ=", "does not match its name"},
		"CRYPT of DES":                 {"{CRYPT}ab01FAX.bQRSU", "not a password hash of a known form"},
		"CRYPT of LDAP":                {"{CRYPT}{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0", "not a password hash of a known form"},
		"CRYPT of CRYPT":               {strings.Repeat("{CRYPT}", 100), "not a password hash of a known form"},
		"nested names within a prefix": {"{BCRYPT}$6$saltstring$x", "not a password hash of a known form"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(c.hash)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "ssssss") || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "c29t") {
				t.Errorf("the error quotes the hash: %v", err)
			}
		})
	}
}

func TestDummyHashCostsAsMuchAsARealOne(t *testing.T) {
	for name, k := range known {
		p, err := Parse(k.hash)
		if err != nil {
			t.Fatal(err)
		}
		dummy, err := Parse(p.Cost().Dummy())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := p.Cost()
		if want.Quick() {
			want = usual
		}
		if dummy.Cost() != want {
			t.Errorf("%s: dummy costs %+v, want %+v", name, dummy.Cost(), want)
		}
	}
}

func TestMostUsedHashCostIsFound(t *testing.T) {
	a, b := usual, Cost{kind: "argon2id", memory: 4096, rounds: 1, threads: 1, salt: 16, tag: 32}
	cases := map[string]struct {
		count  map[Cost]int
		most   Cost
		others int
	}{
		"none":            {nil, usual, 0},
		"one kind":        {map[Cost]int{b: 3}, b, 0},
		"one differs":     {map[Cost]int{b: 3, a: 1}, b, 1},
		"as many of each": {map[Cost]int{b: 2, a: 2}, a, 2},
	}
	for name, c := range cases {
		if most, others := MostUsed(c.count); most != c.most || others != c.others {
			t.Errorf("%s: %+v, %d", name, most, others)
		}
	}
}
