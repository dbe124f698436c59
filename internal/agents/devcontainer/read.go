package devcontainer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/text/jsonc"
)

var format = importer.Format{
	Name: "devcontainer", Version: "2026-03-17", Files: true,
	Looks: func(d *importer.Document) bool {
		base := path.Base(strings.ReplaceAll(d.Name, `\`, "/"))
		return base == "devcontainer.json" || base == ".devcontainer.json"
	},
	Read: read,
}

// reader is a development container.
type reader struct {
	t *importer.Translation
	d *importer.Document
	// folder is the workspace in the container.
	folder string
	mounts []mounted
	// bare is true where workspaceMount takes the place of the usual mount.
	bare  bool
	model Model
	env   map[string]*importer.Entry
}

// mounted is a mount with its entry. Its source is empty for a mount of no file of the machine, and for one that is
// left out.
type mounted struct {
	source, target string
	readOnly       bool
	entry          *importer.Entry
}

func read(t *importer.Translation, docs []*importer.Document) foreign.Policy {
	c := &reader{t: t, d: docs[0], env: map[string]*importer.Entry{}}
	c.model.Host, c.model.Env = t.Host, map[string][]string{}
	t.Draft.Confines, t.Own = true, &importer.Entry{Key: "the workspace of the container"}
	if folder := c.local(); folder != t.Host.Dir {
		c.d.Fault(0, "it is about %s, which is not the workspace: -C names that", folder)
	}
	c.folder = "/workspaces/" + path.Base(t.Host.Dir)
	if n := c.d.Root.Member("workspaceFolder"); n != nil {
		c.folder = c.inside(n, n.String())
	}
	members := importer.Fields{
		"workspaceFolder": func(n *jsonc.Node) {
			t.Add(c.d, n, "workspaceFolder", n.String()).Become(importer.Carried,
				"it says which mounts lie over the workspace")
		},
		"workspaceMount": c.workspaceMount, "mounts": c.allMounts, "containerEnv": c.variables,
		"remoteEnv": c.variables, "runArgs": c.runArgs,
		"dockerComposeFile": func(n *jsonc.Node) {
			c.d.Fault(n.Begin, "the mounts of Docker Compose are in another file, and are not understood")
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
			members[key] = t.Leave(c.d, "", why)
		}
	}
	c.d.Object(c.d.Root, "a development container", members)
	if !c.bare {
		c.mounts = append(c.mounts, mounted{source: t.Host.Dir, target: c.folder, entry: t.Own})
	}
	if c.d.Err() == nil {
		c.confine()
		c.forward()
	}
	return c.evaluation()
}

// local is the directory that the file is about.
func (c *reader) local() string {
	dir := path.Dir(strings.ReplaceAll(c.d.Path, `\`, "/"))
	for _, up := range []string{dir, path.Dir(dir)} {
		if path.Base(up) == ".devcontainer" {
			return path.Dir(up)
		}
	}
	return dir
}

// inside is a path in the container, which has to be known: something may be mounted over files there.
func (c *reader) inside(n *jsonc.Node, text string) string {
	text = strings.NewReplacer("${containerWorkspaceFolder}", c.folder, "${localWorkspaceFolderBasename}",
		path.Base(c.t.Host.Dir)).Replace(text)
	if !path.IsAbs(text) || strings.Contains(text, "$") || !importer.Clean(text) ||
		slices.Contains(strings.Split(text, "/"), "..") {
		c.d.Fault(n.From, "%q: expected an absolute path in the container, with no variables but ${containerWorkspaceFolder}", text)
		return "/"
	}
	return path.Clean(text)
}

// outside is a path of the machine, empty if it is not certain.
func (c *reader) outside(text string) string {
	home := c.t.Host.Home
	for _, v := range [][2]string{
		{"${localWorkspaceFolder}", c.t.Host.Dir}, {"${localEnv:HOME}${localEnv:USERPROFILE}", home},
		{"${localEnv:HOME}", home},
	} {
		if rest, ok := strings.CutPrefix(text, v[0]); ok && (rest == "" || rest[0] == '/') {
			text = v[1] + rest
			break
		}
	}
	if !path.IsAbs(text) || strings.ContainsAny(text, "$*?[") || !importer.Clean(text) ||
		slices.Contains(strings.Split(text, "/"), "..") {
		return ""
	}
	return path.Clean(text)
}

func (c *reader) workspaceMount(n *jsonc.Node) {
	c.bare = true
	e := c.t.Add(c.d, n, "workspaceMount", n.String())
	if n.Kind == '"' && n.String() == "" {
		e.Become(importer.Carried, "the workspace is not mounted")
		return
	}
	c.mount(n, n.String(), e)
}

func (c *reader) allMounts(n *jsonc.Node) {
	if n.Kind != '[' {
		c.d.Fault(n.From, "mounts is no list")
	}
	for i, item := range n.Children('[') {
		text := item.String()
		if item.Kind == '{' {
			text = "type=" + item.Member("type").String() + ",source=" + item.Member("source").String() + ",target=" +
				item.Member("target").String()
			c.d.Object(item, "a mount", importer.Ignoring("type", "source", "target"))
		}
		c.mount(item, text, c.t.Add(c.d, item, importer.ElementOf("mounts", i), text))
	}
}

// mount reads a mount as --mount of Docker takes it.
func (c *reader) mount(n *jsonc.Node, text string, e *importer.Entry) {
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
		case "consistency", "bind-propagation", "volume-nocopy", "volume-driver", "volume-label", "volume-opt",
			"tmpfs-size", "tmpfs-mode":
		default:
			c.d.Fault(n.From, "%q is no part of a mount that is known", part)
			return
		}
	}
	m.target = c.inside(n, target)
	switch abs := c.outside(source); {
	case kind != "bind" && kind != "volume" && kind != "tmpfs":
		c.d.Fault(n.From, "expected a mount of the type bind, volume or tmpfs")
	case kind != "bind":
		e.Become(importer.LeftOut, "it is no file of the machine; a tool has a home of its own")
	case abs == "":
		e.Become(importer.LeftOut, "its source is not certain")
	case c.t.Host.Follow(abs) != abs:
		e.Become(importer.LeftOut, "its source leads over a symlink")
	case !c.t.Host.Exists(abs):
		e.Become(importer.LeftOut, "its source is not there")
	default:
		m.source = abs
	}
	if slices.ContainsFunc(c.mounts, func(o mounted) bool { return o.target == m.target }) {
		c.d.Fault(n.From, "two mounts at %s", m.target)
	}
	c.mounts = append(c.mounts, m)
}

// variables notes those that get the value of their own name. Other values are not copied.
func (c *reader) variables(n *jsonc.Node) {
	if n.Kind != '{' {
		c.d.Fault(n.From, "%s is no object", n.Key)
	}
	for _, item := range n.Children('{') {
		e := c.t.Add(c.d, item, n.Key, item.Key)
		c.model.Env[item.Key] = append(c.model.Env[item.Key], item.String())
		same := item.Kind == '"' && item.String() == "${localEnv:"+item.Key+"}"
		if before, twice := c.env[item.Key]; same && importer.Variable.Get().MatchString(item.Key) &&
			(!twice || before != nil) {
			c.env[item.Key] = e
			e.Become(importer.Carried, "access.env %s", item.Key)
			continue
		} else if before != nil {
			before.Become(importer.LeftOut, "%s gives it another value", n.Key)
		}
		c.env[item.Key] = nil
		e.Become(importer.LeftOut, "its value is not copied: set it where accessc is started, and write a rule to forward it")
	}
}

// The options of docker run that narrow nothing which rules speak of, without and with a value.
var (
	containerFlags  = strings.Fields("--init --privileged --rm --interactive -i --tty -t -it --detach -d")
	containerValues = strings.Fields(`--cap-add --security-opt --name --hostname -h --label -l --gpus --device --add-host --dns --shm-size
		--ipc --publish -p --expose --user -u --group-add --runtime --platform --pull --log-driver --log-opt --network-alias`)
	networkOptions = []string{"--network", "--net"}
)

func (c *reader) runArgs(n *jsonc.Node) {
	i, pending := 0, "" // the option that the next argument is the value of
	c.d.List(n, "runArgs", func(item *jsonc.Node, text string) {
		e := c.t.Add(c.d, item, importer.ElementOf("runArgs", i), text)
		i++
		name, value, attached := strings.Cut(text, "=")
		if pending != "" {
			name, value, attached = pending, text, true
		}
		pending = ""
		switch {
		case slices.Contains(networkOptions, name):
			c.model.Offline = c.model.Offline || value == "none"
			e.Become(importer.Carried, "hosts need rules")
		case slices.Contains(containerValues, name):
			e.Become(importer.LeftOut, "it is about how the container is started")
		case slices.Contains(containerFlags, text):
			e.Become(importer.LeftOut, "it is about how the container is started")
			return
		default:
			c.d.Fault(item.From, "%q may narrow what the container may do, and is not understood; write mounts as mounts, and limits as access.limits", text)
		}
		if !attached {
			pending = name
		}
	})
}
