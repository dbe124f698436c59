package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
)

//go:embed files/accessc.rb files/install.sh
var texts embed.FS

// fill fills a text in and puts it into the release.
func (r *release) fill(name string, values any) error {
	t, err := template.ParseFS(texts, "files/"+name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return err
	}
	return r.put(name, b.Bytes())
}

func names() []string {
	var out []string
	for _, of := range programs {
		out = append(out, of.name)
	}
	return out
}

// hashes are the SHA-256 of the files so far in hexadecimal digits, by name.
func (r *release) hashes() (map[string]string, error) {
	files, err := subjects(r.out)
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = strings.TrimPrefix(f.Hash, "sha256:")
	}
	return out, err
}

// formula writes the formula for a tap of Homebrew (https://docs.brew.sh/Formula-Cookbook).
func (r *release) formula() error {
	type architecture struct{ Name, File, Hash string }
	type system struct {
		Name          string
		Architectures []architecture
	}
	hashes, err := r.hashes()
	if err != nil {
		return err
	}
	systems := []system{{Name: "macos"}, {Name: "linux"}}
	for _, p := range platforms {
		arch := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
		for i := range systems {
			if systems[i].Name == strings.Replace(p.os, "darwin", "macos", 1) {
				systems[i].Architectures = append(systems[i].Architectures,
					architecture{arch, r.archive(p), hashes[r.archive(p)]})
			}
		}
	}
	return r.fill("accessc.rb", object{"Description": description, "Repository": repository, "Version": r.version,
		"Downloads": r.downloads(), "Systems": systems, "Programs": names()})
}

// scoop writes the manifest for a bucket of Scoop (https://github.com/ScoopInstaller/Scoop/blob/master/schema.json).
func (r *release) scoop() error {
	hashes, err := r.hashes()
	if err != nil {
		return err
	}
	architectures, updates := object{}, object{}
	var bin []string
	for _, of := range programs {
		bin = append(bin, of.name+".exe")
	}
	for _, p := range platforms {
		if p.os != "windows" {
			continue
		}
		name := map[string]string{"amd64": "64bit", "arm64": "arm64"}[p.arch]
		architectures[name] = object{
			"url": r.downloads() + "/" + r.archive(p), "hash": hashes[r.archive(p)], "extract_dir": r.base(p)}
		newer := strings.NewReplacer(r.version, "$version").Replace
		updates[name] = object{"url": newer(r.downloads() + "/" + r.archive(p)), "extract_dir": newer(r.base(p))}
	}
	data, err := json.MarshalIndent(object{
		"version": r.version, "description": description, "homepage": repository, "license": "Apache-2.0",
		"architecture": architectures, "bin": bin, "checkver": "github",
		"autoupdate": object{"architecture": updates, "hash": object{"url": "$baseurl/" + checksumsFile}},
	}, "", "    ")
	if err != nil {
		return err
	}
	return r.put("accessc.json", append(data, '\n'))
}

// installer writes install.sh, which has the key that checks the release.
func (r *release) installer() error {
	type on struct{ Pattern, Name string }
	var systems []on
	for _, p := range platforms {
		if p.system == "" {
			continue
		}
		var patterns []string
		for _, machine := range strings.Split(p.machines, "|") {
			patterns = append(patterns, p.system+"/"+machine)
		}
		systems = append(systems, on{strings.Join(patterns, "|"), p.os + "-" + p.arch})
	}
	authorized, err := r.key.authorized()
	if err != nil {
		return err
	}
	pem, err := r.key.pem()
	if err != nil {
		return err
	}
	return r.fill("install.sh", object{"Version": r.version, "Downloads": r.downloads(), "Key": authorized,
		"PEM": strings.TrimSpace(string(pem)), "Namespace": namespace, "Length": fmt.Sprintf("%03o", len(namespace)),
		"Platforms": systems, "Programs": names(), "Trial": r.trial})
}

// papers writes what a person reads.
func (r *release) papers() error {
	for _, name := range []string{"notes.md", "LICENSE", "THIRD-PARTY-LICENSES"} {
		data, err := r.paper(name)
		if err != nil {
			return err
		}
		if err := r.put(name, data); err != nil {
			return err
		}
	}
	return nil
}
