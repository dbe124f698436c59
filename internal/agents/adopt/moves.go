package adopt

import (
	"strings"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// moving are the variables by which accessc finds its configuration, the user's approvals and
// programs, by which it is loaded, and by which its egress proxy finds hosts: it would obey the file
// that sets them. Names are in upper case, since Windows tells no cases apart. A star at the end
// stands for any text.
var moving = []string{
	"PATH", "PATHEXT", "HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT",
	"XDG_*", "ACCESSC_*", "LD_*", "DYLD_*", "TMPDIR", "TMP", "TEMP", "GODEBUG", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "LOCALDOMAIN", "RES_OPTIONS",
}

// moves returns the reason why accessc would not follow the user's configuration if this entry started
// it; empty if there is none. See decision D173.
func (e *entry) moves(dir func(string) bool) string {
	for _, name := range e.env {
		name, _, _ := strings.Cut(name, "=") // a client hands on NAME=x and its value as one text, which sets NAME
		for _, m := range moving {
			prefix, any := strings.CutSuffix(m, "*")
			if upper := strings.ToUpper(name); upper == m || any && strings.HasPrefix(upper, prefix) {
				return "sets " + name + ", which accessc itself would follow: take it out of env"
			}
		}
	}
	if file := e.members["envFile"]; file.Exists() && file.Type != strictjson.Null {
		return "takes variables from a file, which may set some that accessc itself follows: write them into env in place of envFile"
	}
	if cwd := e.members["cwd"]; cwd.Exists() && cwd.Type != strictjson.Null && (cwd.Type != strictjson.String || !dir(cwd.Str)) {
		return "starts in a directory of its own (cwd), which accessc would take for the workspace: take cwd out, or put accessc mcp -C DIR before the command yourself"
	}
	return ""
}
