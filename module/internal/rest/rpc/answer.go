package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// MaxAnswer is the most bytes of an answer, which is held in memory.
const MaxAnswer = 4 << 20

// Marker is the member of a fault's document that has its status: see [Fault.Document]. It is another
// one in each process: a result may have members that a client named, and must not pass for a
// fault with them. A seed of maphash is random, and nobody is shown the name.
var Marker = "gatehouse:" + strconv.FormatUint(maphash.String(maphash.MakeSeed(), "fault"), 36)

// maxFault bounds what of a fault is looked at.
const maxFault = 16 << 10

// Fault is an error of the API.
type Fault struct {
	Code    string // a number, "" for none
	message string
	Data    json.RawMessage
}

// errNoAnswer is the error for what is no answer to the call.
var errNoAnswer = errors.New("it is no answer to the call")

// Decode reads an answer of JSON-RPC: its result, or a fault. Where a name occurs twice, the last
// one counts. An answer to no request in particular has the id null, and can only be a fault.
func Decode(document []byte) (result json.RawMessage, fault *Fault, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(document, &all); err != nil {
		return nil, nil, fmt.Errorf("%w: it is no JSON object", errNoAnswer)
	}
	problem, result := all["error"], all["result"]
	failed := problem != nil && string(problem) != "null"
	if failed && result != nil && string(result) != "null" && noError[string(problem)] {
		failed = false
	}
	got, there := all["id"]
	switch {
	case !there || string(got) != id && (!failed || string(got) != "null"):
		return nil, nil, fmt.Errorf("%w: its id is %.40s, expected %s", errNoAnswer, got, id)
	case failed && result != nil && string(result) != "null":
		return nil, nil, fmt.Errorf("%w: it has a result and an error, expected one of both", errNoAnswer)
	case failed:
		return nil, readFault(problem), nil
	case result == nil:
		return nil, nil, fmt.Errorf("%w: it has neither a result nor an error", errNoAnswer)
	}
	return result, nil, nil
}

// noError is what some servers write beside a result in the place of null. Spaces in `{ }` make an error of it.
var noError = map[string]bool{"false": true, "0": true, `""`: true, "[]": true, "{}": true}

func readFault(problem json.RawMessage) *Fault {
	f := new(Fault)
	var all map[string]json.RawMessage
	if json.Unmarshal(problem, &all) != nil {
		_ = json.Unmarshal(problem, &f.message) // a text, or nothing that is known
		return f.cut()
	}
	f.Code, f.message = codeOf(all["code"]), scalarText(all["message"])
	f.Data = all["data"]
	return f.cut()
}

// codeOf is a code that conditions can ask for: a whole number, in quotes or not.
func codeOf(value json.RawMessage) string {
	if text := scalarText(value); whole.MatchString(text) {
		return text
	}
	return ""
}

// scalarText is the text of a string or a number, "" for anything else.
func scalarText(value json.RawMessage) (text string) {
	if len(value) > 0 && (value[0] == '-' || '0' <= value[0] && value[0] <= '9') {
		return string(value)
	}
	_ = json.Unmarshal(value, &text) // else there is none
	return text
}

// cut bounds a fault: what is behind the beginning of a very long one does not say more. That something is left out must be
// seen: the last word may be the beginning of a secret.
func (f *Fault) cut() *Fault {
	if len(f.message) > maxFault {
		f.message = strings.ToValidUTF8(f.message[:maxFault], "") + "…"
	}
	if len(f.Data) > maxFault {
		f.Data = nil
	}
	return f
}

// status is what a client is told where no rule says otherwise. Faults of the protocol are none
// of the client's: it knows nothing of the call.
func (f *Fault) status() int {
	switch f.Code {
	case "-32700", "-32600", "-32601", "-32603":
		return http.StatusBadGateway
	}
	return http.StatusUnprocessableEntity
}

// Document is a fault as `{"error":{"code","message","data"}}`, and its status in the member
// [Marker].
func (f *Fault) Document() []byte {
	b := fmt.Appendf(nil, `{"error":{"message":%s`, splice.Quote(f.message))
	if f.Code != "" {
		b = append(b, `,"code":`+f.Code...)
	}
	if f.Data != nil {
		b = append(append(b, `,"data":`...), f.Data...)
	}
	return fmt.Appendf(b, `},%q:%d}`, Marker, f.status())
}

// Result is the document that a result becomes: an object or a list is one as it is; of anything
// else the document has the member `result`. Null becomes the empty object.
func Result(result json.RawMessage) []byte {
	switch {
	case string(result) == "null":
		return []byte("{}")
	case result[0] == '{' || result[0] == '[':
		return result
	}
	return append(append([]byte(`{"result":`), result...), '}')
}

// Refused is the document of a write whose result is false: where no rule says otherwise, it must
// not be told as done.
func Refused() []byte {
	return fmt.Appendf(nil, `{"result":false,%q:%d}`, Marker, http.StatusUnprocessableEntity)
}
