package sql

import (
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// textValue reads a value as text; NULL is none.
func textValue(v any) (string, error) {
	var s string
	switch v := v.(type) {
	case nil:
	case string:
		s = v
	case []byte:
		s = string(v)
	case int64:
		s = strconv.FormatInt(v, 10)
	case uint64:
		s = strconv.FormatUint(v, 10)
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return "", errors.New("is neither a text nor a number")
	}
	if len(s) > maxText {
		return "", errors.New("is too long")
	}
	if !utf8.ValidString(s) {
		return "", errors.New("is not UTF-8")
	}
	return s, nil
}

// boolValue reads whether a user is locked. What it does not understand is an error: it may mean yes.
func boolValue(v any) (bool, error) {
	switch v := v.(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	case int64:
		return v != 0, nil
	case uint64:
		return v != 0, nil
	case []byte:
		if len(v) == 1 && v[0] <= 1 { // MySQL's BIT(1)
			return v[0] == 1, nil
		}
		return boolValue(string(v))
	case string:
		switch v {
		case "", "0", "f", "F", "false", "FALSE", "n", "N", "no", "NO", "off":
			return false, nil
		case "1", "t", "T", "true", "TRUE", "y", "Y", "yes", "YES", "on":
			return true, nil
		}
	}
	return false, errors.New("must be true or false, a number, or NULL")
}

// claimValue reads a value of a further column, for JSON.
func claimValue(v any) (any, error) {
	switch v := v.(type) {
	case bool, int64, uint64:
		return v, nil
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) { // JSON has no such numbers
			return v, nil
		}
	case time.Time:
		return v.UTC().Format(time.RFC3339), nil
	}
	return textValue(v)
}
