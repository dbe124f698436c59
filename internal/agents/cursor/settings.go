package cursor

// Settings is a sandbox.json, with the members that this package writes.
type Settings struct {
	Type     string   `json:"type"`                               // whether the workspace may be written
	Boundary string   `json:"readBoundary"`                       // "workspace": with the system's own directories
	Write    []string `json:"additionalReadwritePaths,omitempty"` // absolute
	NoTmp    bool     `json:"disableTmpWrite"`                    // always
	NoShared bool     `json:"enableSharedBuildCache"`             // never
	Network  Network  `json:"networkPolicy"`                      // closed
}

// Network has no host.
type Network struct {
	Default string   `json:"default"` // "deny"
	Allow   []string `json:"allow"`   // none: entries have no ports
	Deny    []string `json:"deny"`    // none
}
