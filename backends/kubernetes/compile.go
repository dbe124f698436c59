package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend. The zero value compiles to a pod.
type Backend struct {
	// Sandbox has it compile to a template of agent-sandbox.
	Sandbox bool
}

// Name implements backends.Backend.
func (b Backend) Name() string {
	if b.Sandbox {
		return "agent-sandbox"
	}
	return "kubernetes"
}

// File implements backends.Backend.
func (b Backend) File() string { return b.Name() + ".json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Header is the text "header" of the list's ConfigMap.
type Header struct {
	Format  string   `json:"format"`           // the constant format
	Version int      `json:"format_version"`   // of the format
	Tool    string   `json:"tool"`             // the tool's name
	Accept  []string `json:"accept,omitempty"` // the gaps that the policy accepts
}

const (
	// formatVersion is the version of the document.
	formatVersion = 1
	// image is a name that no registry has (RFC 6761, 6.4): its user replaces it.
	image = "accessc.invalid/tool"
	// nobody is the user that distroless images name nonroot.
	nobody = 65532
	// maxObject is how long the texts of a ConfigMap may be; the API server takes one of 1 MiB.
	maxObject = 1 << 20
)

// Compile implements backends.Backend. The ledger is in the artifact, and the same in both forms: a pod has no
// directory of this host.
func (b Backend) Compile(t *ir.Tool, _ backends.Target) (backends.Output, error) {
	c := newConversion(t)
	refusals := c.refusals()
	if refusals != nil {
		return backends.Output{Refusals: refusals}, nil
	}
	ledger := c.ledger()
	about, err := b.about(t, ledger)
	if err != nil {
		return backends.Output{}, err
	}
	if about.size() > maxObject {
		return backends.Output{Refusals: []backends.Refusal{{TooMany: true,
			Why: "the ledger is larger than a ConfigMap can be"}}}, nil
	}
	out := list{"v1", "List", []any{about, c.policy()}}
	if p, needed := c.cilium(); needed {
		out.Items = append(out.Items, p)
	}
	out.Items = append(out.Items, b.workload(c))
	data, err := backends.JSON(out)
	return backends.Output{Data: printable(data), Elsewhere: ledger}, err
}

// printable spells the characters of JSON texts that no YAML may contain (YAML 1.2, 5.1): programs such as kustomize
// read JSON as YAML.
func printable(data []byte) []byte {
	var out []byte
	for at, c := range string(data) {
		if c >= 0x7f && c <= 0x9f || c == 0xfeff || c == 0xfffe || c == 0xffff {
			out = fmt.Appendf(out, `\u%04x`, c)
			continue
		}
		out = append(out, data[at:at+utf8.RuneLen(c)]...)
	}
	return out
}

// about is an object that no program reads, for reviewers, with a text for each row of the ledger.
func (b Backend) about(t *ir.Tool, l ir.Ledger) (configMap, error) {
	h := Header{Format: "accessc/" + b.Name(), Version: formatVersion, Tool: t.Name}
	for _, a := range t.Accept {
		h.Accept = append(h.Accept, string(a.Gap))
	}
	texts := map[string]any{"header": h}
	for i, row := range backends.NewRows(l) {
		texts[fmt.Sprintf("ledger.%04d", i)] = row
	}
	out := configMap{object("v1", "ConfigMap", objectName(t.Name)+"-accessc", nil), map[string]string{}}
	for key, value := range texts {
		text, err := backends.Compact(value)
		if err != nil {
			return out, err
		}
		out.Data[key] = string(text)
	}
	return out, nil
}

// size is how much of an object's space the texts take.
func (c configMap) size() (n int) {
	for key, text := range c.Data {
		n += len(key) + len(text)
	}
	return n
}

func object(version, kind, name string, labels map[string]string) head {
	return head{version, kind, metadata{name, labels}}
}

// workload is the pod, or the template of pods. A sandbox gets a workspace of its own.
func (b Backend) workload(c *conversion) any {
	name, labels := objectName(c.tool.Name), label(c.tool)
	if !b.Sandbox {
		return pod{object("v1", "Pod", name, labels), c.pod(&claim{name + "-workspace"})}
	}
	spec := templateSpec{Network: "Unmanaged", Variables: "Disallowed", Claims: "Disallowed",
		Template: podTemplate{metadata{Labels: labels}, c.pod(nil)}}
	if c.uses("workspace") {
		spec.Volumes = []claimTemplate{{metadata{Name: "workspace"},
			claimSpec{[]string{"ReadWriteOnce"}, claimRequests{map[string]string{"storage": "1Gi"}}}}}
	}
	return sandboxTemplate{object("extensions.agents.x-k8s.io/v1beta1", "SandboxTemplate", name, nil), spec}
}

// label is the label by which the policies of the network select pods.
func label(t *ir.Tool) map[string]string {
	return map[string]string{"accessc-tool": objectName(t.Name)}
}

var plainName = expression.Once{Text: `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`}

var hashed = expression.Once{Text: `-[0-9a-f]{10}$`}

// maxName leaves room in a label (63 characters) for a hash and for the suffixes of names.
const maxName = 40

// objectName is a tool's name as Kubernetes takes names and labels (RFC 1123). Two tools never share a name, since
// policies of the network select by it: names that it has to change, and names that look changed, end in a hash.
func objectName(tool string) string {
	if plainName.Get().MatchString(tool) && len(tool) <= maxName && !hashed.Get().MatchString(tool) {
		return tool
	}
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(tool)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			b.WriteByte('-')
		}
	}
	short := strings.Trim(b.String()[:min(b.Len(), maxName)], "-")
	sum := sha256.Sum256([]byte(tool))
	return strings.TrimPrefix(short+"-", "-") + hex.EncodeToString(sum[:5])
}

func (c *conversion) pod(workspace *claim) podSpec {
	out := podSpec{
		Restart: "Never", Deadline: c.deadline(),
		SecurityContext: podSecurity{true, nobody, nobody, nobody, seccomp{"RuntimeDefault"}},
		Containers: []container{{
			Name: "tool", Image: image, Command: c.command(), WorkingDir: mountPath(ir.Workspace), Env: c.environment(),
			Resources:       c.resources(),
			SecurityContext: security{ReadOnlyRoot: true, Capabilities: map[string][]string{"drop": {"ALL"}}},
			Mounts:          c.mounts,
		}},
		Volumes: []volume{},
	}
	if len(c.named) > 0 {
		out.DNS = &dnsConfig{[]variable{{"ndots", "1"}}} // no question with the cluster's search list, which is refused
	}
	if c.uses("workspace") && workspace != nil {
		out.Volumes = append(out.Volumes, volume{Name: "workspace", Claim: workspace})
	}
	for _, name := range []string{"home", "tmp"} {
		if c.uses(name) {
			out.Volumes = append(out.Volumes, volume{Name: name, Empty: &emptyDir{}})
		}
	}
	if c.uses(mask) {
		out.Volumes = append(out.Volumes, volume{Name: mask, Empty: &emptyDir{"1Ki"}})
	}
	return out
}

// literal spells a text in which Kubernetes is to expand no variable: there "$$" is a dollar.
func literal(s string) string { return strings.ReplaceAll(s, "$", "$$") }

func (c *conversion) command() []string {
	if c.tool.Command.Shell {
		return []string{"/bin/sh", "-c", literal(c.tool.Command.Program)}
	}
	out := []string{literal(c.tool.Command.Program)}
	for _, a := range c.tool.Command.Args {
		out = append(out, literal(a))
	}
	return out
}

// variableName are the names that every release takes.
var variableName = expression.Once{Text: `^[A-Za-z_][A-Za-z0-9_]*$`}

// environment returns the variables that accessc sets itself and knows.
func (c *conversion) environment() []variable {
	home := ""
	if c.tool.Home == ir.HomePrivate {
		home = mountPath(ir.Home)
	}
	var out []variable
	for _, v := range backends.Assigned(c.tool, mountPath(ir.Temp), home, c.sets) {
		out = append(out, variable{v.Name, literal(v.Value)})
	}
	return out
}

// sets reports whether a rule has a value that the pod can have.
func (c *conversion) sets(r *ir.EnvRule) bool {
	own := strings.Contains(r.Value, ir.OwnHome) && c.tool.Home != ir.HomePrivate
	return r.Read && r.Value != "" && !own && !strings.Contains(r.Value, ir.UserHome) &&
		variableName.Get().MatchString(r.Name)
}

func (c *conversion) limit(k ir.LimitKind) uint64 {
	for _, l := range c.tool.Limits {
		if l.Kind == k {
			return l.Value
		}
	}
	return 0
}

// deadline is the limit of wall time in seconds, 0 for none and for less than a second.
func (c *conversion) deadline() int64 { return int64(min(c.limit(ir.LimitWallTime)/1000, 1<<31-1)) }

func (c *conversion) resources() *resources {
	n := c.limit(ir.LimitMemory)
	if n == 0 {
		return nil
	}
	return &resources{map[string]string{"memory": strconv.FormatUint(n, 10)}}
}

// refusals are the parts of a policy that the objects cannot say.
func (c *conversion) refusals() []backends.Refusal {
	var out []backends.Refusal
	add := func(r ir.Rule, why string, args ...any) {
		out = append(out, backends.Refusal{Rule: r, Why: fmt.Sprintf(why, args...)})
	}
	if c.tool.Command == nil {
		add(nil, "a pod starts a command, and the tool has none")
		return out
	}
	texts := append([]string{c.tool.Command.Program}, c.tool.Command.Args...)
	for _, r := range c.tool.Env {
		texts = append(texts, r.Value)
	}
	if slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }) {
		add(nil, "JSON cannot say a command or a value that is not UTF-8")
	}
	for _, m := range c.mounts {
		if strings.ContainsAny(m.Path, ":\x00") || !utf8.ValidString(m.Path) {
			add(c.from[m.Path], "a mount's path has no colon and is UTF-8, and %q is none", m.Path)
		}
	}
	return out
}
