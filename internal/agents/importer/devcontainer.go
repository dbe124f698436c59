package importer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/ir"
)

var devcontainerFormat = format{
	name: "devcontainer", version: "2026-03-17", files: true,
	looks: func(d *document) bool {
		base := path.Base(strings.ReplaceAll(d.name, `\`, "/"))
		return base == "devcontainer.json" || base == ".devcontainer.json"
	},
	read: readDevcontainer,
}

// devcontainer is a development container.
type devcontainer struct {
	t *translation
	d *document
	// folder is the workspace in the container.
	folder string
	mounts []mounted
	// bare is true where workspaceMount takes the place of the usual mount.
	bare  bool
	model foreign.Devcontainer
	env   map[string]*Entry
}

// mounted is a mount with its entry. Its source is empty for a mount of no file of the machine, and for one that is left out.
type mounted struct {
	source, target string
	readOnly       bool
	entry          *Entry
}

func readDevcontainer(t *translation, docs []*document) foreign.Policy {
	c := &devcontainer{t: t, d: docs[0], env: map[string]*Entry{}}
	c.model.Host, c.model.Env = t.host, map[string][]string{}
	t.draft.confines, t.own = true, &Entry{Key: "the workspace of the container"}
	if folder := c.local(); folder != t.host.Dir {
		c.d.fault(0, "it is about %s, which is not the workspace: -C names that", folder)
	}
	c.folder = "/workspaces/" + path.Base(t.host.Dir)
	if n := c.d.root.Member("workspaceFolder"); n != nil {
		c.folder = c.inside(n, n.String())
	}
	members := fields{
		"workspaceFolder": func(n *jsonc.Node) {
			t.add(c.d, n, "workspaceFolder", n.String()).become(Carried, "it says which mounts lie over the workspace")
		},
		"workspaceMount": c.workspaceMount, "mounts": c.allMounts, "containerEnv": c.variables, "remoteEnv": c.variables, "runArgs": c.runArgs,
		"dockerComposeFile": func(n *jsonc.Node) {
			c.d.fault(n.Begin, "the mounts of Docker Compose are in another file, and are not understood")
		},
	}
	for why, keys := range map[string]string{
		"it is about how the container is made and started": `$schema name image build dockerFile context features overrideFeatureInstallOrder customizations
			initializeCommand onCreateCommand updateContentCommand postCreateCommand postStartCommand postAttachCommand waitFor hostRequirements
			shutdownAction overrideCommand userEnvProbe init`,
		"a tool runs as the user who starts it, without privileges": "remoteUser containerUser updateRemoteUserUID privileged capAdd securityOpt",
		"listening needs rules that you write":                      "forwardPorts portsAttributes otherPortsAttributes appPort",
		"secrets are yours to set where accessc is started":         "secrets",
	} {
		for _, key := range strings.Fields(keys) {
			members[key] = t.leave(c.d, "", why)
		}
	}
	c.d.object(c.d.root, "a development container", members)
	if !c.bare {
		c.mounts = append(c.mounts, mounted{source: t.host.Dir, target: c.folder, entry: t.own})
	}
	if c.d.err() == nil {
		c.confine()
		c.forward()
	}
	return c.evaluation()
}

// local is the directory that the file is about.
func (c *devcontainer) local() string {
	dir := path.Dir(strings.ReplaceAll(c.d.path, `\`, "/"))
	for _, up := range []string{dir, path.Dir(dir)} {
		if path.Base(up) == ".devcontainer" {
			return path.Dir(up)
		}
	}
	return dir
}

// inside is a path in the container, which has to be known: something may be mounted over files there.
func (c *devcontainer) inside(n *jsonc.Node, text string) string {
	text = strings.NewReplacer("${containerWorkspaceFolder}", c.folder, "${localWorkspaceFolderBasename}", path.Base(c.t.host.Dir)).Replace(text)
	if !path.IsAbs(text) || strings.Contains(text, "$") || !clean(text) || slices.Contains(strings.Split(text, "/"), "..") {
		c.d.fault(n.From, "%q: expected an absolute path in the container, with no variables but ${containerWorkspaceFolder}", text)
		return "/"
	}
	return path.Clean(text)
}

// outside is a path of the machine, empty if it is not certain.
func (c *devcontainer) outside(text string) string {
	home := c.t.host.Home
	for _, v := range [][2]string{
		{"${localWorkspaceFolder}", c.t.host.Dir}, {"${localEnv:HOME}${localEnv:USERPROFILE}", home}, {"${localEnv:HOME}", home},
	} {
		if rest, ok := strings.CutPrefix(text, v[0]); ok && (rest == "" || rest[0] == '/') {
			text = v[1] + rest
			break
		}
	}
	if !path.IsAbs(text) || strings.ContainsAny(text, "$*?[") || !clean(text) || slices.Contains(strings.Split(text, "/"), "..") {
		return ""
	}
	return path.Clean(text)
}

func (c *devcontainer) workspaceMount(n *jsonc.Node) {
	c.bare = true
	e := c.t.add(c.d, n, "workspaceMount", n.String())
	if n.Kind == '"' && n.String() == "" {
		e.become(Carried, "the workspace is not mounted")
		return
	}
	c.mount(n, n.String(), e)
}

func (c *devcontainer) allMounts(n *jsonc.Node) {
	if n.Kind != '[' {
		c.d.fault(n.From, "mounts is no list")
	}
	for i, item := range n.Children('[') {
		text := item.String()
		if item.Kind == '{' {
			text = "type=" + item.Member("type").String() + ",source=" + item.Member("source").String() + ",target=" + item.Member("target").String()
			c.d.object(item, "a mount", ignoring("type", "source", "target"))
		}
		c.mount(item, text, c.t.add(c.d, item, elementOf("mounts", i), text))
	}
}

// mount reads a mount as --mount of Docker takes it.
func (c *devcontainer) mount(n *jsonc.Node, text string, e *Entry) {
	m := mounted{entry: e}
	kind, source, target := "volume", "", ""
	for _, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "type":
			kind = value
		case "source", "src":
			source = value
		case "target", "dst", "destination":
			target = value
		case "readonly", "ro":
			m.readOnly = value != "false" && value != "0"
		case "consistency", "bind-propagation", "volume-nocopy", "volume-driver", "volume-label", "volume-opt", "tmpfs-size", "tmpfs-mode":
		default:
			c.d.fault(n.From, "%q is no part of a mount that is known", part)
			return
		}
	}
	m.target = c.inside(n, target)
	switch abs := c.outside(source); {
	case kind != "bind" && kind != "volume" && kind != "tmpfs":
		c.d.fault(n.From, "expected a mount of the type bind, volume or tmpfs")
	case kind != "bind":
		e.become(LeftOut, "it is no file of the machine; a tool has a home of its own")
	case abs == "":
		e.become(LeftOut, "its source is not certain")
	case c.t.host.Follow(abs) != abs:
		e.become(LeftOut, "its source leads over a symlink")
	case !c.t.host.Exists(abs):
		e.become(LeftOut, "its source is not there")
	default:
		m.source = abs
	}
	if slices.ContainsFunc(c.mounts, func(o mounted) bool { return o.target == m.target }) {
		c.d.fault(n.From, "two mounts at %s", m.target)
	}
	c.mounts = append(c.mounts, m)
}

// variables notes those that get the value of their own name. Other values are not copied.
func (c *devcontainer) variables(n *jsonc.Node) {
	if n.Kind != '{' {
		c.d.fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		e := c.t.add(c.d, item, n.Key, item.Key)
		c.model.Env[item.Key] = append(c.model.Env[item.Key], item.String())
		same := item.Kind == '"' && item.String() == "${localEnv:"+item.Key+"}"
		if before, twice := c.env[item.Key]; same && variable.Get().MatchString(item.Key) && (!twice || before != nil) {
			c.env[item.Key] = e
			e.become(Carried, "access.env %s", item.Key)
			continue
		} else if before != nil {
			before.become(LeftOut, "%s gives it another value", n.Key)
		}
		c.env[item.Key] = nil
		e.become(LeftOut, "its value is not copied: set it where accessc is started, and write a rule to forward it")
	}
}

// The options of docker run that narrow nothing which rules speak of, without and with a value.
var (
	containerFlags  = strings.Fields("--init --privileged --rm --interactive -i --tty -t -it --detach -d")
	containerValues = strings.Fields(`--cap-add --security-opt --name --hostname -h --label -l --gpus --device --add-host --dns --shm-size
		--ipc --publish -p --expose --user -u --group-add --runtime --platform --pull --log-driver --log-opt --network-alias`)
	networkOptions = []string{"--network", "--net"}
)

func (c *devcontainer) runArgs(n *jsonc.Node) {
	i, pending := 0, "" // the option that the next argument is the value of
	c.d.list(n, "runArgs", func(item *jsonc.Node, text string) {
		e := c.t.add(c.d, item, elementOf("runArgs", i), text)
		i++
		name, value, attached := strings.Cut(text, "=")
		if pending != "" {
			name, value, attached = pending, text, true
		}
		pending = ""
		switch {
		case slices.Contains(networkOptions, name):
			c.model.Offline = c.model.Offline || value == "none"
			e.become(Carried, "hosts need rules")
		case slices.Contains(containerValues, name):
			e.become(LeftOut, "it is about how the container is started")
		case slices.Contains(containerFlags, text):
			e.become(LeftOut, "it is about how the container is started")
			return
		default:
			c.d.fault(item.From, "%q may narrow what the container may do, and is not understood; write mounts as mounts, and limits as access.limits", text)
		}
		if !attached {
			pending = name
		}
	})
}

// confine writes rules for files: those that a mount shows and no other one hides.
func (c *devcontainer) confine() {
	var points []point
	for i, m := range c.mounts {
		if m.source == "" {
			continue
		}
		points = append(points, point{abs: m.source, entry: m.entry, opens: true})
		for j, o := range c.mounts {
			if i != j && ir.Within(o.target, m.target) {
				points = append(points, point{abs: c.t.host.Follow(path.Join(m.source, strings.TrimPrefix(o.target, m.target))), entry: o.entry})
			}
		}
	}
	c.t.files(points, func(abs string) access {
		var out access
		for i, m := range c.mounts {
			if m.source == "" || !ir.Within(abs, m.source) {
				continue
			}
			at := path.Join(m.target, strings.TrimPrefix(abs, m.source))
			hidden := false
			for j, o := range c.mounts {
				hidden = hidden || i != j && ir.Within(o.target, m.target) && ir.Within(at, o.target)
			}
			out.read, out.write = out.read || !hidden, out.write || !hidden && !m.readOnly
		}
		return out
	})
	if !c.model.Offline {
		e := &Entry{Key: "network, which nothing closes"}
		e.become(LeftOut, "every host is open; write that rule yourself")
		c.t.entries = append(c.t.entries, e)
	}
}

// forward writes rules for variables: of the caller's none is passed on but those that are named.
func (c *devcontainer) forward() {
	names := []string{"PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TERM"}
	for _, name := range names {
		if c.env[name] == nil {
			c.t.draft.env = append(c.t.draft.env, envRule{name, false, "the container has its own"})
		}
	}
	for _, n := range c.d.root.Children('{') {
		for _, item := range n.Children('{') {
			if e := c.env[item.Key]; e != nil && e.Fate == Carried && (n.Key == "containerEnv" || n.Key == "remoteEnv") {
				c.t.draft.env = append(c.t.draft.env, envRule{item.Key, true, e.from()})
				c.env[item.Key] = nil
			}
		}
	}
}

// evaluation is the model of the container.
func (c *devcontainer) evaluation() foreign.Policy {
	for _, m := range c.mounts {
		c.model.Mounts = append(c.model.Mounts, foreign.ContainerMount{Source: m.source, Target: m.target, ReadOnly: m.readOnly})
	}
	return &c.model
}
