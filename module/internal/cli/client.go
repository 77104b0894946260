package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func clientCommands() *cobra.Command {
	rotate := adminCommand("rotate-secret ID", "Gives a client a new secret and shows it once", `
Generates a new secret and prints it. The previous one keeps working for the overlap, so that
there is time to replace it wherever it is used; --overlap 0 ends it at once. A client has at
most four secrets: a fifth ends the oldest, even within its overlap.`, exactly("ID"), func(r *run) error {
		return callAndPrint(r, "POST", adminapi.Path("clients", r.args[0], "rotate-secret"), map[string]string{"overlap": r.text("overlap")}, newClientText)
	})
	rotate.Flags().String("overlap", "24h", "How long the previous secret keeps working, at most 90d")
	return groupCommand("client", "Applications that may request tokens", createClientCommand(), rotate,
		adminCommand("list", "Lists the clients", `
Lists the clients in the configuration (source config) and those in the store.`, nothing, func(r *run) error {
			return listAt(r, adminapi.Path("clients"), "", []string{"ID", "SOURCE", "KIND", "GRANTS", "SCOPES", "NAME"}, func(c adminapi.Client) []string {
				return []string{c.ID, c.Source, kind(c), joinGrants(c, ","), strings.Join(c.Scopes, ","), c.Name}
			})
		}),
		adminCommand("show ID", "Shows a client", "Shows everything about a client except its secret, which nobody can show.", exactly("ID"),
			func(r *run) error {
				return callAndPrint(r, "GET", adminapi.Path("clients", r.args[0]), nil, clientText)
			}),
		adminCommand("delete ID", "Deletes a client", `
Deletes a client from the store. Every node rejects its access tokens within a second, and its
refresh tokens and codes no longer work. To delete a client of the configuration, remove it there.`, exactly("ID"), func(r *run) error {
			return r.deleteAt(adminapi.Path("clients", r.args[0]), "Removed client "+r.args[0]+".")
		}),
	)
}

// definitionFlags declares the flags of a client's settings, which fill in d, and returns what
// fills in those that need to be converted.
func definitionFlags(f *pflag.FlagSet, d *clientstore.Definition) (convert func() error) {
	f.StringVar(&d.Name, "name", "", "Name shown to people (default: the ID)")
	f.StringVar(&d.Owner, "owner", "", "Who is responsible for the client, for your records; with --variant-b the clients of one owner share the unionid")
	f.BoolVar(&d.Public, "public", false, "A client that cannot keep a secret; it must use PKCE")
	f.BoolVar(&d.Native, "native", false, "A program on the user's device (RFC 8252)")
	f.BoolVar(&d.Trusted, "trusted", false, "First-party application: no consent page")
	f.BoolVar(&d.Introspect, "introspect", false, "May introspect access tokens for its audience")
	f.BoolVar(&d.IntrospectByStatus, "introspect-by-status", false, "With --introspect: respond with an HTTP status, for nginx auth_request")
	f.StringArrayVar(&d.RedirectURIs, "redirect-uri", nil, "Redirect URI, compared exactly; may be repeated")
	f.StringArrayVar(&d.PostLogoutRedirectURIs, "post-logout-redirect-uri", nil, "Where browsers may be sent after signing out; may be repeated")
	f.StringArrayVar(&d.Origins, "origin", nil, "Additional browser origin that may call the token endpoint; may be repeated")
	grants := f.StringSlice("grant", nil, "Grant types, device_code among them (default: authorization_code,refresh_token with a redirect URI, else client_credentials)")
	f.StringToStringVar(&d.DeprecatedGrants, "deprecated-grant", nil, "password or implicit, with the day on which it ends, such as password=2027-06-30")
	f.StringSliceVar(&d.Scopes, "scope", nil, "Scopes it may request")
	f.StringSliceVar(&d.DefaultScopes, "default-scope", nil, "Scopes it gets when it requests none")
	f.StringArrayVar(&d.Audience, "audience", nil, "Audience of its tokens (default: the gateway's); may be repeated")
	f.StringVar(&d.AuthMethod, "auth-method", "", "client_secret_basic, client_secret_post or private_key_jwt (default: any)")
	keys := f.String("jwks", "", "File with the client's public keys as a JWK set, for private_key_jwt")
	f.StringVar(&d.IDTokenAlg, "id-token-alg", "", "RS256, ES256 or EdDSA")
	f.StringSliceVar(&d.IDTokenClaims, "id-token-claims", nil, "Scopes whose claims are also in the id_token: profile, email, phone, address")
	f.StringVar(&d.UserinfoContentType, "userinfo-content-type", "", "application/json or application/jwt; with --variant-b auto, json or text")
	f.StringVar((*string)(&d.RequireState), "require-state", "", "always or unless_pkce_or_nonce; with --variant-b also never (default: that of the gateway)")
	f.BoolVar(&d.VariantB, "variant-b", false, "Speaks Variant B instead of OAuth, for sites with a WeChat library")
	f.StringArrayVar(&d.FrameOrigins, "frame-origin", nil, "Origin whose pages may frame the QR code; may be repeated")
	return func() (err error) {
		for _, g := range *grants {
			d.Grants = append(d.Grants, oauth.GrantType(g))
		}
		if *keys != "" {
			if d.JWKS, err = clientassertion.ReadKeys(*keys); err != nil {
				return fmt.Errorf("--jwks %s: %w", *keys, err)
			}
		}
		return nil
	}
}

func createClientCommand() *cobra.Command {
	var d clientstore.Definition
	var convert func() error
	create := adminCommand("create [ID]", "Creates a client and shows its secret once", `
Creates a client in the store and prints its client_id and secret. The secret is generated,
stored as a hash, and cannot be shown again. Public clients and clients with --jwks have none.
Without ID, one is generated.

	$ caddy gatehouse client create reader --redirect-uri https://reader.example/callback --scope articles:read`,
		atMostID, func(r *run) error {
			if err := convert(); err != nil {
				return err
			}
			if len(r.args) == 1 {
				d.ID = r.args[0]
			}
			return callAndPrint(r, "POST", adminapi.Path("clients"), d, newClientText)
		})
	convert = definitionFlags(create.Flags(), &d)
	return create
}

func newClientText(w io.Writer, c adminapi.ClientWithSecret) {
	row(w, "client_id:", c.ID)
	if c.Secret != "" {
		row(w, "client_secret:", c.Secret)
		row(w, "", "It is shown only this once, and stored as a hash.")
	}
	if n := len(c.Secrets); n > 1 {
		row(w, "", "The previous secret works until "+adminapi.Day(c.Secrets[n-2].Until)+".")
	}
}

func clientText(w io.Writer, c adminapi.Client) {
	rows(w, [][2]string{
		{"ID", c.ID}, {"Source", c.Source}, {"Name", c.Name}, {"Owner", c.Owner}, {"Kind", kind(c)}, {"Auth method", c.AuthMethod},
		{"Redirect URIs", strings.Join(c.RedirectURIs, " ")}, {"Post-logout URIs", strings.Join(c.PostLogoutRedirectURIs, " ")},
		{"Origins", strings.Join(c.Origins, " ")}, {"Grants", joinGrants(c, " ")}, {"Deprecated grants", deprecated(c)},
		{"Scopes", strings.Join(c.Scopes, " ")}, {"Default scopes", strings.Join(c.DefaultScopes, " ")},
		{"Audience", strings.Join(c.Audience, " ")}, {"ID token", c.IDTokenAlg}, {"ID token claims", strings.Join(c.IDTokenClaims, " ")}, {"Userinfo", c.UserinfoContentType},
		{"Require state", string(c.RequireState)}, {"Frame origins", strings.Join(c.FrameOrigins, " ")},
		{"Created", adminapi.Day(c.Created)}, {"Unused until", adminapi.Day(c.UnusedUntil)},
	})
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

func joinGrants(c adminapi.Client, separator string) string {
	var names []string
	for _, g := range c.Grants {
		names = append(names, string(g))
	}
	return strings.Join(names, separator)
}

func deprecated(c adminapi.Client) string {
	var all []string
	for g, end := range c.DeprecatedGrants {
		all = append(all, g+" until "+end)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
