package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
)

func clientCommands() *cobra.Command {
	create := adminCommand("create [ID]", "Makes a client and shows its secret once", `
Makes a client, kept in the store, and prints its client_id and secret. The secret is made
here, stored as a hash, and cannot be shown again; a public client and one with --jwks has
none. Without ID one is made.

	$ caddy gatehouse client create reader --redirect-uri https://reader.example/callback --scope articles:read`,
		atMostID, createClientCommand)
	definitionFlags(create)
	rotate := adminCommand("rotate-secret ID", "Gives a client another secret and shows it once", `
Makes another secret and prints it. The one before goes on to work for the overlap, so that
it can be replaced wherever it is used; --overlap 0 ends it at once.`, exactly("ID"), func(r *run, admin *adminClient) error {
		var got adminapi.ClientWithSecret
		in := map[string]string{"overlap": r.text("overlap")}
		if err := admin.call(r.context(), "POST", adminapi.Path("clients", r.args[0], "rotate-secret"), in, &got); err != nil {
			return err
		}
		return r.print(got, func(w io.Writer) { newClientText(w, got) })
	})
	rotate.Flags().String("overlap", "24h", "How long the secret before goes on to work, at most 90d")
	return groupCommand("client", "Applications that may ask for tokens", create, rotate,
		adminCommand("list", "Lists the clients", `
Lists the clients of the configuration (source config) and those kept in the store.`, nothing, func(r *run, admin *adminClient) error {
			all, err := every[adminapi.Client](r, admin, adminapi.Path("clients"))
			if err != nil {
				return err
			}
			return r.print(all, func(w io.Writer) {
				row(w, "ID", "SOURCE", "KIND", "GRANTS", "SCOPES", "NAME")
				for _, c := range all {
					row(w, c.ID, c.Source, kind(c), strings.Join(c.Grants, ","), strings.Join(c.Scopes, ","), c.Name)
				}
			})
		}),
		adminCommand("show ID", "Shows a client", "Shows all that is known about a client. Nobody can show its secret.", exactly("ID"),
			func(r *run, admin *adminClient) error {
				var got adminapi.Client
				if err := admin.call(r.context(), "GET", adminapi.Path("clients", r.args[0]), nil, &got); err != nil {
					return err
				}
				return r.print(got, func(w io.Writer) { clientText(w, got) })
			}),
		adminCommand("delete ID", "Removes a client", `
Removes a client from the store. Its tokens die within a second, on every node; its refresh
tokens and codes are void. Clients of the configuration are removed there.`, exactly("ID"), func(r *run, admin *adminClient) error {
			if err := admin.call(r.context(), "DELETE", adminapi.Path("clients", r.args[0]), nil, nil); err != nil {
				return err
			}
			return r.done("Removed client " + r.args[0] + ".")
		}),
	)
}

func definitionFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("name", "", "What people are shown (default: the ID)")
	f.String("owner", "", "Who answers for the client, for your lists; with --variant-b the clients of one owner share the unionid")
	f.Bool("public", false, "A client that cannot keep a secret; it must use PKCE")
	f.Bool("native", false, "A program on the user's device (RFC 8252)")
	f.Bool("trusted", false, "One's own application: no consent page")
	f.Bool("introspect", false, "May introspect access tokens for its audience")
	f.Bool("introspect-by-status", false, "With --introspect: the answer is an HTTP status, for nginx auth_request")
	f.StringArray("redirect-uri", nil, "Where codes may be sent, compared exactly; may be repeated")
	f.StringArray("post-logout-redirect-uri", nil, "Where a browser may be sent after a sign-out; may be repeated")
	f.StringArray("origin", nil, "Another browser origin that may call the token endpoint; may be repeated")
	f.StringSlice("grant", nil, "Grant types, device_code among them (default: authorization_code,refresh_token with a redirect URI, else client_credentials)")
	f.StringToString("deprecated-grant", nil, "password or implicit, and the day on which it ends, as password=2027-06-30")
	f.StringSlice("scope", nil, "Scopes it may ask for")
	f.StringSlice("default-scope", nil, "Scopes it gets when it asks for none")
	f.StringArray("audience", nil, "Audience of its tokens (default: that of the gateway); may be repeated")
	f.String("auth-method", "", "client_secret_basic, client_secret_post or private_key_jwt (default: any)")
	f.String("jwks", "", "File with the client's public keys as a JWK set, for private_key_jwt")
	f.String("id-token-alg", "", "RS256, ES256 or EdDSA")
	f.StringSlice("id-token-claims", nil, "Scopes whose claims the id_token holds too: profile, email, phone, address")
	f.String("userinfo-content-type", "", "application/json or application/jwt; with --variant-b auto, json or text")
	f.String("require-state", "", "always or unless_pkce_or_nonce; with --variant-b also never (default: that of the gateway)")
	f.Bool("variant-b", false, "Speaks Variant B, for sites with a library for WeChat, and no OAuth")
	f.StringArray("frame-origin", nil, "An origin whose pages may show the code to scan in a frame; may be repeated")
}

func createClientCommand(r *run, admin *adminClient) error {
	d := clientstore.Definition{
		Name: r.text("name"), Owner: r.text("owner"), AuthMethod: r.text("auth-method"),
		Public: r.yes("public"), Native: r.yes("native"), Trusted: r.yes("trusted"), Introspect: r.yes("introspect"),
		IntrospectByStatus: r.yes("introspect-by-status"),
		RedirectURIs:       r.texts("redirect-uri"), PostLogoutRedirectURIs: r.texts("post-logout-redirect-uri"),
		Origins: r.texts("origin"), Grants: r.words("grant"), Scopes: r.words("scope"), DefaultScopes: r.words("default-scope"),
		Audience: r.texts("audience"), IDTokenAlg: r.text("id-token-alg"), IDTokenClaims: r.words("id-token-claims"), UserinfoContentType: r.text("userinfo-content-type"),
		RequireState: r.text("require-state"), VariantB: r.yes("variant-b"), FrameOrigins: r.texts("frame-origin"),
	}
	d.DeprecatedGrants, _ = r.cmd.Flags().GetStringToString("deprecated-grant")
	if len(r.args) == 1 {
		d.ID = r.args[0]
	}
	if file := r.text("jwks"); file != "" {
		var err error
		if d.JWKS, err = gateway.ReadJWKS(file); err != nil {
			return fmt.Errorf("--jwks %s: %w", file, err)
		}
	}
	var got adminapi.ClientWithSecret
	if err := admin.call(r.context(), "POST", adminapi.Path("clients"), d, &got); err != nil {
		return err
	}
	return r.print(got, func(w io.Writer) { newClientText(w, got) })
}

func newClientText(w io.Writer, c adminapi.ClientWithSecret) {
	row(w, "client_id:", c.ID)
	if c.Secret != "" {
		row(w, "client_secret:", c.Secret)
		row(w, "", "It is shown this once and stored as a hash.")
	}
	if n := len(c.Secrets); n > 1 {
		row(w, "", "The secret before works until "+adminapi.Day(c.Secrets[n-2].Until)+".")
	}
}

func clientText(w io.Writer, c adminapi.Client) {
	for _, line := range [][2]string{
		{"ID", c.ID}, {"Source", c.Source}, {"Name", c.Name}, {"Owner", c.Owner}, {"Kind", kind(c)}, {"Auth method", c.AuthMethod},
		{"Redirect URIs", strings.Join(c.RedirectURIs, " ")}, {"Post-logout URIs", strings.Join(c.PostLogoutRedirectURIs, " ")},
		{"Origins", strings.Join(c.Origins, " ")}, {"Grants", strings.Join(c.Grants, " ")}, {"Deprecated grants", deprecated(c)},
		{"Scopes", strings.Join(c.Scopes, " ")}, {"Default scopes", strings.Join(c.DefaultScopes, " ")},
		{"Audience", strings.Join(c.Audience, " ")}, {"ID token", c.IDTokenAlg}, {"ID token claims", strings.Join(c.IDTokenClaims, " ")}, {"Userinfo", c.UserinfoContentType},
		{"Require state", c.RequireState},
		{"Frame origins", strings.Join(c.FrameOrigins, " ")},
		{"Created", adminapi.Day(c.Created)}, {"Unused until", adminapi.Day(c.UnusedUntil)},
	} {
		if line[1] != "" {
			row(w, line[0]+":", line[1])
		}
	}
	for _, s := range c.Secrets {
		until := ""
		if !s.Until.IsZero() {
			until = ", until " + adminapi.Day(s.Until)
		}
		row(w, "Secret:", "since "+adminapi.Day(s.Created)+until)
	}
}

func kind(c adminapi.Client) string {
	words := []string{"confidential"}
	if c.Public {
		words[0] = "public"
	}
	for _, more := range []struct {
		word string
		is   bool
	}{{"native", c.Native}, {"trusted", c.Trusted}, {"introspect", c.Introspect}, {"introspect-by-status", c.IntrospectByStatus}, {"variant-b", c.VariantB}, {"self-registered", c.SelfRegistered}} {
		if more.is {
			words = append(words, more.word)
		}
	}
	return strings.Join(words, ",")
}

func deprecated(c adminapi.Client) string {
	var all []string
	for g, end := range c.DeprecatedGrants {
		all = append(all, g+" until "+end)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
