package mxc

import "github.com/accessc/accessc/backends"

// Version is the contract that a configuration is written for.
const Version = "1.0.0"

// Config is a request of the contract, with the fields that this package writes.
type Config struct {
	Version     string     `json:"version"`
	Comment     Comment    `json:"_comment"`
	Containment string     `json:"containment"`
	Process     Process    `json:"process"`
	Filesystem  Filesystem `json:"filesystem"`
	Network     Network    `json:"network"`
	Lifecycle   Lifecycle  `json:"lifecycle"`
}

// Comment is the part that MXC ignores, for reviewers and for this project.
type Comment struct {
	Format  string `json:"format"`
	Version int    `json:"format_version"`
	Form    string `json:"form"`
	Tool    string `json:"tool"`
	// Forward are the variables to add to the environment before it is used.
	Forward []string `json:"forward"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Ledger says how MXC holds every cell.
	Ledger []backends.Row `json:"ledger"`
}

// Process is the program to start. Env is used unchanged; nothing is added to it.
type Process struct {
	CommandLine string   `json:"commandLine"`
	Cwd         string   `json:"cwd"`
	Env         []string `json:"env"`
	// Timeout is in milliseconds.
	Timeout uint32 `json:"timeout,omitempty"`
}

// Filesystem lists places; the deepest one decides.
type Filesystem struct {
	ReadWrite []string `json:"readwritePaths"`
	ReadOnly  []string `json:"readonlyPaths"`
	Denied    []string `json:"deniedPaths"`
}

// Network is closed but for the rules.
type Network struct {
	Egress  Egress  `json:"egress"`
	Ingress Ingress `json:"ingress"`
}

// Egress lists the reachable targets.
type Egress struct {
	Default string `json:"default"`
	Allow   []Rule `json:"allow,omitempty"`
}

// Ingress bounds the connections to the tool, and the tool's to this machine.
type Ingress struct {
	Default      string `json:"default"`
	HostLoopback string `json:"hostLoopback"`
}

// Rule opens ports of addresses.
type Rule struct {
	To    []Peer `json:"to"`
	Ports []Port `json:"ports"`
}

// Peer is an address with the length of its prefix.
type Peer struct {
	CIDR string `json:"cidr"`
}

// Port is one of a protocol.
type Port struct {
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
}

// Lifecycle is the treatment of the container and its policy when the process ends.
type Lifecycle struct {
	DestroyOnExit  bool `json:"destroyOnExit"`
	PreservePolicy bool `json:"preservePolicy"`
}
