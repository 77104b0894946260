package grant

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// A refresh token is the base64url form of the family (16 bytes), the generation (8) and a MAC (32) over both, the
// client and the dialect. A token that was made without the secret is refused without asking the store.
const (
	familyBytes     = 16
	generationBytes = 8
	macBytes        = 32
	tokenBytes      = familyBytes + generationBytes + macBytes
	macUse          = "refresh token"
)

var tokenLength = base64.RawURLEncoding.EncodedLen(tokenBytes)

var errBadFamilyID = errors.New("grant: a stored family has a malformed id")

// encodeRefresh returns the token of a generation. It fails for a family whose ID is not the base64url form of
// 16 bytes. Errors are *oauth.Error.
func encodeRefresh(k *secret.Keys, family string, generation uint64, client string, d store.Dialect) (string, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(family)
	if err != nil || len(raw) != familyBytes {
		return "", oauth.E(oauth.ServerError, "").WithCause(errBadFamilyID)
	}
	raw = binary.BigEndian.AppendUint64(raw, generation)
	raw = append(raw, k.MAC(macUse, raw, []byte(client), []byte(d))...)
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// firstRefresh returns the first refresh token of a new family, and extends the family to the lifetime of its refresh
// tokens.
func (f *Families) firstRefresh(ctx context.Context, family *store.Grant) (string, error) {
	family.Expires = family.IssuedAt.Add(f.Refresh)
	keys, err := f.Keys(ctx)
	if err != nil {
		return "", err
	}
	return encodeRefresh(keys, family.ID, family.Generation, family.Client, family.Dialect)
}

// decodeRefresh decodes a token; ok is false unless it is authentic and belongs to this client and dialect.
func decodeRefresh(k *secret.Keys, token, client string, d store.Dialect) (family string, generation uint64, ok bool) {
	family, named, mac, ok := splitRefresh(token)
	if !ok || !k.CheckMAC(macUse, mac, named, []byte(client), []byte(d)) {
		return "", 0, false
	}
	return family, binary.BigEndian.Uint64(named[familyBytes:]), true
}

// splitRefresh returns the parts of a token that is not authenticated yet.
func splitRefresh(token string) (family string, named, mac []byte, ok bool) {
	if len(token) != tokenLength {
		return "", nil, nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != tokenBytes { // the decoder skips line breaks
		return "", nil, nil, false
	}
	named, mac = raw[:familyBytes+generationBytes], raw[familyBytes+generationBytes:]
	return base64.RawURLEncoding.EncodeToString(raw[:familyBytes]), named, mac, true
}
