package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// projects are the files by which a repository shows its tools.
var projects = []struct {
	file, tool, command string
	// writes is the directory that the tool writes to, empty for none.
	writes string
}{
	{"Makefile", "make", "make", "."},
	{"package.json", "npm", "npm test", "."},
	{"go.mod", "go", "go test ./...", ""},
	{"Cargo.toml", "cargo", "cargo test", "target"},
	{"pyproject.toml", "pytest", "python3 -m pytest", ""},
}

// found proposes a tool for each project file in a directory, and names the files.
func found(dir string) (text string, files []string) {
	var b strings.Builder
	for _, p := range projects {
		if info, err := os.Stat(filepath.Join(dir, p.file)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		files = append(files, p.file)
		fmt.Fprintf(&b, "\n# For %s: accessc exec %s. What it writes and downloads may need more rules.\n", p.file, p.tool)
		fmt.Fprintf(&b, "[tools.%s]\nsource = \"local\"\ncommand = %q\n", p.tool, p.command)
		rule := func(path, caps string) {
			fmt.Fprintf(&b, "\n[[tools.%s.access.fs]]\npath = %q\n%s", p.tool, path, caps)
		}
		const read, all = "read = true\nexecute = true\n", "read = true\nwrite = true\nexecute = true\n"
		if p.writes == "." {
			rule(".", all)
		} else {
			rule(".", read)
		}
		if p.writes != "" && p.writes != "." {
			rule(p.writes, all)
		}
		rule(".env", "")
	}
	return b.String(), files
}
