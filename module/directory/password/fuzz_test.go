package password

import (
	"strings"
	"testing"
)

func FuzzHashesNeverPanicOrLeak(f *testing.F) {
	for _, k := range known {
		f.Add(k.hash, k.password)
	}
	f.Add("$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "\x00")
	f.Add("pbkdf2_sha256$1000$"+strings.Repeat("é", 128)+"$boRToEKoQr22LeDTyHDsEkHpDsDOTyWJq16HknEiweU=", "x")
	f.Add("scrypt$"+strings.Repeat("é", 128)+"$1024$8$1$boRToEKoQr22LeDTyHDsEkHpDsDOTyWJq16HknEiweU=", "x")
	f.Fuzz(func(t *testing.T, hash, password string) {
		p, err := Parse(hash)
		if err != nil {
			if len(hash) > 40 && strings.Contains(err.Error(), hash[20:]) {
				t.Fatal(err)
			}
			return
		}
		c := p.Cost()
		dummy, err := Parse(c.Dummy())
		if err != nil || !c.Quick() && dummy.Cost() != c {
			t.Fatalf("dummy of %+v: %v", c, err)
		}
		if c.memory > 1<<12 || c.rounds > 12 && c.kind != "md5-crypt" || len(password) > 100 {
			return // well-formed is enough: this is not about time
		}
		first := p.Matches(password)
		if again := p.Matches(password); again != first {
			t.Fatal("two answers to one question")
		}
	})
}

func FuzzSchemesNeverPanic(f *testing.F) {
	f.Add("md5(md5(password)+salt)", "3cb4e732631f47e6eb961f34554b7cde", "salt", "x")
	f.Fuzz(func(t *testing.T, scheme, digest, salt, password string) {
		s, err := ParseScheme(scheme)
		if err != nil {
			return
		}
		if again, err := ParseScheme(s.text); err != nil || again.text != s.text {
			t.Fatalf("%q is read as %q, %v", s.text, again.text, err)
		}
		if p, err := s.Parse(digest, salt); err == nil {
			p.Matches(password)
		}
	})
}
