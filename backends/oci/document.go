package oci

import (
	"errors"
	"fmt"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/internal/strictjson"
)

// format identifies the document, and formatVersion is its version.
const (
	format        = "accessc/oci"
	formatVersion = 1
)

// Document is the artifact for one tool.
type Document struct {
	backends.Header
	Tool string `json:"tool"` // the tool's name
	// Config is merged into the configuration of a bundle.
	Config Config `json:"config"`
	// Entry is the specification that the entry point applies.
	Entry *landlock.Spec `json:"entry,omitempty"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Ledger says how the container holds every cell, by version of Landlock's ABI.
	Ledger []backends.Row `json:"ledger"`
}

// Config is the part of a configuration that the policy decides, in the words of the runtime
// specification.
type Config struct {
	Process Process       `json:"process"` // the process that is started
	Mounts  []specs.Mount `json:"mounts"`  // after those of the bundle
	Linux   Linux         `json:"linux"`   // what is Linux's own
}

// Process is the process that the container starts.
type Process struct {
	Args            []string            `json:"args"`            // the entry point
	Cwd             string              `json:"cwd"`             // the workspace
	NoNewPrivileges bool                `json:"noNewPrivileges"` // always true
	Capabilities    map[string][]string `json:"capabilities"`    // none
}

// Linux is the part of the configuration about Linux.
type Linux struct {
	Namespaces []specs.LinuxNamespace `json:"namespaces"`          // to be the container's own
	Resources  *specs.LinuxResources  `json:"resources,omitempty"` // limits of the control group
	Seccomp    *specs.LinuxSeccomp    `json:"seccomp"`             // for a bundle that has none
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
	if d.Entry == nil || len(d.Config.Process.Args) == 0 || d.Config.Linux.Seccomp == nil {
		return nil, fmt.Errorf("%w: found no entry point", ErrDocument)
	}
	return &d, nil
}
