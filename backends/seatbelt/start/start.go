// Package start is the part of a Seatbelt profile that the system does not read: the data that
// a loader needs before it hands the profile to sandbox-exec. It follows the profile, in lines
// that are comments to the system, so that a single file with one hash is the whole artifact.
//
// It is separate from the compiler because the loader must stay light.
package start

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// ParamProxy is the parameter for the port of the proxy, at all addresses of this machine.
const ParamProxy = "PROXY"

// Runs is a program of the system that does nothing.
const Runs = "/usr/bin/true"

// FormatVersion is the version of the profile's shape, in its first line.
const FormatVersion = 2

// Spec is a profile with the data that a start needs beside it.
type Spec struct {
	backends.Launch
	// Directories are made before the start, parents before their children. The profile lets no
	// process make them, or something else could be put in their place.
	Directories []string `json:"directories,omitempty"`
	// Starts is a program of the system that the profile lets start, empty for none. That it
	// runs shows that the base has all that this release wants.
	Starts string `json:"starts,omitempty"`
	// Egress is the policy that the proxy of a run decides by, in the form of package irjson. The
	// profile has its port as a parameter. It is nil where no rule needs a proxy, and in portable
	// profiles.
	Egress json.RawMessage `json:"egress,omitempty"`
	// Form is "portable" or "resolved".
	Form string `json:"-"`
	// Profile is the whole text.
	Profile string `json:"-"`
}

// ErrSpec is wrapped by every refusal of an artifact.
var ErrSpec = errors.New("not a usable Seatbelt profile")

const (
	heading = "; -- start: what a loader does around this profile; the system reads none of it --\n"
	mark    = ";! "
)

// Header returns the first line of a profile.
func Header(form backends.Form) string {
	return fmt.Sprintf("; accessc/seatbelt %d %s", FormatVersion, form)
}

// dataVolume is the second name of the directories that the firm links of the system volume
// lead to. Paths are judged by their first name, and a rule with the second never matches.
const dataVolume = "/System/Volumes/Data/"

// FirstName strips the data volume from an absolute path.
func FirstName(abs string) string {
	if rest, ok := strings.CutPrefix(abs, dataVolume); ok {
		return "/" + rest
	}
	return abs
}

// Quote writes a string of the profile language. Its reader is TinyScheme's:
// it takes a backslash in front of any other character than n, t, r, x and the digits
// for that character, so these two escapes are all there is to know, and the escapes of JSON or Go would silently name
// another path.
func Quote(s string) string {
	return `"` + escapes().Replace(s) + `"`
}

func escapes() *strings.Replacer {
	return escapesOnce.Get(func() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `"`, `\"`) })
}

var escapesOnce once.Value[*strings.Replacer]

// Append writes the specification behind a profile.
// See decision D249.
func Append(profile []byte, s Spec) ([]byte, error) {
	data, err := backends.JSON(s)
	if err != nil {
		return nil, err
	}
	doc := ascii(string(data))
	var out bytes.Buffer
	out.Grow(len(profile) + len("\n"+heading) + len(doc) + len(mark)*strings.Count(doc, "\n"))
	out.Write(profile)
	out.WriteString("\n" + heading)
	for line := range strings.Lines(doc) {
		out.WriteString(mark)
		out.WriteString(line)
	}
	return out.Bytes(), nil
}

// ascii writes JSON without bytes outside of ASCII, which stand only in its strings: the
// system's compiler has been seen to abort at them, also in comments.
func ascii(doc string) string {
	if !strings.ContainsFunc(doc, func(r rune) bool { return r > unicode.MaxASCII }) {
		return doc
	}
	var out strings.Builder
	for _, r := range doc {
		switch {
		case r <= unicode.MaxASCII:
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

// Parse reads an artifact. The profile itself is read by the system, which refuses the start if
// it does not understand it. Everything behind the heading must be part of the specification: a
// reader of the profile above would not see a rule there.
func Parse(data []byte) (*Spec, error) {
	text := string(data)
	profile, tail, ok := strings.Cut(text, "\n"+heading)
	if !ok {
		return nil, fmt.Errorf("%w: found no specification of the start behind the profile", ErrSpec)
	}
	first, _, _ := strings.Cut(profile, "\n")
	form := ""
	for _, f := range []backends.Form{backends.Portable, backends.Resolved} {
		if first == Header(f) {
			form = f.String()
		}
	}
	if form == "" {
		return nil, fmt.Errorf("%w: found the first line %q, expected %q; build again", ErrSpec, first,
			Header(backends.Resolved))
	}
	var doc bytes.Buffer
	for line := range strings.Lines(tail) {
		part, marked := strings.CutPrefix(line, mark)
		if !marked {
			return nil, fmt.Errorf("%w: found %q behind the rules, expected comments", ErrSpec, strings.TrimSpace(line))
		}
		doc.WriteString(part)
	}
	s := Spec{Profile: text, Form: form}
	if err := strictjson.Unmarshal(doc.Bytes(), &s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return &s, s.check()
}

// check refuses directories that are not where a resolved profile has them, and other programs to start before the tool
// than the program that does nothing.
func (s *Spec) check() error {
	for _, d := range s.Directories {
		if s.Form == backends.Resolved.String() && (!path.IsAbs(d) || path.Clean(d) != d) {
			return fmt.Errorf("%w: found the directory %q, expected a canonical path", ErrSpec, d)
		}
	}
	if s.Starts != "" && s.Starts != Runs {
		return fmt.Errorf("%w: found the program %q, expected %s", ErrSpec, s.Starts, Runs)
	}
	return nil
}
