package webui

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

//go:embed templates translations scripts
var embedded embed.FS

// pageNames are the pages, each with its own file.
var pageNames = []string{"login", "consent", "logout", "account", "qr", "confirm", "entercode", "home", "error"}

// files is the operator's directory, which overrides the built-in files.
type files struct {
	builtin  fs.FS
	override fs.FS           // nil for none
	names    map[string]bool // in override
	dir      string
}

func openFiles(dir string) (files, error) {
	f := files{builtin: flat{}, dir: dir}
	if dir == "" {
		return f, nil
	}
	f.override, f.names = os.DirFS(dir), make(map[string]bool)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, fmt.Errorf("webui: templates: %w", err)
	}
	for _, e := range entries {
		f.names[e.Name()] = true
		page, isHTML := strings.CutSuffix(e.Name(), ".html")
		if isHTML && page != "layout" && !slices.Contains(pageNames, page) {
			return f, fmt.Errorf("webui: %s: no page has this name; there are layout, %s",
				filepath.Join(dir, e.Name()), strings.Join(pageNames, ", "))
		}
	}
	return f, nil
}

// flat gives access to the embedded files without their folders.
type flat struct{}

func (flat) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".json") {
		return embedded.Open("translations/" + name)
	}
	return embedded.Open("templates/" + name)
}

// isOverridden reports whether the directory has an entry of this name. An entry that cannot be read, such as a dangling
// link, fails the load instead of bringing the built-in file back.
func (f files) isOverridden(name string) bool { return f.names[name] }

// displayPath is the name of the file in errors.
func (f files) displayPath(name string) string {
	if f.isOverridden(name) {
		return filepath.Join(f.dir, name)
	}
	return name
}

// errorSource says, for an error, where the files come from.
func (f files) errorSource() string {
	if f.override == nil {
		return ""
	}
	return " with the templates of " + f.dir
}

func (f files) readText(name string) (string, error) {
	from := f.builtin
	if f.isOverridden(name) {
		from = f.override
	}
	b, err := readFile(from, name)
	if err != nil {
		return "", fmt.Errorf("webui: %s: %w", f.displayPath(name), err)
	}
	return string(b), nil
}

// readFile reads a regular file. Opening a named pipe would wait for its writer, and a device may have no end.
func readFile(from fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(from, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return fs.ReadFile(from, name)
}

// builtinTemplates are the built-in pages. They depend on no configuration, so all instances share them: parsing,
// escaping and testing them takes far longer than anything else that loading a configuration does for the pages.
var builtinTemplates = sync.OnceValues(func() (map[string]*template.Template, error) {
	builtin := files{builtin: flat{}}
	p := &Pages{}
	err := p.config.setDefaults()
	if err == nil {
		err = p.loadStyle(builtin)
	}
	if err == nil {
		err = p.loadTexts(builtin)
	}
	if err != nil {
		return nil, err
	}
	if p.sets, err = builtin.parseTemplates(); err != nil {
		return nil, err
	}
	return p.sets, p.tryPages(builtin)
})

// loadTemplates loads the pages and renders each in every state and language.
func (p *Pages) loadTemplates(files files) (err error) {
	if files.override == nil {
		p.sets, err = builtinTemplates()
		return err
	}
	if p.sets, err = files.parseTemplates(); err != nil {
		return err
	}
	return p.tryPages(files)
}

// parseTemplates parses the pages.
func (f files) parseTemplates() (map[string]*template.Template, error) {
	sets := make(map[string]*template.Template, len(pageNames))
	for _, page := range pageNames {
		set := template.New("")
		for _, name := range []string{"layout.html", page + ".html"} {
			text, err := f.readText(name)
			if err != nil {
				return nil, err
			}
			// The error has the name and the line: "template: login.html:3: ...".
			if _, err := set.New(name).Parse(text); err != nil {
				return nil, fmt.Errorf("webui: %s: %w", f.displayPath(name), err)
			}
		}
		for _, part := range []string{"title", "main"} {
			if set.Lookup(part) == nil {
				return nil, fmt.Errorf("webui: %s:1: does not define %q", f.displayPath(page+".html"), part)
			}
		}
		sets[page] = set
	}
	return sets, nil
}
