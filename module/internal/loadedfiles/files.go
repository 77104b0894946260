// Package loadedfiles remembers the files that a configuration was loaded from. Caddy skips a configuration whose JSON is
// unchanged, so that a credential that was removed from such a file stays valid after a reload; the doctor says so.
package loadedfiles

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// Files has the digest of each file by its path; "" if it could not be read.
type Files map[string]string

// placeholder matches Caddy's placeholders for the content of a file.
var placeholder = regexp.MustCompile(`\{file\.([^{}]+)\}`)

// Add remembers a file as it is now. It is to be called before the configuration reads it: a change in between is
// then reported, not missed.
func (f Files) Add(path string) { f[path] = digest(path) }

// AddPlaceholders adds the file of each placeholder `{file.PATH}` in the texts of a configuration.
func (f Files) AddPlaceholders(configuration any) error {
	raw, err := json.Marshal(configuration)
	if err != nil {
		return err
	}
	var parsed any
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return err
	}
	f.addTexts(parsed)
	return nil
}

func (f Files) addTexts(value any) {
	switch v := value.(type) {
	case string:
		for _, found := range placeholder.FindAllStringSubmatch(v, -1) {
			f.Add(found[1])
		}
	case []any:
		for _, one := range v {
			f.addTexts(one)
		}
	case map[string]any:
		for _, one := range v {
			f.addTexts(one)
		}
	}
}

// Changed returns the paths of the files that have another content now, or none, in order.
func (f Files) Changed() (paths []string) {
	for path, was := range f {
		if digest(path) != was {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// maxRead is how much of a file counts: Caddy reads no more for a placeholder, and a JWK set is shorter.
const maxRead = 1 << 20

// digest reads regular files only: a pipe gives its content once, and would block.
func digest(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return ""
	}
	return secret.Digest(string(content))
}
