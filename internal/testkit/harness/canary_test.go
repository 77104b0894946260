package harness

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

func TestCanaryIsFoundInAnyEncoding(t *testing.T) {
	const value = "S3cr3t/with+signs&more"
	c := new(Canaries)
	c.Plant(t, "it", value)
	for name, text := range map[string]string{
		"plain": value, "in a query": "x=" + url.QueryEscape(value), "escaped twice": url.QueryEscape(url.QueryEscape(value)),
		"hex":                  hex.EncodeToString([]byte(value)),
		"Basic":                base64.StdEncoding.EncodeToString([]byte("web:" + value)),
		"Basic, other name":    base64.StdEncoding.EncodeToString([]byte("webs:" + value)),
		"base64 in the middle": base64.URLEncoding.EncodeToString([]byte("abcde" + value + "xyz")),
	} {
		if len(c.Find("before "+text+" after")) == 0 {
			t.Errorf("%s: not found in %s", name, text)
		}
	}
	if found := c.Find("something else S3cr3t"); len(found) != 0 {
		t.Errorf("%v", found)
	}
	if found := c.Find(value, "it"); len(found) != 0 {
		t.Errorf("an exception: %v", found)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, n := c.FindFiles(t, dir, nil); len(found) == 0 || n != 1 {
		t.Errorf("%v in %d files", found, n)
	}
	if found, n := c.FindFiles(t, dir, map[string][]string{"a": nil}); len(found) != 0 || n != 0 {
		t.Errorf("%v in %d files", found, n)
	}
}
