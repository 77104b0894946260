package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
)

func keysCommands() *cobra.Command {
	rotate := adminCommand("rotate", "Makes the next signing key", `
Makes the next signing key of each algorithm in use, or of the one that --alg names. It is
published at once and begins to sign some minutes later, when every relying party has had
time to see it; the key before goes on to verify until the last token it signed has expired.
A key that has leaked is not rotated but revoked.`, nothing, func(r *run) error {
		return r.callAndPrintKeys("POST", adminapi.Path("keys", "rotate"), map[string]string{"alg": r.text("alg")})
	})
	rotate.Flags().String("alg", "", "ES256, RS256 or EdDSA (default: each in use)")
	return groupCommand("keys", "Signing keys", rotate,
		adminCommand("list", "Lists the signing keys", "Lists the signing keys, never their private half.", nothing, func(r *run) error {
			return r.callAndPrintKeys("GET", adminapi.Path("keys"), nil)
		}),
		adminCommand("revoke KID", "Revokes a leaked signing key", `
Revokes a signing key: every token it signed dies within a second, on every node, and
another key signs at once.`, exactly("KID"), func(r *run) error {
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
