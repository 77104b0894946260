package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const mod = "github.com/gatehouse/gatehouse/"

// allowed lists, for each package or tree ("/..."), which packages of ours it may import
// besides module/internal/{secret,httpx,lockout,fairshare}. A package that is not listed may import none.
var allowed = map[string][]string{
	"module":                                 {"caddyfile", "module/gateway", "module/gateway/oauthguard", "module/gateway/apilimit", "module/internal/cli", "module/gateway/restapi", "plugins/..."},
	"caddyfile":                              {"caddyfile/bytesize", "caddyfile/internal/...", "module/gateway", "module/gateway/apilimit", "module/gateway/apiproxy", "module/gateway/oauthguard", "module/oauth", "module/guard"},
	"caddyfile/internal/parse":               {"caddyfile/bytesize", "caddyfile/spelling"},
	"caddyfile/internal/apierrors":           {"caddyfile/internal/parse", "module/gateway", "module/rest/charset", "module/rest/envelope"},
	"caddyfile/internal/apirest":             {"caddyfile/bytesize", "caddyfile/spelling", "caddyfile/internal/apierrors", "caddyfile/internal/parse", "module/gateway/apiproxy", "module/gateway/restapi", "module/rest/..."},
	"module/internal/watch":                  nil,
	"module/internal/cli/livewatch":          {"module/internal/cli/adminclient", "module/internal/watch"},
	"module/internal/handler":                {"module/internal/watch", "module/guard", "module/internal/metrics", "module/internal/rest/responsewriter", "module/internal/token", "module/oauth", "module/rest/envelope", "module/directory"},
	"module/internal/accesslog":              {"module/internal/handler"},
	"module/internal/lazy":                   {"module/directory", "module/ratelimit", "module/store", "module/internal/metrics"},
	"module/internal/admin":                  {"module/internal/watch", "module/internal/adminapi", "module/internal/crossdevice", "module/ratelimit", "module/internal/audit", "module/internal/authserver", "module/internal/clientstore", "module/internal/ending", "module/internal/lazy", "module/internal/token", "module/internal/userstore", "module/rest/envelope", "module/directory", "module/oauth", "module/store", "module/internal/keyring", "module/internal/revocationlist"},
	"module/gateway/oauthguard":              {"module/gateway", "module/guard", "module/internal/accesslog", "module/internal/handler", "module/internal/metrics", "module/internal/token", "module/oauth", "module/internal/jose"},
	"module/gateway/apiproxy":                {"module/gateway/revealing", "module/internal/handler", "module/internal/http1", "module/internal/metrics", "module/internal/rest/conceal"},
	"module/gateway/revealing":               {"module/internal/rest/conceal"},
	"module/gateway/apilimit":                {"module/gateway", "module/guard", "module/internal/handler", "module/internal/metrics", "module/internal/rest/responsewriter", "module/internal/routes", "module/internal/token", "module/ratelimit"},
	"module/gateway":                         {"module/internal/watch", "module/currentlog", "caddyfile/bytesize", "module/internal/accesslog", "module/internal/admin", "module/internal/handler", "module/internal/lazy", "module/internal/pool", "module/internal/admission", "module/internal/adminapi", "module/internal/routes", "module/internal/audit", "module/internal/authserver", "module/internal/authserver/registration", "module/internal/clientstore", "module/internal/crossdevice", "module/guard", "module/ratelimit", "module/rest/...", "module/internal/rest/...", "module/internal/webui", "module/internal/metrics", "module/internal/token", "module/store", "module/directory", "module/directory/password", "module/oauth", "module/internal/core", "module/internal/readiness", "module/internal/audittrail", "module/internal/eventqueue", "module/internal/gcheadroom", "module/internal/servers", "module/internal/clientassertion", "module/internal/keyring", "module/internal/loadedfiles"},
	"module/internal/adminapi":               {"module/internal/clientstore"},
	"module/internal/backup":                 {"module/internal/keyring", "module/store"},
	"module/internal/move":                   {"module/store"},
	"module/internal/cli":                    {"module/internal/cli/livewatch", "module/internal/watch", "module/internal/backup", "module/internal/cli/adminclient", "module/internal/move", "module/internal/cli/progress", "module/store", "module/internal/cli/doctor", "module/internal/cli/explain", "module/internal/cli/userimport", "module/internal/cli/typedpassword", "caddyfile/spelling", "module/gateway", "module/gateway/apilimit", "module/gateway/oauthguard", "module/internal/adminapi", "module/internal/clientstore", "module/directory", "module/directory/password", "module/gateway/restapi", "module/internal/routes", "module/guard", "module/oauth", "module/internal/token", "module/internal/keyring", "module/internal/clientassertion"},
	"module/internal/cli/typedpassword":      {"module/directory"},
	"module/internal/cli/userimport":         {"module/internal/adminapi", "module/internal/userstore"},
	"module/internal/cli/doctor":             {"module/internal/cli/adminclient", "module/gateway", "module/gateway/apilimit", "module/gateway/oauthguard", "module/internal/adminapi", "module/internal/authserver/ownpaths", "module/internal/cli/doctor/credentials", "module/internal/cli/doctor/headers", "module/internal/cli/doctor/rest", "module/internal/cli/doctor/sites", "module/internal/cli/explain", "module/internal/httpx", "module/internal/routes", "module/oauth", "module/internal/servers"},
	"module/internal/cli/doctor/credentials": {"module/internal/cli/explain"},
	"module/internal/cli/doctor/headers":     {"module/internal/adminapi", "module/internal/cli/doctor/sites", "module/internal/cli/explain", "module/internal/httpx", "module/internal/routes"},
	"module/internal/cli/doctor/sites":       {"module/internal/cli/explain", "module/internal/routes"},
	"module/internal/cli/doctor/rest":        {"module/gateway/restapi", "module/internal/adminapi", "module/internal/cli/explain", "module/internal/routes", "module/rest/job"},
	"module/internal/cli/explain":            {"module/gateway", "module/gateway/apilimit", "module/gateway/oauthguard", "module/gateway/restapi", "module/guard", "module/internal/adminapi", "module/internal/authserver/ownpaths", "module/internal/routes", "module/internal/token", "module/oauth"},
	"module/internal/core":                   {"module/internal/audit", "module/internal/clientstore", "module/internal/ending", "module/internal/lazy", "module/internal/readiness", "module/internal/token", "module/internal/userstore", "module/directory", "module/store", "module/internal/keyring", "module/internal/revocationlist"},
	"module/internal/readiness":              {"module/internal/admin", "module/internal/adminapi", "module/internal/lazy", "module/store", "module/internal/revocationlist"},
	"module/internal/audittrail":             {"module/internal/audit", "module/internal/eventqueue", "module/internal/handler", "module/internal/metrics"},
	"module/internal/eventqueue":             {"module/internal/metrics"},
	"module/internal/servers":                {"module/internal/admin", "module/internal/routes"},
	"module/internal/routes":                 nil,
	"module/gateway/restapi":                 {"module/gateway/revealing", "module/internal/http1", "module/internal/audit", "module/gateway", "module/gateway/apilimit", "module/guard", "module/internal/handler", "module/internal/metrics", "module/internal/pool", "module/rest/...", "module/internal/rest/...", "module/store", "module/internal/token"},
	"module/internal/rest/...":               {"module/rest/charset", "module/rest/envelope", "module/internal/rest/splice"},
	"module/rest/...":                        {"module/rest/charset", "module/rest/envelope", "module/internal/rest/splice"},
	"module/rest/charset":                    nil,
	"module/internal/rest/openapi":           {"module/internal/rest/answer", "module/internal/rest/etag", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/routes", "module/internal/rest/batch", "module/internal/webui", "module/rest/job", "module/rest/list", "module/rest/resource", "module/rest/validate"},
	"module/internal/rest/translate":         {"module/internal/rest/answer", "module/internal/rest/responsewriter", "module/rest/list", "module/rest/resource", "module/internal/rest/xmljson"},
	"module/internal/rest/batch":             {"module/internal/httpx", "module/internal/rest/answer", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/routes", "module/rest/validate"},
	"module/internal/rest/conceal":           {"module/internal/rest/request", "module/internal/rest/responsewriter", "module/rest/supply"},
	"module/internal/rest/signin":            {"module/internal/rest/conceal", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/request", "module/internal/rest/responsewriter", "module/rest/login", "module/rest/supply"},
	"module/internal/rest/upstream":          {"module/internal/rest/answer", "module/internal/rest/conceal", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/pathpattern", "module/internal/rest/request", "module/internal/rest/responsewriter", "module/internal/rest/routes", "module/internal/rest/rpc", "module/internal/rest/signin", "module/internal/rest/translate", "module/rest/login", "module/rest/supply"},
	"module/internal/rest/conditional":       {"module/internal/rest/answer", "module/internal/rest/etag", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/request", "module/internal/rest/responsewriter", "module/internal/rest/routes", "module/internal/secret"},
	"module/internal/rest/cursor":            {"module/internal/secret"},
	"module/internal/rest/etag":              {"module/internal/httpx", "module/internal/secret"},
	"module/internal/rest/exchange":          {"module/internal/rest/answer", "module/internal/rest/headerfilter", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/responsewriter", "module/internal/rest/translate"},
	"module/internal/rest/headerfilter":      {"module/internal/rest/answer", "module/internal/rest/headers", "module/internal/rest/operation", "module/internal/rest/translate"},
	"module/internal/rest/quota":             {"module/internal/secret", "module/store"},
	"module/internal/rest/idempotent":        {"module/internal/rest/operation", "module/internal/rest/quota", "module/internal/rest/request", "module/internal/rest/responsewriter", "module/internal/secret", "module/internal/token", "module/store"},
	"module/internal/rest/jobapi":            {"module/internal/audit", "module/internal/fairshare", "module/internal/metrics", "module/internal/rest/operation", "module/internal/rest/quota", "module/internal/token", "module/rest/job", "module/store"},
	"module/internal/rest/operation":         {"module/internal/rest/answer", "module/internal/rest/mapping", "module/internal/rest/responsewriter", "module/internal/rest/routes", "module/internal/secret", "module/internal/token"},
	"module/internal/rest/cursorpages":       {"module/internal/rest/answer", "module/internal/rest/headers", "module/internal/rest/mapping", "module/internal/rest/operation", "module/internal/rest/responsewriter", "module/internal/rest/routes", "module/internal/rest/translate", "module/rest/list"},
	"module/internal/rest/request":           {"module/guard", "module/internal/httpx", "module/rest/resource"},
	"module/internal/rest/rpc":               {"module/internal/rest/xmljson"},
	"module/rest/compose":                    {"module/internal/rest/pathpattern", "module/internal/rest/rpc"},
	"module/rest/envelope":                   {"module/internal/httpx", "module/rest/envelope/leak"},
	"module/rest/envelope/leak":              {},
	"module/internal/rest/responsewriter":    {"module/internal/httpx"},
	"module/rest/job":                        {"module/internal/httpx", "module/internal/rest/workers", "module/rest/job/fileurl", "module/store"},
	"module/internal/rest/workers":           nil,
	"module/rest/job/fileurl":                nil,
	"module/rest/validate":                   {"module/internal/rest/turns"},
	"module/rest/login":                      {"module/rest/compose", "module/rest/supply"},
	"module/rest/link":                       {"module/internal/rest/pathpattern"},
	"module/rest/list":                       {"module/internal/rest/pathpattern"},
	"module/rest/supply":                     {"module/internal/rest/pathpattern"},
	"module/internal/rest/pathpattern":       nil,
	"module/internal/rest/turns":             nil,
	"module/rest/resource":                   {"module/rest/compose", "module/internal/rest/pathpattern", "module/rest/link", "module/rest/list", "module/rest/supply", "module/rest/validate", "module/internal/rest/xmljson"},
	"module/internal/rest/fieldnames":        {"module/rest/resource", "module/rest/supply", "module/rest/validate"},
	"module/internal/rest/mapping":           {"module/internal/httpx", "module/internal/rest/fieldnames", "module/internal/rest/pathpattern", "module/internal/rest/rpc", "module/internal/rest/turns", "module/internal/rest/xmljson", "module/rest/compose", "module/rest/list", "module/rest/resource", "module/rest/supply", "module/rest/validate"},
	"module/internal/rest/answer":            {"module/internal/rest/fieldnames", "module/internal/rest/headers", "module/internal/rest/pathpattern", "module/internal/rest/xmljson", "module/rest/link", "module/rest/list", "module/rest/resource"},
	"module/internal/rest/routes":            {"module/internal/rest/answer", "module/internal/rest/fieldnames", "module/internal/rest/mapping", "module/internal/rest/pathpattern", "module/internal/rest/rpc", "module/rest/resource", "module/rest/supply", "module/rest/validate"},
	"module/internal/authserver":             {"module/internal/audit", "module/internal/authserver/...", "module/internal/crossdevice", "module/internal/ending", "module/internal/token", "module/store", "module/directory", "module/oauth", "module/internal/webui", "module/internal/keyring"},
	"module/internal/authserver/grant":       {"module/internal/audit", "module/internal/authserver/refusal", "module/internal/crossdevice", "module/internal/ending", "module/internal/token", "module/store", "module/directory", "module/oauth"},
	"module/internal/authserver/variantb":    {"module/internal/audit", "module/internal/authserver/clientauth", "module/internal/authserver/grant", "module/internal/token", "module/store", "module/directory", "module/oauth"},
	"module/internal/authserver/page":        {"module/internal/authserver/oauthhttp", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/directory", "module/internal/webui", "module/oauth"},
	"module/internal/authserver/account":     {"module/internal/authserver/login", "module/internal/authserver/consent", "module/internal/authserver/grant", "module/internal/authserver/page", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/audit", "module/internal/ending", "module/internal/userrecords", "module/internal/webui", "module/oauth", "module/store"},
	"module/internal/authserver/authcode":    {"module/internal/authserver/refusal", "module/internal/ending", "module/store"},
	"module/internal/authserver/authorize":   {"module/internal/authserver/audience", "module/internal/authserver/authcode", "module/internal/authserver/consent", "module/internal/authserver/grant", "module/internal/authserver/login", "module/internal/authserver/page", "module/internal/authserver/password", "module/internal/authserver/pushed", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/audit", "module/internal/ending", "module/internal/token", "module/internal/webui", "module/oauth", "module/store"},
	"module/internal/authserver/confirm":     {"module/internal/authserver/authcode", "module/internal/authserver/consent", "module/internal/authserver/login", "module/internal/authserver/page", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/audit", "module/internal/crossdevice", "module/internal/ending", "module/internal/webui", "module/oauth", "module/store"},
	"module/internal/authserver/consent":     {"module/internal/authserver/page", "module/internal/authserver/session", "module/internal/ending", "module/oauth", "module/store"},
	"module/internal/authserver/login":       {"module/internal/authserver/page", "module/internal/authserver/password", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/audit", "module/internal/ending", "module/internal/webui", "module/oauth"},
	"module/internal/authserver/logout":      {"module/internal/authserver/page", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/authserver/userclaims", "module/internal/audit", "module/internal/token", "module/internal/webui", "module/oauth"},
	"module/internal/authserver/password":    {"module/internal/authserver/grant", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/directory", "module/internal/audit", "module/internal/ending", "module/internal/token", "module/oauth", "module/store"},
	"module/internal/authserver/qrlogin":     {"module/internal/authserver/authcode", "module/internal/authserver/authorize", "module/internal/authserver/confirm", "module/internal/authserver/login", "module/internal/authserver/page", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/internal/authserver/session", "module/internal/crossdevice", "module/internal/webui", "module/oauth", "module/store"},
	"module/internal/authserver/session":     {"module/internal/authserver/page", "module/internal/authserver/refusal", "module/directory", "module/internal/audit", "module/internal/ending", "module/internal/userrecords", "module/oauth", "module/store"},
	"module/internal/userrecords":            {"module/store"},
	"module/internal/crossdevice":            {"module/store"},
	"module/internal/ending":                 {"module/store"},
	"module/internal/authserver/refusal":     {"module/oauth"},
	"module/internal/authserver/oauthhttp":   {"module/oauth"},
	"module/internal/authserver/query":       {"module/internal/authserver/refusal", "module/oauth"},
	"module/internal/authserver/audience":    {"module/oauth"},
	"module/internal/authserver/clientauth":  {"module/internal/audit", "module/store", "module/oauth", "module/internal/clientassertion", "module/internal/jose"},
	"module/internal/userstore":              {"module/directory", "module/directory/password", "module/store"},
	"module/internal/clientstore":            {"module/oauth", "module/store", "module/internal/audit", "module/internal/clientassertion", "module/internal/ending"},
	"module/guard":                           {"module/internal/pathspelling", "module/internal/token", "module/oauth"},
	"module/internal/clientassertion":        {"module/internal/jose"},
	"module/internal/revocationlist":         {"module/internal/jose", "module/store"},
	"module/internal/keyring":                {"module/internal/jose", "module/internal/revocationlist", "module/store"},
	"module/internal/token":                  {"module/store", "module/oauth", "module/internal/jose", "module/internal/keyring", "module/internal/revocationlist"},
	"module/gatewaytest":                     {"module/internal/...", "module/store", "module/store/storetest", "module/directory", "module/oauth"},
	"module/store":                           {"module/oauth"},
	"module/store/storetest":                 {"module/store"},
	"module/directory/directorytest":         {"module/directory"},
	"plugins/store/...":                      {"module/currentlog", "module/store", "plugins/internal/..."},
	"plugins/limiter/...":                    {"module/ratelimit", "plugins/internal/..."},
	"module/ratelimit/sourcetest":            {"module/ratelimit"},
	"plugins/directory/...":                  {"module/currentlog", "module/directory", "module/directory/password", "plugins/internal/..."},
	"plugins/directory/sql/sqltest":          {"internal/testkit/certificates"},
	"plugins/internal/words":                 {"caddyfile/bytesize", "caddyfile/spelling"},
	"plugins/internal/remote":                {"plugins/internal/words"},
	"plugins/internal/redisconn":             {"module/currentlog", "plugins/internal/words", "plugins/internal/remote"},
	"deploy/bench":                           {"deploy/bench/internal/..."},
	"internal/testkit/harness":               {"internal/testkit/ports", "module"},
	"internal/testkit/redistest":             {"internal/testkit/certificates", "internal/testkit/ports"},
	"internal/testkit/console":               {"internal/testkit/harness"},
	"internal/testkit/example":               {"internal/testkit/console", "internal/testkit/harness"},
	"examples/legacy":                        {"examples/legacy/...", "examples/internal/serve"},
	"examples/quickstart/reader":             {"examples/quickstart/reader/...", "examples/internal/serve"},
	"examples/quickstart/reader/app":         {"examples/internal/browser"},
	"examples/variant-b/portal":              {"examples/variant-b/portal/...", "examples/internal/serve"},
	"examples/variant-b/portal/app":          {"examples/internal/browser"},
	"module/internal/admission":              {"module/internal/metrics"},
	"module/internal/httpx":                  nil,
	"module/internal/http1":                  nil,
	"module/internal/rest/splice":            nil,

	"module/internal/authserver/userclaims":    {"module/directory"},
	"module/internal/authserver/userinfo":      {"module/internal/authserver/oauthhttp", "module/internal/authserver/userclaims", "module/internal/token", "module/directory", "module/oauth"},
	"module/internal/authserver/revocation":    {"module/internal/audit", "module/internal/ending", "module/internal/authserver/grant", "module/internal/authserver/oauthhttp", "module/internal/authserver/refusal", "module/internal/token", "module/oauth", "module/store"},
	"module/internal/authserver/introspection": {"module/internal/ending", "module/internal/authserver/audience", "module/internal/authserver/clientauth", "module/internal/authserver/grant", "module/internal/authserver/oauthhttp", "module/internal/authserver/refusal", "module/internal/token", "module/directory", "module/oauth", "module/store"},
	"module/internal/authserver/tokenendpoint": {"module/internal/audit", "module/internal/authserver/audience", "module/internal/authserver/grant", "module/internal/authserver/oauthhttp", "module/internal/authserver/refusal", "module/internal/authserver/userclaims", "module/internal/token", "module/directory", "module/oauth"},
	"module/internal/authserver/ownpaths":      {"module/internal/pathspelling"},
	"module/internal/authserver/pushed":        {"module/internal/authserver/oauthhttp", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/oauth", "module/store"},
	"module/internal/authserver/deviceauthz":   {"module/internal/authserver/audience", "module/internal/authserver/grant", "module/internal/authserver/oauthhttp", "module/internal/authserver/page", "module/internal/authserver/query", "module/internal/authserver/refusal", "module/internal/crossdevice", "module/oauth", "module/store"},
	"module/internal/authserver/registration":  {"module/internal/audit", "module/internal/authserver/oauthhttp", "module/internal/authserver/refusal", "module/oauth", "module/internal/clientassertion"},
	"module/internal/authserver/discovery":     {"module/internal/authserver/clientauth", "module/internal/authserver/oauthhttp", "module/internal/authserver/userclaims", "module/oauth", "module/internal/clientassertion", "module/internal/keyring"},
}

// everywhere may be imported by all but the packages in pure.
var everywhere = []string{"module/internal/secret", "module/internal/httpx", "module/internal/lockout", "module/internal/fairshare"}

// pure packages import those in everywhere only where allowed says so.
var pure = []string{"module/internal/audit", "module/oauth", "module/ratelimit", "module/rest/...", "module/internal/rest/...", "module/directory", "module/internal/metrics", "examples/..."}

// confined says where a foreign package may be imported, and nowhere else.
var confined = map[string][]string{
	"github.com/caddyserver/":                {"module/currentlog", "module/gateway", "module/gateway/oauthguard", "module/gateway/apilimit", "module/gateway/apiproxy", "module/gateway/revealing", "module/internal/accesslog", "module/internal/audittrail", "module/internal/eventqueue", "module/internal/handler", "module/internal/pool", "module/internal/servers", "module/internal/cli", "module/internal/cli/adminclient", "module/internal/cli/doctor", "module/internal/cli/doctor/headers", "module/internal/cli/doctor/rest", "module/internal/cli/doctor/sites", "module/internal/cli/explain", "module/gateway/restapi", "module/internal/routes", "caddyfile", "caddyfile/internal/...", "plugins/...", "internal/testkit/harness"},
	"go.uber.org/zap":                        {"module/currentlog", "module/gateway", "module/internal/accesslog", "module/internal/audittrail", "module/internal/eventqueue", "module/gateway/restapi", "caddyfile/internal/apirest", "plugins/...", "internal/testkit/harness"},
	"github.com/golang-jwt/":                 {"module/internal/keyring", "module/internal/clientassertion"},
	"github.com/redis/":                      {"plugins/store/redis", "plugins/limiter/redis", "plugins/internal/redisconn"},
	"golang.org/x/time/":                     {"module/ratelimit"},
	"github.com/prometheus/":                 {"module/internal/metrics"},
	"github.com/santhosh-tekuri/":            {"module/rest/validate"},
	"go.etcd.io/bbolt":                       {"plugins/store/bolt"},
	"github.com/go-ldap/":                    {"plugins/directory/ldap"},
	"math/rand":                              nil, // whatever is random here must be unguessable
	"crypto/rand":                            {"module/internal/secret", "module/internal/keyring", "internal/testkit/certificates", "internal/testkit/harness", "examples/...", "deploy/bench"},
	"github.com/gatehouse/gatehouse/plugins": {"module", "plugins/..."},
}

func TestImportsFollowTheLayers(t *testing.T) {
	for dir, imports := range packages(t) {
		for _, imp := range imports {
			if ours, ok := strings.CutPrefix(imp, mod); ok && !permitted(dir, ours) {
				t.Errorf("%s imports %s, which the arrows do not allow", dir, ours)
			}
			for foreign, where := range confined {
				if strings.HasPrefix(imp, foreign) && !matches(where, dir) {
					t.Errorf("%s imports %s, which belongs in %v only", dir, imp, where)
				}
			}
		}
	}
}

func TestLayersNameExistingPackages(t *testing.T) {
	all := packages(t)
	var named []string
	for from, to := range allowed {
		named = append(append(named, from), to...)
	}
	for _, where := range confined {
		named = append(named, where...)
	}
	for _, name := range slices.Concat(named, everywhere, pure) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(dir string) bool { return matches([]string{name}, dir) }) {
			t.Errorf("the arrows name %s, which does not exist", name)
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	root := root(t)
	for dir := range packages(t) {
		if strings.HasPrefix(dir, "examples") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, dir, "doc.go")); err == nil {
			continue
		}
		pkgs, _ := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if !slices.ContainsFunc(pkgs, func(f string) bool {
			b, err := os.ReadFile(f)
			return err == nil && (strings.HasPrefix(string(b), "// Package ") || strings.Contains(string(b), "\n// Package "))
		}) {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestFileLengthIsLimited(t *testing.T) {
	root := root(t)
	for dir := range packages(t) {
		files, _ := filepath.Glob(filepath.Join(root, dir, "*.go"))
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(b), "\n"); n > 400 && !strings.HasSuffix(f, "_test.go") {
				t.Errorf("%s has %d lines, at most 400 are read with pleasure", f, n)
			}
		}
	}
}

func permitted(dir, imp string) bool {
	if slices.Contains(everywhere, imp) && !matches(pure, dir) {
		return true
	}
	for from, to := range allowed {
		if matches([]string{from}, dir) && matches(to, imp) {
			return true
		}
	}
	return false
}

func matches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		tree, ok := strings.CutSuffix(p, "/...")
		return p == dir || ok && strings.HasPrefix(dir, tree+"/")
	})
}

// packages gives the imports of the code of each package, without its tests.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	root := root(t)
	found := make(map[string][]string)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != root || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir := path.Clean(filepath.ToSlash(rel))
		if found[dir] == nil {
			found[dir] = []string{}
		}
		for _, i := range parsed.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			found[dir] = append(found[dir], p)
		}
		return nil
	})
	if err != nil || len(found) < 10 {
		t.Fatalf("read %d packages: %v", len(found), err)
	}
	return found
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	return dir
}
