package store

import "github.com/gatehouse/gatehouse/module/internal/secret"

// MinSecretLength is the least length, in bytes, of what a [SecretKeeper] keeps.
const MinSecretLength = secret.MinLength

// NewSecret makes what a [SecretKeeper] is to keep: 256 random bits as a line of
// text, which can be configured as the gateway's secret later on.
func NewSecret() []byte { return []byte(secret.Token()) }
