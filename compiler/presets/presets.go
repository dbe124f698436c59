// Package presets has the rules that the usual toolchains and agents need, for tools to extend.
//
// A preset is a file of TOML: its version, a sentence about its purpose, and rules, each with its
// reason. It has rules that grant, about places of the user's home, hosts and variables, and none that grants something
// in the workspace: there it only closes names.
// See decisions D190 and D416.
package presets

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

//go:embed *.toml
var files embed.FS

// Preset is one of the files.
type Preset struct {
	Name    string // without the prefix "preset:"
	Version int64  // from 1
	Purpose string // a sentence
	// File is the text, whose name is the preset's with its version, and Rules its root table.
	File  *source.File
	Rules *source.Table
}

// Names lists all presets in order.
func Names() []string {
	entries, _ := files.ReadDir(".") // of the program itself
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = strings.TrimSuffix(e.Name(), ".toml")
	}
	return out
}

// found are the presets that were read, by name: many tools may extend the same preset.
var found sync.Map

// Find returns the preset of a name, nil if there is none. A file that is malformed is a finding,
// and a mistake of this program.
func Find(name string) (*Preset, *diag.Diagnostic) {
	if p, ok := found.Load(name); ok {
		return p.(*Preset), nil
	}
	data, err := files.ReadFile(path.Base(name) + ".toml")
	if err != nil || path.Base(name) != name {
		return nil, nil
	}
	p := &Preset{Name: name}
	// The first line, since places in the file are named by the version.
	if _, err := fmt.Sscanf(string(data), "version = %d\n", &p.Version); err != nil {
		d := diag.New(diag.BadTOML, ir.Pos{File: name}, 0)
		return nil, &d
	}
	var bad *diag.Diagnostic
	if p.File, p.Rules, bad = source.ParseFile(p.String(), data); bad != nil {
		return nil, bad
	}
	if v := p.Rules.Get("purpose"); v != nil {
		p.Purpose = v.Text
	}
	found.Store(name, p)
	return p, nil
}

// String writes the preset as provenance does: preset:rust@1.
func (p *Preset) String() string {
	return source.Preset + p.Name + "@" + strconv.FormatInt(p.Version, 10)
}

// About names the presets that have a rule on a place of the home, "~/x", or on a directory around it.
func About(place string) []string {
	var out []string
	for _, name := range Names() {
		if p, _ := Find(name); p != nil && p.about(place) {
			out = append(out, name)
		}
	}
	return out
}

// Beside names the presets that About names, and those that have a rule on another file of the directory in which
// the place lies, if a program has that for its settings: "~/.config/x".
func Beside(place string) []string {
	out := About(place)
	dir := path.Dir(place)
	if path.Dir(dir) != "~/.config" {
		return out
	}
	for _, name := range Names() {
		if p, _ := Find(name); p != nil && !slices.Contains(out, name) &&
			slices.ContainsFunc(p.places(), func(at string) bool { return path.Dir(at) == dir }) {
			out = append(out, name)
		}
	}
	return out
}

// places are the paths of the rules on files.
func (p *Preset) places() (out []string) {
	rules := p.Rules.Get("fs")
	if rules == nil {
		return nil
	}
	for _, r := range rules.Array {
		out = append(out, r.Table.Get("path").Text) // the tests hold that each rule has a reason
	}
	return out
}

func (p *Preset) about(place string) bool {
	return slices.ContainsFunc(p.places(), func(at string) bool {
		return place == at || strings.HasPrefix(place, at+"/")
	})
}

// Text is the file as it ships.
func (p *Preset) Text() string { return string(p.File.Data) }
