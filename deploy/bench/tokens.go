package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// mint requests n tokens of the issuer, those of each client in turn.
func (b *bench) mint(ctx context.Context, n int) ([]string, error) {
	const parallel = 16
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: parallel}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	tokens, errs := make([]string, n), make([]error, parallel)
	var wg sync.WaitGroup
	for part := range parallel {
		wg.Go(func() {
			for i := part; i < n && errs[part] == nil; i += parallel {
				tokens[i], errs[part] = requestToken(ctx, client, "http://"+b.issuer.http+"/token", "localhost:"+port(b.issuer.http), fmt.Sprintf("c%d", i%clients))
			}
		})
	}
	wg.Wait()
	return tokens, errors.Join(errs...)
}

func requestToken(ctx context.Context, client *http.Client, url, host, id string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(tokenForm))
	if err != nil {
		return "", err
	}
	r.Host = host
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(id, secret)
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &token); err != nil || token.AccessToken == "" {
		return "", fmt.Errorf("a token for %s: %s: %.200s", id, res.Status, body)
	}
	return token.AccessToken, nil
}

const tokenForm = "grant_type=client_credentials&scope=read"

// forge changes the signature of each token.
func forge(tokens []string) []string {
	forged := make([]string, len(tokens))
	for i, token := range tokens {
		at := strings.LastIndexByte(token, '.') + 10
		other := byte('A')
		if token[at] == other {
			other = 'B'
		}
		forged[i] = token[:at] + string(other) + token[at+1:]
	}
	return forged
}

// peerTokens makes tokens for other gateways, signed with RS256, and writes the public key
// to a file.
func peerTokens(n int, keyFile string) ([]string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600); err != nil {
		return nil, err
	}
	encode := base64.RawURLEncoding.EncodeToString
	tokens := make([]string, n)
	for i := range tokens {
		claims := fmt.Sprintf(`{"iss":"https://id.example","aud":%q,"sub":"c%d","client_id":"c%d","scope":"read","exp":%d,"jti":"%032d"}`,
			audience, i%clients, i%clients, time.Now().Add(12*time.Hour).Unix(), i)
		text := encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"bench"}`)) + "." + encode([]byte(claims))
		digest := sha256.Sum256([]byte(text))
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
		if err != nil {
			return nil, err
		}
		tokens[i] = text + "." + encode(signature)
	}
	return tokens, nil
}
