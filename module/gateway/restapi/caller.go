package restapi

import (
	"fmt"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/rpc"
	"github.com/gatehouse/gatehouse/module/internal/rest/translate"
)

// caller is the way to an upstream that is called by RPC. It makes a plain answer of one that has
// a result: that is what all that is declared of an answer is about. An answer with a fault becomes
// the document of the fault, which conditions make a failure of.
type caller struct {
	h         *REST
	operation *routes.Operation
	to        route
	own       *supplied // has the secrets that calls are sent with
}

// aboutCalls are fields about the bytes of an answer to a call, or about the address of calls.
var aboutCalls = []string{
	"Accept-Ranges", "Allow", "Content-Encoding", "Content-Length", "Content-Location", "Content-Md5", "Content-Type", "Digest", "Etag", "Last-Modified",
	"Location", "Trailer", "Transfer-Encoding",
}

// ServeHTTP calls, and answers with the result.
func (c *caller) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	rec := responsewriter.NewRecorder(rpc.MaxAnswer)
	if err := c.to.ServeHTTP(rec, r); err != nil {
		return err
	}
	got := rec.Reply()
	switch got.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError:
		if _, fault, f := c.read(got); f == nil && fault != nil {
			return c.answer(w, got.Header, http.StatusOK, fault.Document())
		}
	}
	if got.Status > 299 {
		h := w.Header()
		for name, values := range got.Header {
			h[name] = values
		}
		w.WriteHeader(got.Status)
		_, err := w.Write(got.Body)
		return err
	}
	result, fault, f := c.read(got)
	writes := c.operation.Method != http.MethodGet
	switch {
	case f != nil:
		return c.h.unreadable(f)
	case fault != nil:
		return c.answer(w, got.Header, http.StatusOK, fault.Document())
	case writes && string(result) == "false":
		return c.answer(w, got.Header, http.StatusOK, rpc.Refused())
	case writes && string(result) == "null":
		return c.answer(w, got.Header, http.StatusNoContent, nil)
	}
	return c.answer(w, got.Header, http.StatusOK, rpc.Result(c.own.masked(result)))
}

// read reads an answer.
func (c *caller) read(got responsewriter.Reply) ([]byte, *rpc.Fault, *translate.Failure) {
	if got.Cut {
		return nil, nil, &translate.Failure{Kind: translate.Bomb, Err: fmt.Errorf("an answer to a call of more than %d bytes", rpc.MaxAnswer)}
	}
	if c.operation.Requests.ByXMLRPC() {
		document, f := translate.XMLDocument(got.Header, got.Body, c.operation.Requests.Charset)
		if f != nil {
			return nil, nil, f
		}
		result, fault, err := rpc.DecodeXML(document)
		return result, fault, notAnswered(err)
	}
	document, f := translate.Document(got.Header, got.Body, c.operation.Requests.Charset, rpc.MaxAnswer)
	if f != nil {
		return nil, nil, f
	}
	result, fault, err := rpc.Decode(document)
	return result, fault, notAnswered(err)
}

func notAnswered(err error) *translate.Failure {
	if err == nil {
		return nil
	}
	return &translate.Failure{Kind: translate.Syntax, Err: err}
}

func (c *caller) answer(w http.ResponseWriter, theirs http.Header, status int, body []byte) error {
	h := w.Header()
	for name, values := range theirs {
		h[name] = values
	}
	for _, name := range aboutCalls {
		delete(h, name)
	}
	if status != http.StatusNoContent {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
