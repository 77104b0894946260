package password

import (
	"strings"
	"testing"
)

func TestSchemesMatchPHPHashes(t *testing.T) {
	cases := map[string]struct{ scheme, digest, salt string }{
		"md5":                   {"md5", "3cb4e732631f47e6eb961f34554b7cde", ""},
		"md5, spelled out":      {" md5( password ) ", "3CB4E732631F47E6EB961F34554B7CDE", "ignored"},
		"sha1":                  {"sha1", "2f9e53523b62abc141a2b4d6019d23cba835dbd0", ""},
		"sha256":                {"sha256(password)", "4104d36f8da2c254349f85836793ebe029e0c957063a34c91c2e9203187b5631", ""},
		"sha512":                {"sha512", "56b698defedb5a435b634afe3320bbaf3fdcd920b6c503a446fc7b7a776b298d479d1ba6a8b617808eb0bf579ce9a95d668347bcab7149085ac93cb27995197b", ""},
		"salt first":            {"md5(salt+password)", "52f36768c11844771e5f7ff576e2dba2", "pepper"},
		"salt last":             {"sha1(password+salt)", "6233b19e59f0f25213a6a8c6dedf9757d8d5ee8b", "pepper"},
		"Discuz and vBulletin":  {"md5(md5(password) + salt)", "156013b3727fbef752c91b7896d30339", "pepper"},
		"Invision Power Board":  {"md5(md5(salt)+md5(password))", "e0adda14f4a1cba71c944ad6dd33f549", "pepper"},
		"digits in upper cases": {"md5(salt+password)", "52F36768C11844771E5F7FF576E2DBA2", "pepper"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := ParseScheme(c.scheme)
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.Parse(c.digest, c.salt)
			if err != nil {
				t.Fatal(err)
			}
			if !p.Matches(battery) || p.Matches(battery+"x") || p.Matches("") || !p.Outdated() || !p.Cost().Quick() {
				t.Error("matches another password, or not its own")
			}
			if s.top.has("salt") {
				other, err := s.Parse(c.digest, c.salt+"x")
				if err != nil || other.Matches(battery) {
					t.Errorf("matches with another salt, %v", err)
				}
				if _, err := s.Parse(c.digest, ""); err == nil {
					t.Error("no salt is taken for an empty one")
				}
			}
		})
	}
}

func TestInvalidSchemesAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "md4", "password", "salt", "md5()", "md5(salt)", "md5(password", "md5 password)", "md5(password))", "md5(password)+salt",
		"md5(password+)", "md5(+password)", "md5(password,salt)", "md5(user+password)", "crypt(password)", "md5(password)(salt)",
		strings.Repeat("md5(", 60) + "password" + strings.Repeat(")", 60), "(password)", "+", "(", ")",
	} {
		if s, err := ParseScheme(text); err == nil {
			t.Errorf("%q is %s", text, s.text)
		}
	}
	s, err := ParseScheme("md5")
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"", "3cb4", "zcb4e732631f47e6eb961f34554b7cde", "3cb4e732631f47e6eb961f34554b7cde00", "hunter2"} {
		if _, err := s.Parse(digest, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", digest, err)
		}
	}
	if _, err := (Scheme{}).Parse("3cb4e732631f47e6eb961f34554b7cde", ""); err == nil {
		t.Error("no scheme takes a digest")
	}
	if _, err := s.Parse("3cb4e732631f47e6eb961f34554b7cde", strings.Repeat("s", maxSalt+1)); err == nil {
		t.Error("a salt of any length is taken")
	}
}
