package translate

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/xmljson"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Document reads a whole answer that is to be JSON: without its coding, in UTF-8, and without
// what a script printed in front of it. named is the charset of the configuration, nil for none.
// What comes out has at most limit bytes.
func Document(h http.Header, body []byte, named *charset.Charset, limit int) ([]byte, *Failure) {
	media := mediaOf(h)
	sure := envelope.IsJSON(media) || strings.HasPrefix(media, "application/json") // json-rpc, jsonrequest
	if !sure && !envelope.MaybeJSON(media) {
		return nil, &Failure{Syntax, fmt.Errorf("Content-Type %q, expected JSON", media)}
	}
	body, f := unpackAll(h, body, limit)
	if f != nil {
		return nil, f
	}
	text, ok := charset.Read(charsetOf(h), named).Text(body, false)
	if !ok {
		return nil, &Failure{Charset, charset.ErrText}
	}
	at, ok := findJSON(text, sure, true)
	if !ok {
		return nil, &Failure{Syntax, errors.New("it is no JSON")}
	}
	return text[at:], nil
}

// XMLDocument is the same for an answer that is to be XML.
func XMLDocument(h http.Header, body []byte, named *charset.Charset) ([]byte, *Failure) {
	if media := mediaOf(h); !xmljson.IsXML(media) {
		return nil, &Failure{Syntax, fmt.Errorf("Content-Type %q, expected XML", media)}
	}
	body, f := unpackAll(h, body, xmljson.MaxSize)
	if f != nil {
		return nil, f
	}
	text, ok := xmlText(h, body, named)
	if !ok {
		return nil, &Failure{Charset, fmt.Errorf("%w: a document in XML", charset.ErrText)}
	}
	return text, nil
}

// unpackAll decompresses a whole body.
func unpackAll(h http.Header, body []byte, limit int) (plain []byte, _ *Failure) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	if coding == "" || coding == "identity" {
		return body, nil
	}
	u := newUnpacker(coding, func(p []byte) error {
		if len(plain)+len(p) > limit {
			return &Failure{Bomb, fmt.Errorf("an answer of more than %d bytes", limit)}
		}
		plain = append(plain, p...)
		return nil
	})
	if u == nil {
		return nil, &Failure{Coding, fmt.Errorf("Content-Encoding %q, expected none, or one of gzip, deflate and zstd", coding)}
	}
	defer u.release()
	err := u.write(body)
	if err == nil {
		err = u.close()
	}
	if err != nil {
		return nil, failureOf(err)
	}
	return plain, nil
}
