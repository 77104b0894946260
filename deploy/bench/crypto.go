package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/deploy/bench/internal/proc"
)

// cryptoTime is how much CPU time is spent on each figure of crypto.
const cryptoTime = 100 * time.Millisecond

// signer measures what one ES256 signature and one verification cost on this machine now.
type signer struct {
	key       *ecdsa.PrivateKey
	digest    [32]byte
	signature []byte
}

func newSigner() (*signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	s := &signer{key: key, digest: sha256.Sum256([]byte(strings.Repeat("x", 500)))}
	s.signature, err = ecdsa.SignASN1(rand.Reader, key, s.digest[:])
	return s, err
}

// sign returns the CPU time of a signature in microseconds.
func (s *signer) sign() (float64, error) {
	return cpuOf(func() error {
		_, err := ecdsa.SignASN1(rand.Reader, s.key, s.digest[:])
		return err
	})
}

// verify returns the CPU time of a verification in microseconds.
func (s *signer) verify() (float64, error) {
	return cpuOf(func() error {
		ecdsa.VerifyASN1(&s.key.PublicKey, s.digest[:], s.signature)
		return nil
	})
}

// cpuOf repeats something and returns the CPU time of one in microseconds.
func cpuOf(do func() error) (float64, error) {
	before, err := proc.Own()
	if err != nil {
		return 0, err
	}
	for n := 1; ; n++ {
		if err := do(); err != nil {
			return 0, err
		}
		if n%100 > 0 {
			continue
		}
		now, err := proc.Own()
		if used := now - before; err != nil || used >= cryptoTime {
			return float64(used.Nanoseconds()) / 1000 / float64(n), err
		}
	}
}
