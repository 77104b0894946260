package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

func keysCommands() *cobra.Command {
	rotate := adminCommand("rotate", "Generates the next signing key", `
Generates the next signing key for each algorithm in use, or for the one given by --alg. It is
published at once and signs some minutes later, once every relying party has had time to fetch
it. The previous key is published until the last token it signed has expired. If a key has
leaked, revoke it instead.`, nothing, func(r *run) error {
		return r.callAndPrintKeys("POST", adminapi.Path("keys", "rotate"), map[string]string{"alg": r.text("alg")})
	})
	rotate.Flags().String("alg", "", "ES256, RS256 or EdDSA (default: each in use)")
	return groupCommand("keys", "Signing keys", rotate,
		adminCommand("list", "Lists the signing keys", "Lists the signing keys, without their private parts.", nothing, func(r *run) error {
			return r.callAndPrintKeys("GET", adminapi.Path("keys"), nil)
		}),
		adminCommand("revoke KID", "Revokes a leaked signing key", `
Revokes a signing key: every node rejects all tokens it signed within a second, and another key
signs from then on.`, exactly("KID"), func(r *run) error {
			return r.deleteAt(adminapi.Path("keys", r.args[0]), "Revoked key "+r.args[0]+".")
		}),
	)
}

func (r *run) callAndPrintKeys(method, path string, in any) error {
	var got adminapi.List[keyring.SigningKey]
	if err := r.call(method, path, in, &got); err != nil {
		return err
	}
	return r.print(got.Items, func(w io.Writer) {
		table(w, got.Items, "There is no signing key yet; the first one is made with the first token.",
			[]string{"KID", "ALG", "STATE", "CREATED", "SIGNS FROM", "RETIRES"}, func(k keyring.SigningKey) []string {
				return []string{k.Kid, k.Alg, string(k.State), adminapi.Day(k.Created), adminapi.Day(k.SignsFrom), adminapi.Day(k.Retires)}
			})
	})
}
