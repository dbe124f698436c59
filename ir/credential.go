package ir

import "strings"

// String says where the value comes from and which part of a request carries it, never the
// value: "variable TOKEN as header Authorization".
func (c *Credential) String() string {
	from := ""
	switch {
	case c.Env != "":
		from = "variable " + c.Env
	case c.File != "":
		from = "file " + c.File
	default:
		from = "command " + strings.Join(c.Command, " ")
	}
	return strings.TrimSpace(from + " as " + c.As + " " + c.Name)
}
