package idempotent

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/quota"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// Header is the field with the key, replayed the one of an answer that was given before.
const (
	Header   = operation.KeyHeader
	replayed = "Idempotency-Replayed"
)

// maxKey is the length of a key. The draft recommends UUIDs.
const maxKey = 255

// Key is a client's key for one kind of request.
type Key struct {
	// Client and User are who calls; User "" is the client itself, Client "" somebody who
	// was not asked for a token.
	Client, User string
	// Share is which of the callers of that client uses the key, as the count of keys tells
	// them apart: a user, or the network of somebody without a token. "" has no bound of its
	// own. It is no part of the key's name.
	Share string
	// Resource is what the key is used for: the same text is another key elsewhere.
	Resource string
	// Text is what the client sent, without quotes.
	Text string
}

// Parse reads the field. given is false, without a refusal, when there is none.
func Parse(h http.Header) (text string, given bool, refused *envelope.Refusal) {
	values := h[Header]
	if len(values) == 0 {
		return "", false, nil
	}
	text, _ = operation.KeyText(values[0])
	if len(values) > 1 || text == "" || len(text) > maxKey || strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' || c > '~' || c == '"' || c == '\\'
	}) {
		return "", true, envelope.Invalid(Header, "must be one text of 1 to 255 characters, such as a UUID")
	}
	return text, true, nil
}

// record is where the key's record is kept. It does not tell the key.
func (k Key) record() store.Key {
	return store.Key{Kind: store.KindIdempotency, ID: name(k.hash("record"))}
}

// strangers is how many times the keys of a client all callers without a token have together.
const strangers = 10

// accounts are those that a key is counted in, where a client has most keys.
func (k Key) accounts(most int) []quota.Account {
	if k.Client == "" {
		most *= strangers
	}
	return quota.Accounts("idempotency", k.Client, k.Share, most)
}

// Digest tells requests with one key apart. Who reads the store cannot try out bodies
// without knowing the key.
func (k Key) Digest(parts ...[]byte) string { return name(k.hash("request", parts...)) }

func (k Key) hash(use string, more ...[]byte) []byte {
	return secret.Sum("gatehouse idempotency "+use, append([][]byte{[]byte(k.Client), []byte(k.User), []byte(k.Resource), []byte(k.Text)}, more...)...)
}

func name(sum []byte) string { return base64.RawURLEncoding.EncodeToString(sum) }

// sealing is the cipher for the answer of one attempt. Its key is the client's key and
// the attempt's name, which is used once: a constant nonce is never used twice with it.
// Who has the store alone can read no answer.
func (k Key) sealing(attempt string) cipher.AEAD {
	block, err := aes.NewCipher(k.hash("seal", []byte(attempt)))
	if err != nil {
		panic("idempotent: " + err.Error()) // the key has 32 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("idempotent: " + err.Error())
	}
	return aead
}

func (k Key) seal(attempt string, plain []byte) []byte {
	aead := k.sealing(attempt)
	return aead.Seal(nil, make([]byte, aead.NonceSize()), plain, nil)
}

func (k Key) open(attempt string, sealed []byte) ([]byte, error) {
	aead := k.sealing(attempt)
	return aead.Open(nil, make([]byte, aead.NonceSize()), sealed, nil)
}
