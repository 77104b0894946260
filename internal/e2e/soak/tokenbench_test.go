package soak

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const staticCaddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
}
http://$ID {
	respond "$BODY"
}
http://$API {
	respond 204
}
`

// A token for a client itself costs the processor time of an answer of Caddy's plus one
// ES256 signature, and little more: the two are measured beside it, in the same run.
func TestWhatATokenCostsBesideAStaticAnswerAndASignature(t *testing.T) {
	const form = "grant_type=client_credentials&scope=read"
	basic := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("machine:machine-secret-0123456789-0123456789-012345"))
	// The limit of failures is no matter here: no request fails.
	issuing := &site{Gateway: harness.Prepare(t), plain: newClient(t, nil), upstream: "127.0.0.1:1"}
	issuing.WriteFile(t, "users.json", users)
	issuingProcess := issuing.Run(t, issuing.config())
	static := &site{Gateway: harness.Prepare(t, "$BODY", strings.Repeat("x", 600)), plain: newClient(t, nil)}
	staticProcess := static.Run(t, staticCaddyfile)

	rounds := times(4, 20)
	length := time.Duration(times(500, 1000)) * time.Millisecond
	sample := func(s *site, p *harness.Process, path string) slice {
		address := strings.TrimPrefix(s.ID, "http://")
		return measure(t, p.PID(), address, rawRequest("POST", path, address, form, basic), connections, length)
	}
	var tokens, answers []slice
	var signatures, ratios []float64
	for n := range rounds + 1 {
		token, answer, signature := sample(issuing, issuingProcess, "/token"), sample(static, staticProcess, "/static"), signatureTime(t)
		if n == 0 { // warms up
			continue
		}
		tokens, answers, signatures = append(tokens, token), append(answers, answer), append(signatures, signature)
		ratios = append(ratios, token.cpu/(answer.cpu+signature))
	}
	cpu := func(s slice) float64 { return s.cpu }
	ratio := median(ratios)
	t.Logf("\n%d slices of %v, %d connections, medians of CPU\na token                %.1f us (%.0f/s)\na static answer        %.1f us\none ES256 signature    %.1f us\ntoken / (answer + signature), median of neighbours: %.3f",
		rounds, length, connections, medianOf(tokens, cpu), medianOf(tokens, func(s slice) float64 { return s.rate }), medianOf(answers, cpu), median(signatures), ratio)
	if math.IsNaN(ratio) || ratio > mostForToken {
		t.Errorf("a token takes %.2f times the CPU of an answer and a signature, at most %.2f are accepted", ratio, mostForToken)
	}
}

// mostForToken is a little above what is measured on a quiet machine.
const mostForToken = 2.2

// signatureTime is the CPU of one ES256 signature in microseconds, the mean of some
// hundred milliseconds.
func signatureTime(t *testing.T) float64 {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Repeat("x", 500))
	n, before := 0, ownCPU(t)
	for begun := time.Now(); time.Since(begun) < 300*time.Millisecond; n++ {
		sum := sha256.Sum256(text)
		if _, err := ecdsa.SignASN1(rand.Reader, key, sum[:]); err != nil {
			t.Fatal(err)
		}
	}
	return float64((ownCPU(t) - before).Microseconds()) / float64(n)
}
