package upstream

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
)

// rpcCaller is the way to an API that is called by RPC. It replaces an answer by the result in it,
// which is what declarations are about. An answer with a fault becomes the document of the fault,
// and conditions make a failure of that.
type rpcCaller struct {
	unreadable func(*translate.Failure) error
	operation  *routes.Operation
	to         operation.Route
	secrets    *supplier // knows the secrets that calls are sent with; may be nil
}

// callFields are about the bytes of the answer to a call, or about the address of calls.
var callFields = []string{
	"Accept-Ranges", "Allow", "Content-Encoding", "Content-Length", "Content-Location", "Content-Md5", "Content-Type", "Digest", "Etag", "Last-Modified",
	"Location", "Trailer", "Transfer-Encoding",
}

// ServeHTTP sends a call and answers with its result.
func (c *rpcCaller) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	rec := responsewriter.NewRecorder(rpc.MaxAnswer)
	if err := c.to.ServeHTTP(rec, r); err != nil {
		return err
	}
	got := rec.Reply()
	switch got.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError:
		if _, fault, f := c.readResult(got); f == nil && fault != nil {
			return c.write(w, got.Header, http.StatusOK, fault.Document())
		}
	}
	if got.Status > 299 {
		maps.Copy(w.Header(), got.Header)
		w.WriteHeader(got.Status)
		_, err := w.Write(got.Body)
		return err
	}
	result, fault, f := c.readResult(got)
	writes := c.operation.Method != http.MethodGet
	switch {
	case f != nil:
		return c.unreadable(f)
	case fault != nil:
		return c.write(w, got.Header, http.StatusOK, fault.Document())
	case writes && string(result) == "false":
		return c.write(w, got.Header, http.StatusOK, rpc.Refused())
	case writes && string(result) == "null":
		return c.write(w, got.Header, http.StatusNoContent, nil)
	}
	return c.write(w, got.Header, http.StatusOK, rpc.Result(c.secrets.mask(result)))
}

// readResult returns the result or the fault of an answer.
func (c *rpcCaller) readResult(got responsewriter.Reply) ([]byte, *rpc.Fault, *translate.Failure) {
	if got.Cut {
		return nil, nil, &translate.Failure{Kind: translate.Bomb, Err: fmt.Errorf("an answer to a call of more than %d bytes", rpc.MaxAnswer)}
	}
	var document []byte
	var f *translate.Failure
	decode := rpc.Decode
	if c.operation.Requests.ByXMLRPC() {
		decode = rpc.DecodeXML
		document, f = translate.XMLDocument(got.Header, got.Body, c.operation.Requests.Charset)
	} else {
		document, f = translate.Document(got.Header, got.Body, c.operation.Requests.Charset, rpc.MaxAnswer)
	}
	if f != nil {
		return nil, nil, f
	}
	result, fault, err := decode(document)
	if err != nil {
		return nil, nil, &translate.Failure{Kind: translate.Syntax, Err: err}
	}
	return result, fault, nil
}

// write answers with a document instead of the API's.
func (c *rpcCaller) write(w http.ResponseWriter, theirs http.Header, status int, body []byte) error {
	h := w.Header()
	maps.Copy(h, theirs)
	for _, name := range callFields {
		delete(h, name)
	}
	if status != http.StatusNoContent {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
