package jose

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
)

const (
	// MinRSABits is the size of the RSA keys that the gateway makes, and the minimum that it accepts (NIST SP
	// 800-131A).
	MinRSABits = 2048
	// maxRSABits bounds the cost of verifying a signature with somebody else's key.
	maxRSABits = 8192
)

// PublicKey reads the key of a JWK: EC on P-256, RSA of 2048 to 8192 bits, or Ed25519. Coordinates must have the
// length that RFC 7518 section 6 requires, so that each key has only one encoding.
func PublicKey(jwk *Claims) (key crypto.PublicKey, err error) {
	curve := jwk.OptionalText("crv")
	switch kty := jwk.Text("kty"); kty {
	case "EC":
		key, err = ecKey(curve, jwk.bytes("x"), jwk.bytes("y"))
	case "RSA":
		key, err = rsaKey(jwk.bytes("n"), jwk.bytes("e"))
	case "OKP":
		x := jwk.bytes("x")
		if curve != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("not an Ed25519 key")
		}
		key = ed25519.PublicKey(x)
	default:
		return nil, errors.New("of a type that is not supported")
	}
	if err == nil && !jwk.OK {
		err = errors.New("malformed")
	}
	return key, err
}

func ecKey(curve string, x, y []byte) (crypto.PublicKey, error) {
	if curve != "P-256" || len(x) != 32 || len(y) != 32 {
		return nil, errors.New("not a P-256 key")
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytes.Join([][]byte{{4}, x, y}, nil))
	if err != nil {
		return nil, errors.New("not a point of P-256")
	}
	return public, nil
}

func rsaKey(n, e []byte) (crypto.PublicKey, error) {
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	switch {
	case modulus.BitLen() < MinRSABits:
		return nil, fmt.Errorf("an RSA key of %d bits, at least %d are needed", modulus.BitLen(), MinRSABits)
	case modulus.BitLen() > maxRSABits:
		return nil, fmt.Errorf("an RSA key of %d bits, at most %d are taken", modulus.BitLen(), maxRSABits)
	case modulus.Bit(0) == 0, !exponent.IsInt64(), exponent.Int64() < 3, exponent.Int64() > 1<<31-1, exponent.Bit(0) == 0:
		return nil, errors.New("not an RSA key")
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}
