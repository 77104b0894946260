package store

import (
	"encoding/json"
	"fmt"
)

// Schema is the number written into every record. A record with a higher one was
// written by a newer release and is refused rather than misread.
const Schema = 1

// packedSchema is the first byte of a packed record. Other records are JSON, which begins with no such byte.
const packedSchema = 2

// schema is embedded by every record type.
type schema struct {
	Schema int `json:"v"`
}

func (s *schema) stamp() *int { return &s.Schema }

// stamped is a pointer to a record type.
type stamped interface{ stamp() *int }

// packed is a pointer to a record type that is stored without the names of its fields. Releases before wrote it as
// JSON, and such records are still read.
type packed interface {
	stamped
	pack(p *packer)
	unpack(u *unpacker)
}

// Encode gives the stored form of a record type of this package.
func Encode(v stamped) ([]byte, error) {
	*v.stamp() = Schema
	if v, ok := v.(packed); ok {
		p := packer{append(make([]byte, 0, 192), packedSchema)}
		v.pack(&p)
		return p.b, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store: encoding %T: %w", v, err)
	}
	return b, nil
}

// Decode reads the stored form into v.
func Decode(b []byte, v stamped) error {
	if v, ok := v.(packed); ok && len(b) > 0 && b[0] < '\t' {
		return unpackRecord(b, v)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("store: decoding %T: %w", v, err)
	}
	if n := *v.stamp(); n < 1 || n > Schema {
		return fmt.Errorf("store: %T has schema %d, this release reads up to %d: written by a newer gatehouse?", v, n, Schema)
	}
	return nil
}

func unpackRecord(b []byte, v packed) error {
	if n := b[0]; n != packedSchema {
		return fmt.Errorf("store: %T has the packed schema %d, this release reads %d: written by a newer gatehouse?", v, n, packedSchema)
	}
	u := unpacker{b: b[1:]}
	v.unpack(&u)
	if u.err != nil {
		return fmt.Errorf("store: decoding %T: %w", v, u.err)
	}
	*v.stamp() = Schema
	return nil
}
