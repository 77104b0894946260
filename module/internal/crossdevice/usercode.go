package crossdevice

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// letters make no words and are not taken for digits or for one another (RFC 8628
	// section 6.1): 20 to the power of 8 codes, of which ten can be tried a minute.
	letters    = "BCDFGHJKLMNPQRSTVWXZ"
	codeLength = 8
	// maxTyped bounds what is looked at: a code with a separator around every letter.
	maxTyped = 64
	// claims bounds the codes tried until one is free. That one is taken is rare even with
	// a million tickets alive.
	claims = 8
)

var errNoCode = errors.New("crossdevice: no free code was found")

// claimCode makes a code that no other live ticket has and stores whose it is.
func (t *Tickets) claimCode(ctx context.Context, id string, until time.Time) (string, error) {
	value, err := store.Encode(&store.UserCode{Ticket: id})
	if err != nil {
		return "", err
	}
	for range claims {
		code := randomText(letters, codeLength)
		_, err := t.Store.Create(ctx, store.Record{Key: userCodeKey(code), Value: value, Expires: until})
		switch {
		case err == nil:
			return code, nil
		case !errors.Is(err, store.ErrExists):
			return "", err
		}
	}
	return "", errNoCode
}

// ByUserCode finds the ticket of a code as somebody typed it: in any case, with dashes and
// spaces. It does not say whether the ticket is still good.
func (t *Tickets) ByUserCode(ctx context.Context, typed string) (id string, err error) {
	code, ok := canonicalCode(typed)
	if !ok {
		return "", ErrGone
	}
	var found store.UserCode
	_, err = store.Read(ctx, t.Store, userCodeKey(code), &found)
	if errors.Is(err, store.ErrNotFound) {
		return "", ErrGone
	}
	return found.Ticket, err
}

func userCodeKey(code string) store.Key {
	return store.Key{Kind: store.KindUserCode, ID: secret.Digest(code)}
}

// canonicalCode is the form in which a code is stored. ok is false for what cannot be one.
func canonicalCode(typed string) (code string, ok bool) {
	if len(typed) > maxTyped {
		return "", false
	}
	code = strings.Map(func(r rune) rune {
		switch {
		case r == '-', r == ' ', r == '\t', r == '\u00a0', r == '\u3000', r >= '\u2010' && r <= '\u2015':
			return -1
		case r >= '\uff21' && r <= '\uff3a': // the wide forms that an East Asian keyboard gives
			return r - '\uff21' + 'A'
		case r >= '\uff41' && r <= '\uff5a':
			return r - '\uff41' + 'A'
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, typed)
	return code, len(code) == codeLength && strings.Trim(code, letters) == ""
}

// normalizeDigits is a number as it was typed.
func normalizeDigits(typed string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\uff10' && r <= '\uff19':
			return r - '\uff10' + '0'
		case r == ' ', r == '\u3000':
			return -1
		}
		return r
	}, typed)
}

// confirmNumber is what both screens must have in common: two digits, the first of them not 0.
func confirmNumber() string { return strconv.Itoa(10 + randomBelow(90)) }

func randomText(from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[randomBelow(len(from))]
	}
	return string(b)
}

// randomBelow is evenly distributed over 0 to n-1, for n up to 128: bytes that would favour the
// small numbers are thrown away.
func randomBelow(n int) int {
	for {
		if b := int(secret.Bytes(1)[0]); b < 256-256%n {
			return b % n
		}
	}
}
