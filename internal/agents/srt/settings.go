package srt

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/accessc/accessc/backends"
)

// Lists are the lists of files of the sandbox runtime (srt), which other agents have as well.
// Reading is open but for DenyRead, in which AllowRead opens the same places and those deeper in.
// Writing is closed but for AllowWrite, in which DenyWrite closes places for good.
type Lists struct {
	DenyRead   []Path `json:"denyRead"`   // closed
	AllowRead  []Path `json:"allowRead"`  // opened in DenyRead
	AllowWrite []Path `json:"allowWrite"` // opened
	DenyWrite  []Path `json:"denyWrite"`  // closed in AllowWrite
}

// Path is an entry of a list: a text, or an object that says that nothing in it is a wildcard.
type Path struct {
	Text    string // from the workspace, from "~", or absolute
	Pattern bool   // its wildcards are some
}

// wildcards are the characters of patterns.
const wildcards = `*?[]{}\`

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) {
	if !p.Pattern && (strings.ContainsAny(p.Text, wildcards) || strings.HasSuffix(p.Text, "/") && p.Text != "/") {
		return backends.Compact(struct {
			Path    string `json:"path"`
			Literal bool   `json:"literal"`
		}{p.Text, true})
	}
	return backends.Compact(p.Text)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		p.Pattern = true
		return json.Unmarshal(data, &p.Text)
	}
	var marked struct {
		Path    string `json:"path"`
		Literal bool   `json:"literal"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(&marked)
	if err == nil && !marked.Literal {
		err = errors.New("an object that is no literal path")
	}
	*p = Path{Text: marked.Path}
	return err
}

// Settings is the file that srt --settings takes, with the members that this package writes.
type Settings struct {
	Network     Network      `json:"network"`               // hosts
	Filesystem  Lists        `json:"filesystem"`            // files
	Credentials *Credentials `json:"credentials,omitempty"` // variables
}

// Network are the lists for hosts.
type Network struct {
	Allowed []string `json:"allowedDomains"` // NAME:PORT
	Denied  []string `json:"deniedDomains"`  // of those
	// Resolved are addresses to which no granted name may lead.
	Resolved []string `json:"deniedResolvedAddresses,omitempty"`
	// Strict refuses other hosts without a question.
	Strict bool `json:"strictAllowlist"`
}

// Credentials has the variables that are withheld.
type Credentials struct {
	EnvVars []EnvVar `json:"envVars"` // by name
}

// EnvVar is a variable by its name.
type EnvVar struct {
	Name string `json:"name"` // the whole name
	Mode string `json:"mode"` // always "deny"
}
