package metrics

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// elsewhere are counters that begin when what they count is configured, or whose labels
// have names that the configuration chooses.
var elsewhere = []*prometheus.CounterVec{audited, guarded, refusedTokens, shadowed, overload, limited, removedFields, restRequests, jobs, unreachable}

func TestEveryCounterStartsAtZeroSomewhere(t *testing.T) { // S11
	for _, c := range collectors {
		v, ok := c.(*prometheus.CounterVec)
		if ok && !slices.Contains(elsewhere, v) && !slices.ContainsFunc(closedSets(), func(s closedSet) bool { return s.of == v }) {
			desc := make(chan *prometheus.Desc, 1)
			v.Describe(desc)
			t.Errorf("%s is neither in closedSets nor begins elsewhere", <-desc)
		}
	}
}

// S11: a value that another package declares, and that no series begins with, is a value
// that somebody forgot here.
func TestDeclaredOutcomesStartAtZero(t *testing.T) {
	// What is declared for other endpoints. An error code that is added must be said here, or
	// begin at zero.
	notAtToken := []string{
		"unsupported_response_type", "invalid_token", "insufficient_scope", "request_not_supported", "request_uri_not_supported",
		"registration_not_supported", "invalid_redirect_uri", "invalid_client_metadata", "login_required", "consent_required",
	}
	notOfTokens := slices.Concat(notAtToken, []string{"invalid_grant", "unsupported_grant_type", "invalid_scope", "invalid_target", "access_denied", "authorization_pending", "expired_token"})
	codes := declared(t, "../../oauth", "Code", "")
	grants := declared(t, "../../oauth", "GrantType", "")
	for _, c := range []struct {
		name     string
		of       *prometheus.CounterVec
		label    int
		declared []string
		except   []string
	}{
		{"grant types of /token", tokenRequests, 0, grants, []string{"implicit"}},
		{"error codes of /token", tokenRequests, 1, codes, notAtToken},
		{"error codes of /revoke", revocations, 0, codes, notOfTokens},
		{"error codes of /introspect", introspected, 0, codes, notOfTokens},
		{"verdicts", signIns, 0, declared(t, "../authserver/password", "Verdict", ""), nil},
		{"kinds of tickets", tickets, 0, declared(t, "../../store", "TicketKind", ""), nil},
		{"moves of tickets", tickets, 1, declared(t, "../crossdevice", "", "Count"), nil},
		{"kinds of bodies", normalised, 1, declared(t, "../../rest/envelope", "Kind", ""), nil},
		{"failures of translation", untranslated, 0, declared(t, "../rest/translate", "Kind", ""), nil},
		{"failures of files", jobFiles, 0, trimmed(declared(t, "../../rest/job", "Code", "File"), "file_"), nil},
	} {
		if len(c.declared) < 2 {
			t.Errorf("%s: only %d are declared, so this test looks in the wrong place", c.name, len(c.declared))
		}
		begun := begun(c.of, c.label)
		for _, v := range c.declared {
			if !begun[v] && !slices.Contains(c.except, v) {
				t.Errorf("%s: %s does not begin at zero", c.name, v)
			}
		}
	}
}

// S11: the same of values that are written where something is counted.
func TestWrittenOutcomesStartAtZero(t *testing.T) {
	counters := map[string]*prometheus.CounterVec{
		"TokenRequest": tokenRequests, "SignIn": signIns, "Revocation": revocations, "Introspection": introspected, "DeprecatedGrant": deprecated,
		"Untranslated": untranslated, "JobFile": jobFiles, "UpstreamError": normalised, "Ticket": tickets, "StoreOperation": storeOps,
	}
	found := map[string]int{} // by the package that has them
	everyFile(t, "..", func(path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && counters[f.Sel.Name] != nil {
				for i, arg := range call.Args {
					if v, ok := text(arg); ok {
						if !begun(counters[f.Sel.Name], i)[v] {
							t.Errorf("%s: %s counts %q, which does not begin at zero", path, f.Sel.Name, v)
						}
					}
				}
			}
			// The operations of the store.
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "countOperation" {
				found["operations"]++
				if v, ok := text(call.Args[2]); !ok || !begun(storeOps, 0)[v] {
					t.Errorf("%s: the operation %s does not begin at zero", path, v)
				}
			}
			return true
		})
		in := filepath.Base(filepath.Dir(path))
		switch in {
		case "lazy":
			found[in] += compare(t, path, assigned(file, "result"), begun(storeOps, 1))
		case "introspection":
			found[in] += compare(t, path, assigned(file, "outcome"), begun(introspected, 0))
		case "revocation":
			found[in] += compare(t, path, returned(file, "outcome"), begun(revocations, 0))
		case "variantb":
			found[in] += variantB(t, file)
		}
	})
	for in, least := range map[string]int{"operations": 5, "lazy": 4, "introspection": 3, "revocation": 3, "variantb": 30} {
		if found[in] < least {
			t.Errorf("%s: only %d values were found, so this test looks in the wrong place", in, found[in])
		}
	}
}

func compare(t *testing.T, path string, values []string, begun map[string]bool) int {
	t.Helper()
	for _, v := range values {
		if !begun[v] {
			t.Errorf("%s: the outcome %q does not begin at zero", path, v)
		}
	}
	return len(values)
}

// assigned are the strings that a variable of a file is set to.
func assigned(file *ast.File, name string) (values []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok {
			if id, ok := set.Lhs[0].(*ast.Ident); ok && id.Name == name {
				if v, ok := text(set.Rhs[0]); ok {
					values = append(values, v)
				}
			}
		}
		return true
	})
	return values
}

// returned are the strings that functions return as their first result, where it has a name.
func returned(file *ast.File, name string) (values []string) {
	named := constants(file)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Type.Results == nil || len(f.Type.Results.List[0].Names) == 0 || f.Type.Results.List[0].Names[0].Name != name {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 1 {
				v, ok := text(r.Results[0])
				if id, is := r.Results[0].(*ast.Ident); is {
					v, ok = named[id.Name], true
				}
				if ok && v != "" {
					values = append(values, v)
				}
			}
			return true
		})
	}
	return values
}

// constants are a file's strings by name.
func constants(file *ast.File) map[string]string {
	named := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					if v, ok := text(spec.Values[i]); ok {
						named[name.Name] = v
					}
				}
			}
		}
		return true
	})
	return named
}

// variantB checks Variant B's faults. Some are answers of its userinfo endpoint, and others come before a request is
// one for tokens.
func variantB(t *testing.T, file *ast.File) (seen int) {
	t.Helper()
	names := constants(file)
	begun := begun(tokenRequests, 1, "variantb_authorization_code")
	others := []string{"invalid_token", "forbidden", "insufficient_scope", "not_found", "invalid_request"}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "newFault" {
			return true
		}
		code, ok := text(call.Args[1])
		if name, is := call.Args[1].(*ast.Ident); is {
			code, ok = names[name.Name], true
		}
		seen++
		if !ok || !begun[code] && !slices.Contains(others, code) {
			t.Errorf("variantb: %q does not begin at zero", code)
		}
		return true
	})
	return seen
}

// begun are the values of a label with which a series begins; first is the value of the
// first label, if only its series are meant.
func begun(of *prometheus.CounterVec, label int, first ...string) map[string]bool {
	all := map[string]bool{}
	for _, s := range closedSets() {
		if s.of == of && label < len(s.values) && (len(first) == 0 || slices.Contains(s.values[0], first[0])) {
			for _, v := range s.values[label] {
				all[v] = true
			}
		}
	}
	return all
}

// declared are the values of a package's string constants of a type, whose names begin with
// a prefix.
func declared(t *testing.T, dir, typeName, prefix string) []string {
	t.Helper()
	values := map[string]bool{}
	everyFile(t, dir, func(path string, file *ast.File) {
		if filepath.Dir(path) != filepath.Clean(dir) {
			return
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok || len(spec.Values) == 0 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
					continue
				}
				named := ""
				if id, ok := spec.Type.(*ast.Ident); ok {
					named = id.Name
				}
				if v, ok := text(spec.Values[0]); ok && named == typeName {
					values[v] = true
				}
			}
		}
	})
	return slices.Sorted(maps.Keys(values))
}

func everyFile(t *testing.T, dir string, look func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			look(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// text is the value of a string literal.
func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	v, err := strconv.Unquote(lit.Value)
	return v, err == nil
}

func trimmed(all []string, prefix string) []string {
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], prefix)
	}
	return all
}
