package mxc

import "github.com/accessc/accessc/backends"

// Version is the contract that a configuration is written for.
const Version = "1.0.0"

// Config is a request of the contract, with the fields that this package writes.
type Config struct {
	Version     string     `json:"version"`     // of the contract
	Comment     Comment    `json:"_comment"`    // not read by MXC
	Containment string     `json:"containment"` // the kind of container
	Process     Process    `json:"process"`     // the program
	Filesystem  Filesystem `json:"filesystem"`  // the places that it reaches
	Network     Network    `json:"network"`     // the hosts that it reaches
	Lifecycle   Lifecycle  `json:"lifecycle"`   // the end of the container
}

// Comment is the part that MXC ignores, for reviewers and for this project.
type Comment struct {
	Format  string `json:"format"`         // the constant Format
	Version int    `json:"format_version"` // of the format
	Form    string `json:"form"`           // "portable" or "resolved"
	Tool    string `json:"tool"`           // the tool's name
	// Forward are the variables to add to the environment before it is used.
	Forward []string `json:"forward"`
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Ledger says how MXC holds every cell.
	Ledger []backends.Row `json:"ledger"`
}

// Process is the program to start. Env is used unchanged; nothing is added to it.
type Process struct {
	CommandLine string   `json:"commandLine"` // a single text, quoted for the system
	Cwd         string   `json:"cwd"`         // the working directory
	Env         []string `json:"env"`         // NAME=VALUE
	// Timeout is in milliseconds.
	Timeout uint32 `json:"timeout,omitempty"`
}

// Filesystem lists places; the deepest entry decides.
type Filesystem struct {
	ReadWrite []string `json:"readwritePaths"` // every access
	ReadOnly  []string `json:"readonlyPaths"`  // every access but writing
	Denied    []string `json:"deniedPaths"`    // closed inside the others
}

// Network is closed but for the rules.
type Network struct {
	Egress  Egress  `json:"egress"`  // from the tool
	Ingress Ingress `json:"ingress"` // to the tool
}

// Egress lists the reachable targets.
type Egress struct {
	Default string `json:"default"`         // for every other target
	Allow   []Rule `json:"allow,omitempty"` // open targets
}

// Ingress bounds the connections to the tool, and the tool's to this machine.
type Ingress struct {
	Default      string `json:"default"`      // connections from elsewhere
	HostLoopback string `json:"hostLoopback"` // connections to this machine
}

// Rule opens ports of addresses.
type Rule struct {
	To    []Peer `json:"to"`    // any of them
	Ports []Port `json:"ports"` // any of them
}

// Peer is an address with the length of its prefix.
type Peer struct {
	CIDR string `json:"cidr"` // ADDRESS/BITS
}

// Port is one of a protocol.
type Port struct {
	Protocol string `json:"protocol"` // "tcp" or "udp"
	Port     uint16 `json:"port"`     // its number
}

// Lifecycle is the treatment of the container and its policy when the process ends.
type Lifecycle struct {
	DestroyOnExit  bool `json:"destroyOnExit"`  // the container goes with its process
	PreservePolicy bool `json:"preservePolicy"` // the policy stays behind
}
