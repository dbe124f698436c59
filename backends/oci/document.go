package oci

import (
	"errors"
	"fmt"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// format identifies the document, and formatVersion is its version.
const (
	format        = "accessc/oci"
	formatVersion = 1
)

// Document is the artifact for one tool.
type Document struct {
	backends.Header
	Tool string `json:"tool"`           // the tool's name
	Home string `json:"home,omitempty"` // the private home, empty for none
	// Config is merged into the configuration of a bundle.
	Config Config `json:"config"`
	// Entry is the specification that the entry point applies, nil in the form without an entry point, where
	// Environment has the rules by which variables of the bundle are forwarded.
	Entry       *landlock.Spec      `json:"entry,omitempty"`
	Environment []backends.Variable `json:"environment,omitempty"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Ledger says how the container holds every cell, by version of Landlock's ABI.
	Ledger []backends.Row `json:"ledger"`
}

// Config is the part of a configuration that the policy decides, in the words of the runtime
// specification.
type Config struct {
	Root    *Root         `json:"root,omitempty"` // of the form without an entry point
	Process Process       `json:"process"`        // the process that is started
	Mounts  []specs.Mount `json:"mounts"`         // after the mounts of the bundle
	Linux   Linux         `json:"linux"`          // the part about Linux
}

// Root is the image's file system.
type Root struct {
	Readonly bool `json:"readonly"` // always true
}

// Process is the process that the container starts.
type Process struct {
	Args            []string            `json:"args"`              // the entry point, or the tool's own
	Cwd             string              `json:"cwd"`               // the workspace
	Env             []string            `json:"env,omitempty"`     // of the form without an entry point
	NoNewPrivileges bool                `json:"noNewPrivileges"`   // always true
	Capabilities    map[string][]string `json:"capabilities"`      // none
	Rlimits         []specs.POSIXRlimit `json:"rlimits,omitempty"` // of the form without an entry point
}

// Linux is the part of the configuration about Linux.
type Linux struct {
	Namespaces []specs.LinuxNamespace `json:"namespaces"`          // to be the container's own
	Resources  *specs.LinuxResources  `json:"resources,omitempty"` // limits of the control group
	Seccomp    *specs.LinuxSeccomp    `json:"seccomp"`             // for a bundle that has none
	// MaskedPaths and ReadonlyPaths are for the form without an entry point.
	MaskedPaths   []string `json:"maskedPaths,omitempty"`
	ReadonlyPaths []string `json:"readonlyPaths,omitempty"`
}

// ErrDocument is wrapped by every refusal of a document.
var ErrDocument = errors.New("not a usable description of a container")

// Parse reads a document that this package wrote.
func Parse(data []byte) (*Document, error) {
	if err := backends.CheckHeader(ErrDocument, data, format, formatVersion); err != nil {
		return nil, err
	}
	var d Document
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if len(d.Config.Process.Args) == 0 || d.Config.Linux.Seccomp == nil || d.Entry == nil && d.Config.Root == nil {
		return nil, fmt.Errorf("%w: found neither an entry point nor a root that is read-only", ErrDocument)
	}
	return &d, nil
}

// OfRuntime reports whether a mount shows nothing of the host and leaves its place to the image: it may be a
// symlink there.
func OfRuntime(m specs.Mount) bool {
	return m.Destination == processes || m.Destination == temp || m.Destination == shared
}
