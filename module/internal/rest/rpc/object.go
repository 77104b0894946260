package rpc

import "encoding/json"

// Object writes the parameters alone, which are an object: `{}` for none. A member whose value the
// request does not have is left out.
func (t *Template) Object(v Values) ([]byte, error) {
	if t.root == nil {
		return []byte("{}"), nil
	}
	to := &jsonCall{b: []byte{':'}} // behind a colon stands no comma
	err := t.root.write(to, v)
	return to.b[1:], err
}

// Quote is a text in JSON.
func Quote(text string) json.RawMessage { return quote(text) }
