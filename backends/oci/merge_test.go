package oci_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var update = flag.Bool("update", false, "write what the compiler yields now into the golden files")

// example is a policy with something of everything that a container changes.
func example() *ir.Tool {
	tool := ir.NewTool("deploy")
	tool.Command = &ir.Command{Program: "make", Args: []string{"-j4"}}
	external := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{Written: ".", At: ir.In(""), Caps: ir.Caps(ir.Read, ir.Execute)},
		{Written: "out", At: ir.In("out"), Caps: ir.Caps(ir.Read, ir.Create, ir.Update, ir.Delete)},
		{Written: "out/.env", At: ir.In("out/.env")},
		{Written: "fork", At: external, Caps: ir.Caps(ir.Read), External: true},
	}
	tool.Net = []ir.NetRule{{Host: irtest.Address("192.0.2.1"), Port: 443, Allow: true}}
	tool.Env = append(tool.Env, ir.EnvRule{Name: "GO", Prefix: true, Read: true})
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "make", AnyArgs: true, AllEnvs: true}}}
	tool.May = []ir.FSRule{{At: ir.In("secrets"), Caps: ir.All}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitProcesses, Value: 50}, {Kind: ir.LimitCPUTime, Value: 60_000}}
	return tool
}

// TestGolden compares the document of the example with the reviewed document.
func TestGolden(t *testing.T) {
	out, err := oci.Backend{}.Compile(example(), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "example.json")
	if *update {
		if err := os.WriteFile(file, out.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(out.Data, want) {
		t.Errorf("%s differs (%v); run with -update and review the difference", file, err)
	}
}

// plain is a configuration as runtimes write it for a start (runc spec).
const plain = `{
	"ociVersion": "1.0.2",
	"process": {
		"terminal": true, "user": {"uid": 1000, "gid": 1000}, "args": ["sh"], "cwd": "/",
		"env": ["PATH=/bin", "GODEBUG=madvdontneed=1", "TMPDIR=/elsewhere", "TERM=xterm"],
		"capabilities": {"bounding": ["CAP_KILL"], "effective": ["CAP_KILL"], "permitted": ["CAP_KILL"]},
		"rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}]
	},
	"root": {"path": "rootfs"},
	"mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}],
	"linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}], "maskedPaths": ["/proc/kcore"]}
}`

// merged merges the example into a configuration.
func merged(config string) (*specs.Spec, []byte, error) {
	tool := example()
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "/srv/project", Home: "/state/home/deploy", External: map[string]string{"fork": "/srv/fork"},
	}}}
	out, err := oci.Backend{}.Compile(tool, target)
	if err != nil {
		return nil, nil, err
	}
	doc, err := oci.Parse(out.Data)
	if err != nil {
		return nil, nil, err
	}
	c, err := oci.ParseConfig([]byte(config))
	if err != nil {
		return nil, nil, err
	}
	text, err := oci.Merge(c, doc)
	return c, text, err
}

// with replaces a part of the plain configuration.
func with(t *testing.T, old, replacement string) string {
	t.Helper()
	if strings.Count(plain, old) != 1 {
		t.Fatalf("%q is not once in the configuration", old)
	}
	return strings.Replace(plain, old, replacement, 1)
}

// TestMerge looks at all that a merge changes.
func TestMerge(t *testing.T) {
	_, text, err := merged(plain)
	if err != nil {
		t.Fatal(err)
	}
	c, err := oci.ParseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Process
	if p.Args[0] != "/.accessc-start/accessc" || p.Args[1] != "exec" || p.Cwd != "/srv/project" || !p.NoNewPrivileges || p.User.UID != 1000 || !p.Terminal {
		t.Errorf("the process is %+v", p)
	}
	if p.Capabilities == nil || len(p.Capabilities.Bounding)+len(p.Capabilities.Effective)+len(p.Capabilities.Permitted) > 0 {
		t.Errorf("the capabilities are %+v", p.Capabilities)
	}
	if want := []string{"PATH=/bin", "TERM=xterm"}; !slices.Equal(p.Env, want) {
		t.Errorf("the environment is %q", p.Env)
	}
	var mounts []string
	for _, m := range c.Mounts {
		mounts = append(mounts, m.Destination+" "+strings.Join(m.Options, ","))
	}
	want := []string{
		"/proc ", "/dev ", "/tmp nosuid,nodev,mode=1777", "/srv/fork rbind,ro,nosuid,nodev", "/srv/project rbind,rw,nosuid,nodev",
		"/state/home/deploy rbind,rw,nosuid,nodev", "/.accessc-start bind,ro,nosuid,nodev",
	}
	if !slices.Equal(mounts, want) {
		t.Errorf("the mounts are %q", mounts)
	}
	if r := c.Linux.Resources; *r.Memory.Limit != 1<<30 || *r.Memory.Swap != 1<<30 || *r.Pids.Limit != 50 {
		t.Errorf("the resources are %+v", r)
	}
	if c.Linux.Seccomp == nil || len(c.Linux.MaskedPaths) != 1 || c.Annotations[oci.Mark] != "deploy" {
		t.Errorf("the rest is %+v", c.Linux)
	}
}

// TestContradictions: whatever in a bundle could change the container around the policy is refused, by
// its name.
func TestContradictions(t *testing.T) {
	mount := func(destination, kind string) string {
		return with(t, `"mounts": [`, `"mounts": [{"destination": "`+destination+`", "type": "`+kind+`", "source": "/x", "options": ["rbind"]}, `)
	}
	linux := func(more string) string { return with(t, `"linux": {`, `"linux": {`+more+`, `) }
	top := func(more string) string { return with(t, `"linux": {`, more+`, "linux": {`) }
	seccomp := func(more string) string { return linux(`"seccomp": {"defaultAction": "SCMP_ACT_ALLOW"` + more + `}`) }
	for name, c := range map[string]struct{ config, want string }{
		"over the program":              {mount("/.accessc-start/accessc", "bind"), "in the way of /.accessc-start"},
		"over the program's directory":  {mount("/.accessc-start", "bind"), "in the way of /.accessc-start"},
		"over it, by another spelling":  {mount("//x/../.accessc-start/./accessc", "bind"), "in the way of /.accessc-start"},
		"in the workspace":              {mount("/srv/project/out", "bind"), "in the way of /srv/project"},
		"over the workspace":            {mount("/srv/project", "tmpfs"), "in the way of /srv/project"},
		"over the target of a rule":     {mount("/srv/fork/a", "bind"), "in the way of /srv/fork"},
		"another host's processes":      {strings.Replace(plain, `"type": "proc", "source": "proc"`, `"type": "bind", "source": "/proc", "options": ["rbind"]`, 1), "in the way of /proc"},
		"another host's, called a proc": {strings.Replace(plain, `"source": "proc"`, `"source": "/proc", "options": ["rbind"]`, 1), "in the way of /proc"},
		"over its own processes":        {mount("/proc/self", "bind"), "in the way of /proc"},
		"below a /tmp that is ours":     {mount("/tmp/x", "bind"), "in the way of /tmp"},
		"a place that is none":          {mount("work", "bind"), "on no place of its own"},
		"the root":                      {mount("/x/..", "bind"), "on no place of its own"},
		"a hook in the container":       {top(`"hooks": {"startContainer": [{"path": "/x"}]}`), "hooks.startContainer"},
		"a hook before it":              {top(`"hooks": {"createRuntime": [{"path": "/x"}]}`), "hooks.createRuntime"},
		"a hook of old":                 {top(`"hooks": {"prestart": [{"path": "/x"}]}`), "hooks.prestart"},
		"a hook, spelled otherwise":     {top(`"HOOKS": {"CreateContainer": [{"Path": "/x"}]}`), "hooks.createContainer"},
		"processes of another":          {with(t, `{"type": "pid"}`, `{"type": "pid", "path": "/proc/1/ns/pid"}`), "shares the pid namespace"},
		"mounts of another":             {with(t, `{"type": "mount"}`, `{"type": "mount", "path": "/proc/1/ns/mnt"}`), "shares the mount namespace"},
		"processes of another, second":  {with(t, `{"type": "pid"}`, `{"type": "pid"}, {"type": "pid", "path": "/proc/1/ns/pid"}`), "shares the pid namespace"},
		"a namespace twice":             {with(t, `{"type": "pid"}`, `{"type": "pid"}, {"type": "pid"}`), "has pid twice"},
		"a property of systemd's":       {top(`"annotations": {"org.systemd.property.MemoryMax": "uint64 1"}`), "org.systemd.property.MemoryMax"},
		"a filter without Landlock":     {seccomp(`, "syscalls": [{"names": ["landlock_create_ruleset"], "action": "SCMP_ACT_ERRNO"}]`), "does not allow landlock_create_ruleset, which"},
		"a filter by arguments":         {linux(`"seccomp": {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["prctl"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}]}`), "landlock_add_rule, landlock_create_ruleset, landlock_restrict_self, prctl, seccomp, openat2"},
		"a filter that asks":            {seccomp(`, "listenerPath": "/x", "syscalls": [{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}]`), "has a listener"},
		"limits in other words":         {linux(`"resources": {"unified": {"memory.max": "max"}}`), "unified sets memory.max"},
		"a limit that nothing ends":     {linux(`"resources": {"memory": {"disableOOMKiller": true}}`), "disableOOMKiller"},
		"another way to start":          {top(`"annotations": {"run.oci.handler": "krun"}`), "run.oci.handler"},
		"another filter":                {top(`"annotations": {"run.oci.seccomp_bpf_data": "AA=="}`), "run.oci.seccomp_bpf_data"},
		"a virtual machine":             {top(`"vm": {"kernel": {"path": "/x"}}`), "for another system"},
		"a member of a later version":   {linux(`"landlock": {}`), `unknown field "landlock"`},
		"a member of no version":        {with(t, `"user": {`, `"usr": {}, "user": {`), `unknown field "usr"`},
		"two documents":                 {plain + "{}", "text after the document"},
		"no process":                    {`{"ociVersion": "1.0.2", "root": {"path": "x"}, "linux": {}}`, "no process"},
		"a member twice, the last wins": {linux(`"namespaces": [{"type": "pid"}]`)[:strings.LastIndex(linux(`"namespaces": [{"type": "pid"}]`), "}")] + `, "linux": {"namespaces": [{"type": "pid", "path": "/x"}]}}`, "shares the pid namespace"},
	} {
		if _, text, err := merged(c.config); err == nil || !strings.Contains(err.Error(), c.want) || text != nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// All are said at once.
	_, _, err := merged(strings.Replace(mount("/proc/self", "bind"), `{"type": "pid"}`, `{"type": "pid", "path": "/x"}`, 1))
	if err == nil || !strings.Contains(err.Error(), "/proc") || !strings.Contains(err.Error(), "namespace") {
		t.Errorf("two contradictions: %v", err)
	}
}

// TestNoContradiction: parts of a bundle that take nothing from the policy stay.
func TestNoContradiction(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		kept   func(*specs.Spec) bool
	}{
		"a volume": {with(t, `"mounts": [`, `"mounts": [{"destination": "/data", "type": "bind", "source": "/x"}, `), func(s *specs.Spec) bool {
			return s.Mounts[0].Destination == "/data"
		}},
		"a /tmp, and a mount in it": {with(t, `"mounts": [`, `"mounts": [{"destination": "/tmp", "type": "tmpfs", "source": "x"}, {"destination": "/tmp/x", "type": "bind", "source": "/x"}, `), func(s *specs.Spec) bool {
			return s.Mounts[0].Source == "x" && s.Mounts[1].Destination == "/tmp/x"
		}},
		"a network of its own": {with(t, `{"type": "pid"}`, `{"type": "pid"}, {"type": "network", "path": "/run/netns/x"}`), func(s *specs.Spec) bool {
			return s.Linux.Namespaces[1].Path == "/run/netns/x"
		}},
		"a lower limit": {with(t, `"linux": {`, `"linux": {"resources": {"pids": {"limit": 9}, "memory": {"limit": -1}}, `), func(s *specs.Spec) bool {
			return *s.Linux.Resources.Pids.Limit == 9 && *s.Linux.Resources.Memory.Limit == 1<<30
		}},
		"a filter that lets accessc work": {with(t, `"linux": {`, `"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["reboot"], "action": "SCMP_ACT_KILL"}]}, `), func(s *specs.Spec) bool {
			return len(s.Linux.Seccomp.Syscalls) == 1
		}},
		"a hook at the end": {with(t, `"linux": {`, `"hooks": {"poststop": [{"path": "/x"}]}, "linux": {`), func(s *specs.Spec) bool { return len(s.Hooks.Poststop) == 1 }},
		"namespaces that it lacks": {with(t, `{"type": "pid"}, {"type": "mount"}`, ``), func(s *specs.Spec) bool {
			return len(s.Linux.Namespaces) == 2
		}},
	} {
		s, _, err := merged(c.config)
		if err != nil || !c.kept(s) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// published reads files of the published schema, of which some write references as other readers take them.
type published struct{}

func (published) Load(url string) (any, error) {
	text, err := os.ReadFile(strings.TrimPrefix(url, "file://"))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(bytes.ReplaceAll(text, []byte("#definitions"), []byte("#/definitions"))))
}

// schema is the published schema of a configuration, from the module of the specification.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/opencontainers/runtime-spec").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4) // some of its files do not say so
	compiler.UseLoader(published{})
	s, err := compiler.Compile(filepath.Join(strings.TrimSpace(string(dir)), "schema", "config-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchema holds merged configurations against the published schema, which must refuse others. None
// speaks of Landlock but as the names of system calls.
func TestSchema(t *testing.T) {
	s := schema(t)
	_, text, err := merged(plain)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = s.Validate(doc)
	}
	if err != nil {
		t.Error(err)
	}
	bad, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.Replace(text, []byte("SCMP_ACT_ALLOW"), []byte("SCMP_ACT_LANDLOCK"), 1)))
	if err != nil || s.Validate(bad) == nil {
		t.Errorf("the schema takes anything: %v", err)
	}
	var members func(v any) bool
	members = func(v any) bool {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if strings.Contains(strings.ToLower(name), "landlock") || members(value) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(v, members)
		}
		return false
	}
	if members(doc) {
		t.Error("the configuration has a member about Landlock, for which the specification has none")
	}
}

// TestWords reads the part that the policy decides with the types of the specification, which must
// know every member.
func TestWords(t *testing.T) {
	text, err := json.Marshal(compiled(t, example()).Config)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&specs.Spec{}); err != nil {
		t.Error(err)
	}
}

// TestFilter: the filter around the entry point is the closed list of calls, less namespaces.
func TestFilter(t *testing.T) {
	s := compiled(t, example()).Config.Linux.Seccomp
	action := func(call string) specs.LinuxSeccompAction {
		for _, r := range s.Syscalls {
			if slices.Contains(r.Names, call) && len(r.Args) == 0 {
				return r.Action
			}
		}
		return ""
	}
	for _, g := range landlock.Allowed() {
		for _, call := range g.Calls {
			if got := action(call); got != specs.ActAllow && call != "clone" && call != "unshare" {
				t.Errorf("%s: %s", call, got)
			}
		}
	}
	for call, want := range map[string]specs.LinuxSeccompAction{"mount": specs.ActErrno, "bpf": specs.ActErrno, "clone": "", "unshare": "", "clone3": "", "io_uring_setup": ""} {
		if got := action(call); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
	for _, r := range s.Syscalls {
		want := map[string]uint64{"clone": 0x7e020000, "unshare": 0x7e020080}[r.Names[0]] // linux/sched.h
		if len(r.Args) == 1 && (r.Args[0].Value != want || r.Args[0].ValueTwo != 0 || r.Args[0].Op != specs.OpMaskedEqual) {
			t.Errorf("%s: %+v", r.Names, r.Args)
		}
	}
	if s.DefaultAction != specs.ActErrno || *s.DefaultErrnoRet != 38 {
		t.Errorf("other calls: %s %v", s.DefaultAction, s.DefaultErrnoRet)
	}
}

// TestRefused: a tool that cannot be a container is refused, and a document of others is not read.
func TestRefused(t *testing.T) {
	bare, dashed := example(), example()
	bare.Command, dashed.Name = nil, "-x"
	for _, tool := range []*ir.Tool{bare, dashed} {
		if out, err := (oci.Backend{}).Compile(tool, backends.Target{Form: backends.Portable}); err != nil || out.Data != nil || len(out.Refusals) != 1 || out.Refusals[0].Why == "" {
			t.Errorf("%+v %v", out, err)
		}
	}
	text, err := json.Marshal(compiled(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"accessc/oci"`, `"format_version":1`, `"entry"`, `"noNewPrivileges"`} {
		if _, err := oci.Parse(bytes.Replace(text, []byte(bad), []byte(`"x"`), 1)); err == nil {
			t.Errorf("without %s the document is read", bad)
		}
	}
}
