package quota

import (
	"encoding/base64"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Account is whose units are counted together, and how many there may be.
type Account struct {
	owner string
	most  int
}

// shares is how many callers it takes to use up what they have in common.
const shares = 10

// Accounts returns in which accounts the units of a caller are counted: that of the client, which has most units, and
// before it that of the share, which has a tenth of them. A share is one of a client's users, or the network of a caller without
// a token, "" if the client has no shares. use says what is counted.
func Accounts(use, client, share string, most int) []Account {
	common := Account{name(use+" owner", []byte(client)), most}
	if share == "" {
		return []Account{common}
	}
	return []Account{{name(use+" share", []byte(client), []byte(share)), max(1, most/shares)}, common}
}

func name(use string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(secret.Sum("gatehouse "+use, parts...))
}
