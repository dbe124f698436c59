package devcontainer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// container imports a text as the file of a development container of the workspace.
func container(w *suite.World, text string) (*importer.Result, error) {
	dir := fmt.Sprintf("%s/.devcontainer/n%d", w.Dir, w.Next.Add(1))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "devcontainer.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return w.Imports(importer.Request{Files: []string{file}, Patterns: importer.Refuse})
}

// drawSettings draws a development container, as text and as it is.
func drawSettings(w *suite.World, r *rand.Rand) (string, *Model) {
	m := &Model{Host: w.Host(importer.Refuse), Env: map[string][]string{}}
	doc := map[string]any{"image": "x"}
	folder := "/workspaces/ws"
	if r.IntN(2) == 0 {
		folder = "/w"
		doc["workspaceFolder"] = folder
	}
	m.Mounts = []Mount{{Source: w.Dir, Target: folder}}
	if r.IntN(4) == 0 {
		doc["workspaceMount"] = "type=bind,readonly,source=${localWorkspaceFolder}/src,target=" + folder
		m.Mounts = []Mount{{Source: w.Dir + "/src", Target: folder, ReadOnly: true}}
	}
	var mounts []any
	for range r.IntN(4) {
		target := suite.Pick(r, folder+"/a", folder+"/src", folder+"/a/b", folder+"/new", "/root/x", "/root/x/y", "/etc/z", "/")
		source, abs := "volume-name", ""
		if r.IntN(3) > 0 {
			source = suite.Pick(r, "${localWorkspaceFolder}/a", "${localEnv:HOME}/x", "${localEnv:HOME}${localEnv:USERPROFILE}/x/y", w.Home+"/x/.env", "/usr", w.Dir+"/link", "${localWorkspaceFolder}", w.Home)
			abs = strings.NewReplacer("${localWorkspaceFolder}", w.Dir, "${localEnv:HOME}", w.Home, "${localEnv:USERPROFILE}", "").Replace(source)
		}
		if strings.Contains(fmt.Sprint(m.Mounts), " "+target+" ") {
			continue
		}
		readOnly := r.IntN(3) == 0
		m.Mounts = append(m.Mounts, Mount{Source: abs, Target: target, ReadOnly: readOnly})
		kind := "bind"
		if abs == "" {
			kind = "volume"
		}
		switch {
		case readOnly:
			mounts = append(mounts, "source="+source+",target="+strings.Replace(target, folder, "${containerWorkspaceFolder}", 1)+",type="+kind+",ro")
		default:
			mounts = append(mounts, map[string]any{"type": kind, "source": source, "target": target})
		}
	}
	if len(mounts) > 0 {
		doc["mounts"] = mounts
	}
	for _, key := range []string{"containerEnv", "remoteEnv"} {
		env := map[string]any{}
		for _, name := range suite.Some(r, 3, func() string { return suite.Pick(r, "PATH", "TERM", "LC_ALL", "API_KEY") }) {
			if env[name] != nil {
				continue
			}
			value := suite.Pick(r, "${localEnv:"+name+"}", "${localEnv:"+name+"}", "x", "${localEnv:HOME}", "${localEnv:"+name+":x}")
			env[name] = value
			m.Env[name] = append(m.Env[name], value)
		}
		doc[key] = env
	}
	if r.IntN(3) == 0 {
		doc["runArgs"] = suite.Pick(r, []string{"--network=none"}, []string{"--init", "--net", "none"}, []string{"--cap-add", "x", "--network", "none"})
		m.Offline = true
	}
	text, _ := json.Marshal(doc)
	return string(text), m
}

// For any development container, the result permits nothing that it does not.
func TestDevcontainerNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var writes, forwards atomic.Int64
	suite.Drawn(t, 2_000, func(r *rand.Rand) error {
		text, model := drawSettings(w, r)
		res, err := container(w, text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := w.Agrees(r, res, text, model); err != nil {
			return err
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for _, name := range []string{"PATH", "HOME", "LC_ALL", "LANG", "TERM", "API_KEY"} {
			if !view.Decide(ir.Forward{Name: name}).Allowed() {
				continue
			}
			if forwards.Add(1); !model.Passes(name) {
				return fmt.Errorf("%s\n%s\nforwards %s", text, res.Text, name)
			}
		}
		if view.Decide(ir.Access{Cap: ir.Update, On: ir.Direct(ir.In("a/x"))}).Allowed() {
			writes.Add(1)
		}
		return nil
	})
	if writes.Load() == 0 || forwards.Load() == 0 {
		t.Errorf("%d results write the workspace, %d forward a variable", writes.Load(), forwards.Load())
	}
}

// A container of which a part is elsewhere, or not understood, is refused with a place.
func TestDevcontainerMistakes(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for text, want := range map[string]string{
		`{"dockerComposeFile": "x.yml", "service": "x"}`:                                `:1:2: the mounts of Docker Compose are in another file`,
		`{"runArgs": ["--read-only"]}`:                                                  `"--read-only" may narrow`,
		`{"runArgs": ["--name", "--network", "--read-only"]}`:                           `"--read-only" may narrow`,
		`{"runArgs": ["-v", "x:/y"]}`:                                                   `"-v" may narrow`,
		`{"runArgs": ["--memory=1g"]}`:                                                  "limits as access.limits",
		`{"mounts": ["type=bind,source=/x,target=rel"]}`:                                "expected an absolute path in the container",
		`{"mounts": ["type=bind,source=/x,target=${localEnv:X}/y"]}`:                    "expected an absolute path in the container",
		`{"mounts": ["type=bind,source=/x,target=/y/../z"]}`:                            "expected an absolute path in the container",
		`{"mounts": ["type=bind,source=/x,target=/y,exec=no"]}`:                         `"exec=no" is no part of a mount`,
		`{"mounts": ["type=image,source=/x,target=/y"]}`:                                "expected a mount of the type bind, volume or tmpfs",
		`{"mounts": [{"type": "bind", "source": "/x", "target": "/y", "readonly": 1}]}`: `"readonly" is no key of a mount`,
		`{"mounts": ["type=volume,target=/y", "type=volume,target=/y/"]}`:               "two mounts at /y",
		`{"mount": []}`: `"mount" is no key of a development container in devcontainer 2026-03-17; did you mean "mounts"`,
	} {
		if _, err := container(w, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		}
	}
	elsewhere := filepath.Join(w.Home, "x/devcontainer.json")
	if err := os.WriteFile(elsewhere, []byte(`{"image": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.Imports(importer.Request{Files: []string{elsewhere}})
	if err == nil || !strings.Contains(err.Error(), "which is not the workspace") {
		t.Errorf("another folder: %v", err)
	}
}
