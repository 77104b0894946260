package jose

import (
	"bytes"
	"encoding/json"
)

// members are those of a JSON object. A few, as tokens have, are found without a map.
type members struct {
	few  []member
	many map[string]json.RawMessage // used instead of few if not nil
}

type member struct {
	name []byte // decoded
	raw  json.RawMessage
}

// maxFew is how many members are kept in a list. Ours have less; with more, looking for duplicates would
// take too long.
const maxFew = 24

// parseMembers reads an object. Names are compared as they are written, and of duplicates the last one counts, as
// in a map. ok is false for anything but a JSON object.
func parseMembers(raw []byte) (m members, ok bool) {
	if !json.Valid(raw) {
		return m, false
	}
	// Whatever follows is known to be valid JSON.
	at := skipSpace(raw, 0)
	if raw[at] != '{' {
		return m, false
	}
	m.few = make([]member, 0, maxFew/2)
	for at = skipSpace(raw, at+1); raw[at] != '}'; at = skipSpace(raw, at) {
		if raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
		end := skipString(raw, at)
		name := raw[at+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			text, _ := decodeText(raw[at:end])
			name = []byte(text)
		}
		at = skipSpace(raw, skipSpace(raw, end)+1) // beyond the colon
		end = skipValue(raw, at)
		if len(m.few) == maxFew {
			m.few = nil
			return m, json.Unmarshal(raw, &m.many) == nil
		}
		m.put(name, raw[at:end:end])
		at = end
	}
	return m, true
}

func (m *members) put(name []byte, raw json.RawMessage) {
	for i := range m.few {
		if bytes.Equal(m.few[i].name, name) {
			m.few[i].raw = raw
			return
		}
	}
	m.few = append(m.few, member{name, raw})
}

// get returns a member, nil if there is none.
func (m *members) get(name string) json.RawMessage {
	if m.many != nil {
		return m.many[name]
	}
	for i := range m.few {
		if string(m.few[i].name) == name {
			return m.few[i].raw
		}
	}
	return nil
}

// The functions below skip parts of valid JSON and return where they end.

func skipSpace(raw []byte, at int) int {
	for raw[at] == ' ' || raw[at] == '\t' || raw[at] == '\n' || raw[at] == '\r' {
		at++
	}
	return at
}

func skipString(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func skipValue(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return skipString(raw, at)
	case '{', '[':
		depth := 0
		for {
			switch raw[at] {
			case '"':
				at = skipString(raw, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if at++; depth == 0 {
				return at
			}
		}
	}
	return at + bytes.IndexAny(raw[at:], ",} \t\r\n")
}
