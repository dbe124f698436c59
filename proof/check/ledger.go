package check

import "slices"

// Row is a row of a ledger, in a manifest or in the needs of a text.
type Row struct {
	Resource string   `json:"resource"`
	Rules    []string `json:"rules"`
	Aspects  []string `json:"aspects"`
	Platform string   `json:"platform"`
	From     int      `json:"from_level"`
	To       int      `json:"to_level"`
	Is       string   `json:"is"`
	Causes   []string `json:"causes,omitempty"`
	Gap      string   `json:"gap,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Seen     []string `json:"seen,omitempty"`
}

// states reports whether a row is about a cell at all levels of l.
func (r *Row) states(resource, rule, aspect, platform string, l Level) bool {
	return r.Resource == resource && r.Platform == platform && r.From <= l.From && l.To <= r.To &&
		slices.Contains(r.Rules, rule) && slices.Contains(r.Aspects, aspect)
}
