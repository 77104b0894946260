package request

import (
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkForm refuses a form that carries an access token (RFC 6750 section 2.2): the guard has
// checked the token in the header, and the API might use this one. A form that APIs would read
// in different ways is refused too.
func checkForm(h http.Header, body []byte) *envelope.Refusal {
	labels := h["Content-Type"]
	if len(labels) == 0 {
		labels = []string{""}
	}
	for _, label := range labels {
		switch kind := formOf(label); {
		case kind == noForm || len(body) == 0:
		case kind == both || !ASCIINames(label) || slices.ContainsFunc(namedCharsets(label, body), isNotASCII):
			return unreadableForm()
		case kind == encoded && guard.CarriesToken(string(body)):
			return envelope.TokenInForm()
		case kind != encoded:
			names, ok := PartNames(label, body)
			switch {
			case !ok:
				return unreadableForm()
			case slices.ContainsFunc(names, func(name string) bool { return guard.CarriesToken(url.QueryEscape(name)) }):
				return envelope.TokenInForm()
			}
		}
	}
	return nil
}

// kind is how some API reads a body.
type kind int

const (
	noForm   kind = iota
	encoded       // parameters with & between them
	parts         // the parts of multipart/form-data, each with a name
	anyParts      // parts that may have no name
	both          // encoded to some APIs, parts to others
)

// formOf returns the kind of form that some API takes a body with this Content-Type for. Rack, Perl's
// CGI and, behind Caddy, php-fpm take one without a type for a form, werkzeug one of x-url-encoded, Spring
// any of multipart, and Node's formidable whatever has one of these words anywhere.
func formOf(label string) kind {
	lower := strings.ToLower(label)
	isEncoded := strings.TrimSpace(label) == "" || strings.Contains(lower, "urlencoded") || strings.Contains(lower, "url-encoded")
	switch {
	case !IsMultipart(label) && isEncoded:
		return encoded
	case !IsMultipart(label):
		return noForm
	case isEncoded:
		return both
	case strings.HasPrefix(strings.TrimSpace(lower), "multipart/form-data"):
		return parts
	}
	return anyParts
}

// IsMultipart reports whether some API takes a body with this Content-Type for a form in parts.
func IsMultipart(label string) bool { return strings.Contains(strings.ToLower(label), "multipart") }

// IsForm reports whether some API takes the body of a request with this header for a form.
func IsForm(h http.Header) bool {
	labels := h["Content-Type"]
	return len(labels) == 0 || slices.ContainsFunc(labels, func(label string) bool { return formOf(label) != noForm })
}

func unreadableForm() *envelope.Refusal {
	return envelope.Refuse(http.StatusBadRequest, "the form could not be read")
}

// asciiCharset names the encodings in which the letters of access_token are the bytes of ASCII, and no other bytes
// are. In GBK, GB18030, Big5 and Shift_JIS they may also be the last byte of another character.
var asciiCharset = regexp.MustCompile(`^(utf-?8|us-ascii|ascii|latin1|iso-?8859-[0-9]+|(windows-|cp)125[0-8]|koi8-[ru]|gbk|gb2312|gb18030|big5|shift_jis|euc-(jp|kr|cn|tw))$`)

// ASCIINames reports whether every reader of a body with this Content-Type decodes names as ASCII. Servlet
// containers, ASP.NET and Django use the charset that the client names, Django also for the query, and
// access_token has other bytes in EBCDIC, UTF-7 or UTF-16.
func ASCIINames(label string) bool {
	switch strings.Count(strings.ToLower(label), "charset") {
	case 0:
		return true
	case 1:
		_, params, err := mime.ParseMediaType(label)
		return err == nil && !isNotASCII(params["charset"])
	default:
		return false
	}
}

// isNotASCII reports whether the letters of names have other bytes in a charset than in ASCII, or may have.
func isNotASCII(charset string) bool { return !asciiCharset.MatchString(strings.ToLower(charset)) }
