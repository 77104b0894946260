// Package secret provides randomness, constant-time comparison, digests, MACs and sealed (authenticated and
// encrypted) values. Everything that must be unguessable or unforgeable is made here. Callers name a purpose; a value
// made for one purpose is invalid for every other.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// MinLength is the minimum length of a configured secret, in bytes.
const MinLength = 32

// ErrForged means that a sealed value or MAC was not made with these keys for this purpose, or was modified.
var ErrForged = errors.New("secret: not authentic")

// Keys makes and checks MACs and sealed values. The first of its secrets makes them and all of them check, so
// that a secret can be replaced without invalidating what the old one made. A *Keys is safe for concurrent use.
type Keys struct {
	masters [][]byte
	derived sync.Map // string -> *purpose; bounded, because purposes are constants in code
}

// purpose holds the keys for one purpose, derived from each secret.
type purpose struct {
	mac  [][]byte
	seal []cipher.AEAD // prepends a random nonce to each message
	// For SealRepeatable: explicit takes a given nonce and makes messages that seal can open.
	nonce    []byte
	explicit cipher.AEAD
}

// NewKeys takes one or more secrets of at least [MinLength] bytes.
func NewKeys(secrets ...[]byte) (*Keys, error) {
	if len(secrets) == 0 {
		return nil, errors.New("secret: no secret is configured")
	}
	for i, s := range secrets {
		if len(s) < MinLength {
			return nil, fmt.Errorf("secret: number %d has %d bytes, at least %d are needed", i+1, len(s), MinLength)
		}
	}
	return &Keys{masters: secrets}, nil
}

// MAC returns HMAC-SHA-256 over parts. Each part is framed by its length, so that no two lists of parts give the
// same input.
func (k *Keys) MAC(use string, parts ...[]byte) []byte {
	return macSum(k.keysFor(use).mac[0], parts)
}

// CheckMAC reports whether mac was made by [Keys.MAC] under any of the secrets.
func (k *Keys) CheckMAC(use string, mac []byte, parts ...[]byte) bool {
	ok := false
	for _, key := range k.keysFor(use).mac {
		if hmac.Equal(macSum(key, parts), mac) {
			ok = true
		}
	}
	return ok
}

// Seal encrypts and authenticates plain together with the context that it is bound to (for instance a browser's
// cookie), and returns URL-safe text.
func (k *Keys) Seal(use string, plain, bound []byte) string {
	aead := k.keysFor(use).seal[0]
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, plain, bound))
}

// SealRepeatable is [Keys.Seal] with the same result for the same plain and bound, for values that become part of
// something that is compared, such as an entity tag. Whoever sees two results learns whether their inputs are equal
// and nothing else, so bound should name whoever may see them.
//
// The nonce is an HMAC-SHA-256 of bound and plain under a separate key, truncated to the 96 bits of GCM (a synthetic
// nonce, as in RFC 5297 section 4). Nonces of different values collide as rarely as random ones: for 2^32 values, the
// probability is 2^-33.
func (k *Keys) SealRepeatable(use string, plain, bound []byte) string {
	p := k.keysFor(use)
	nonce := macSum(p.nonce, [][]byte{bound, plain})[:p.explicit.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(p.explicit.Seal(nonce, nonce, plain, bound))
}

// Open decrypts the result of [Keys.Seal] or [Keys.SealRepeatable]. If it is not authentic, the
// error is [ErrForged].
func (k *Keys) Open(use, sealed string, bound []byte) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || strings.ContainsAny(sealed, "\r\n") { // which the decoder skips
		return nil, ErrForged
	}
	for _, aead := range k.keysFor(use).seal {
		if plain, err := aead.Open(nil, nil, raw, bound); err == nil {
			return plain, nil
		}
	}
	return nil, ErrForged
}

func (k *Keys) keysFor(use string) *purpose {
	if p, ok := k.derived.Load(use); ok {
		if p, ok := p.(*purpose); ok {
			return p
		}
	}
	p := new(purpose)
	for _, master := range k.masters {
		p.mac = append(p.mac, deriveKey(master, "gatehouse mac "+use))
		p.seal = append(p.seal, newGCM(deriveKey(master, "gatehouse seal "+use), cipher.NewGCMWithRandomNonce))
	}
	p.nonce = deriveKey(k.masters[0], "gatehouse nonce "+use)
	p.explicit = newGCM(deriveKey(k.masters[0], "gatehouse seal "+use), cipher.NewGCM)
	k.derived.Store(use, p)
	return p
}

// deriveKey derives 32 bytes by HKDF-SHA-256 (RFC 5869), which cannot fail for this length.
func deriveKey(master []byte, info string) []byte {
	key, err := hkdf.Key(sha256.New, master, nil, info, 32)
	if err != nil {
		panic("secret: " + err.Error())
	}
	return key
}

// newGCM returns AES-256-GCM. A key of 32 bytes is always accepted.
func newGCM(key []byte, mode func(cipher.Block) (cipher.AEAD, error)) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("secret: " + err.Error())
	}
	aead, err := mode(block)
	if err != nil {
		panic("secret: " + err.Error())
	}
	return aead
}

func macSum(key []byte, parts [][]byte) []byte {
	h := hmac.New(sha256.New, key)
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	return h.Sum(nil)
}
