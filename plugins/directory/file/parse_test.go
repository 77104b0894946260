package file

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestUserFileErrorsNameLineAndUserWithoutHash(t *testing.T) {
	hash := cheap.dummy()
	tag := hash[strings.LastIndex(hash, "$")+1:]
	ann := fmt.Sprintf(`{"id": "1", "username": "ann", "password_hash": %q}`, hash)
	with := func(more string) string {
		return "{\"users\": [\n" + strings.TrimSuffix(ann, "}") + ", " + more + "}\n]}"
	}
	second := func(id, username string) string {
		return "{\"users\": [\n" + ann + ",\n" + fmt.Sprintf(`{"id": %q, "username": %q, "password_hash": %q}`, id, username, hash) + "\n]}"
	}
	hashed := func(h string) string {
		return fmt.Sprintf("{\"users\": [\n{\"id\": \"1\", \"username\": \"ann\", \"password_hash\": %q}\n]}", h)
	}
	cases := map[string]struct{ text, want string }{
		"an empty file":              {"", ":1: no valid JSON: the file ends too early"},
		"white space only":           {"\n\n", ": no valid JSON: the file ends too early"},
		"no JSON":                    {"users: []", ":1: no valid JSON: invalid character"},
		"a list":                     {"[]", `:1: expected an object, "{"`},
		"no users":                   {"{}", ":1: the field `users` is missing"},
		"another field":              {`{"users": [], "groups": []}`, ":1: unknown field \"groups\", expected `users`"},
		"another letter case":        {`{"Users": []}`, ":1: unknown field \"Users\""},
		"users given twice":          {`{"users": [], "users": []}`, `:1: the field "users" is given twice`},
		"users that are an object":   {`{"users": {}}`, ":1: expected a list of users"},
		"users that are null":        {`{"users": null}`, ":1: expected a list of users"},
		"something after the end":    {"{\"users\": []}\n{}", ":2: something follows the closing brace"},
		"a user that is a string":    {"{\"users\": [\n\"ann\"]}", ":2: users[0]: expected an object"},
		"cut in the middle":          {with("")[:60], ": users[0]"},
		"cut before the end":         {strings.TrimSuffix(with(`"name": "Ann"`), "}"), "no valid JSON: the file ends too early"},
		"a comma too many":           {with(""), `:2: users[0] "ann": no valid JSON: invalid character '}'`},
		"no UTF-8":                   {"{\"users\": [\n\"\xff\"]}", ":2: is not UTF-8"},
		"an unknown field":           {with(`"admin": true`), `:2: users[0] "ann": unknown field "admin"`},
		"a field in capitals":        {with(`"Locked": true`), `:2: users[0] "ann": unknown field "Locked"`},
		"a field twice":              {with(`"locked": true, "locked": false`), `:2: users[0] "ann": the field "locked" is given twice`},
		"a number for a text":        {with(`"name": 7`), `:2: users[0] "ann": field "name": must be a string`},
		"null":                       {with(`"locked": null`), `:2: users[0] "ann": field "locked": must be true or false`},
		"a text for a truth":         {with(`"locked": "yes"`), `field "locked": must be true or false`},
		"a list for claims":          {with(`"claims": []`), `field "claims": must be an object`},
		"no https picture":           {with(`"picture": "javascript:alert(1)"`), "the picture must be an https URL"},
		"a picture without a host":   {with(`"picture": "https:///x"`), "the picture must be an https URL"},
		"a line break in a text":     {with(`"name": "Ann\r\nX-Auth-Subject: root"`), "a text has a control character in it"},
		"no id":                      {`{"users":[{"username":"ann"}]}`, `:1: users[0] "ann": the id is missing`},
		"an empty id":                {second("", "bob"), `:3: users[1] "bob": the id is missing`},
		"an id of a client (K01)":    {second("client:nightly", "bob"), `:3: users[1] "bob": the id begins with "client:"`},
		"an id with a space":         {second("u 1", "bob"), "printable ASCII"},
		"an id with a line break":    {second("u\n1", "bob"), "printable ASCII"},
		"an id beyond ASCII":         {second("\u00e9", "bob"), "printable ASCII"},
		"an id too long":             {second(strings.Repeat("x", 256), "bob"), "at most 255"},
		"an id twice":                {second("1", "bob"), `:3: users[1] "bob": the id "1" is another user's already`},
		"no username":                {second("2", ""), ":3: users[1]: the username is missing"},
		"a username twice":           {second("2", "ann"), `:3: users[1] "ann": the username is another user's already`},
		"a username in another case": {second("2", "ANN"), `:3: users[1] "ANN": the username differs from "ann" in letter case only`},
		"a username too long":        {second("2", strings.Repeat("x", 257)), ":3: users[1] (not shown): the username is longer than 256 bytes"},
		"a username with a space":    {second("2", "bob "), "begins or ends with a space"},
		"a username with a tab":      {second("2", "bo\tb"), "control character"},
		"no hash":                    {hashed(""), `:2: users[0] "ann": the password_hash is missing`},
		"a password for a hash":      {hashed("hunter2"), "is not a password hash of a known form"},
		"a bcrypt hash cut short":    {hashed("$2a$14$" + tag), "is no bcrypt hash"},
		"another argon2":             {hashed(strings.Replace(hash, "argon2id", "argon2d", 1)), "is no Argon2 hash"},
		"another version":            {hashed(strings.Replace(hash, "v=19", "v=16", 1)), "is no Argon2 hash"},
		"no rounds":                  {hashed(strings.Replace(hash, "t=2", "t=0", 1)), "is no Argon2 hash"},
		"no threads":                 {hashed(strings.Replace(hash, "p=1", "p=0", 1)), "is no Argon2 hash"},
		"too many threads":           {hashed(strings.Replace(hash, "p=1", "p=256", 1)), "p above 255"},
		"too little memory":          {hashed(strings.Replace(hash, "m=4096", "m=7", 1)), "m below 8 times p"},
		"too much memory":            {hashed(strings.Replace(hash, "m=4096", "m=1048577", 1)), "at most m=1048576"},
		"memory beyond 32 bits":      {hashed(strings.Replace(hash, "m=4096", "m=4294967297", 1)), "is no Argon2 hash"},
		"too many rounds":            {hashed(strings.Replace(hash, "t=2", "t=65", 1)), "t=64"},
		"a short tag":                {hashed(strings.TrimSuffix(hash, tag) + "AAAA"), "needs a salt of 8"},
		"an impossible tag":          {hashed(strings.TrimSuffix(hash, tag) + "AAAAA"), "not in base64"},
		"a hash for a field":         {with(fmt.Sprintf("%q: true", hash)), `users[0] "ann": unknown field (not shown)`},
		"a hash for a username":      {second("1", hash), "users[1] (not shown): the id"},
		"a line break after it":      {hashed(hash + "\n"), "is no Argon2 hash"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := parseUsers("dir/users.json", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "dir/users.json:") {
				t.Fatalf("error %v, want it to begin with the file and to contain %s", err, c.want)
			}
			for _, hidden := range []string{tag, "hunter2", "root"} {
				if strings.Contains(err.Error(), hidden) {
					t.Errorf("the error quotes a value: %v", err)
				}
			}
		})
	}
}

func TestByteOrderMarkAndEmptyListAreAccepted(t *testing.T) {
	all, err := parseUsers("users.json", []byte("\xef\xbb\xbf{\"users\": []}\r\n"))
	if err != nil || len(all.byID) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
}

func TestInvalidUserFilesAreRefused(t *testing.T) {
	big := written(t, "")
	if err := os.Truncate(big, defaultMaxSize+1); err != nil {
		t.Fatal(err)
	}
	full := written(t, `{"users": []}`+strings.Repeat(" ", defaultMaxSize-len(`{"users": []}`)))
	for path, want := range map[string]string{big: "larger than max_size, 32MiB", t.TempDir(): "not a regular file", big + ".not": `no such file or directory: create it, with at least {"users":[]}`} {
		if _, err := readContents(path, defaultMaxSize); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("read = %v, want the path and %q", err, want)
		}
	}
	if f, err := readContents(full, defaultMaxSize); err != nil || len(f.data) != defaultMaxSize {
		t.Errorf("a file of the greatest size: %d bytes, %v", len(f.data), err)
	}
}

func FuzzParseNeverPanicsOrLeaksAHash(f *testing.F) {
	hash := cheap.dummy()
	f.Add([]byte(fmt.Sprintf(`{"users":[{"id":"1","username":"ann","password_hash":%q,"locked":true,"claims":{"a":[1]}}]}`, hash)))
	f.Add([]byte(`{"users":[{]}`))
	tag := hash[strings.LastIndex(hash, "$"):]
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseUsers("users.json", data)
		if (all == nil) == (err == nil) {
			t.Fatalf("%v, %v", all, err)
		}
		if err != nil && strings.Contains(err.Error(), tag) {
			t.Fatal(err)
		}
	})
}
