package store

import (
	"encoding/json"
	"fmt"
)

// Schema is the number written into every record. A record with a higher one was
// written by a newer release and is refused rather than misread.
const Schema = 1

// schema is embedded by every record type.
type schema struct {
	Schema int `json:"v"`
}

func (s *schema) stamp() *int { return &s.Schema }

// stamped is a pointer to a record type.
type stamped interface{ stamp() *int }

// Encode gives the stored form of a record type of this package.
func Encode(v stamped) ([]byte, error) {
	*v.stamp() = Schema
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store: encoding %T: %w", v, err)
	}
	return b, nil
}

// Decode reads the stored form into v.
func Decode(b []byte, v stamped) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("store: decoding %T: %w", v, err)
	}
	if n := *v.stamp(); n < 1 || n > Schema {
		return fmt.Errorf("store: %T has schema %d, this release reads up to %d: written by a newer gatehouse?", v, n, Schema)
	}
	return nil
}
