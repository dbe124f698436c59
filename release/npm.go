package main

import (
	_ "embed"
	"encoding/json"
	"os"
)

//go:embed files/launch.js
var launcher []byte

// npm writes the package accessc, whose programs start those of one further package for each platform. npm installs the
// one whose os and cpu are the machine's (https://docs.npmjs.com/cli/configuring-npm/package-json), and nothing runs
// while it does.
func (r *release) npm() error {
	optional, bin := map[string]string{}, map[string]string{}
	license, err := r.paper("LICENSE")
	if err != nil {
		return err
	}
	third, err := r.paper("THIRD-PARTY-LICENSES")
	if err != nil {
		return err
	}
	readme, err := r.paper("README.md")
	if err != nil {
		return err
	}
	legal := []entry{{"package/LICENSE", 0o644, license}, {"package/THIRD-PARTY-LICENSES", 0o644, third}}
	for _, p := range platforms {
		name := "@accessc/" + p.npm + "-" + p.cpu
		optional[name] = r.version
		entries := append([]entry{}, legal...)
		for _, of := range programs {
			data, err := os.ReadFile(r.binary(p, of))
			if err != nil {
				return err
			}
			entries = append(entries, entry{"package/bin/" + of.name + p.exe(), 0o755, data})
		}
		if err := r.pack("accessc-"+p.npm+"-"+p.cpu, entries, npmPackage{
			Name: name, Description: "The programs of accessc for " + p.npm + " on " + p.cpu,
			OS: []string{p.npm}, CPU: []string{p.cpu},
		}); err != nil {
			return err
		}
	}
	entries := append([]entry{{"package/launch.js", 0o644, launcher},
		{"package/README.md", 0o644, readme}}, legal[:1]...)
	for _, of := range programs {
		bin[of.name] = "bin/" + of.name + ".js"
		text := "#!/usr/bin/env node\nrequire(\"../launch.js\")(\"" + of.name + "\");\n"
		entries = append(entries, entry{"package/bin/" + of.name + ".js", 0o755, []byte(text)})
	}
	return r.pack("accessc", entries, npmPackage{
		Name: "accessc", Description: description, Bin: bin, Optional: optional,
		Engines: map[string]string{"node": ">=18"},
	})
}

// npmPackage is package.json.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	Engines     map[string]string `json:"engines,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// pack writes a package as npm pack does.
func (r *release) pack(file string, entries []entry, about npmPackage) error {
	about.Version, about.License, about.Homepage = r.version, "Apache-2.0", repository
	about.Repository = map[string]string{"type": "git", "url": "git+" + repository + ".git"}
	data, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	data, err = r.tarred(append(entries, entry{"package/package.json", 0o644, append(data, '\n')}))
	if err != nil {
		return err
	}
	return r.put("npm-"+file+"-"+r.version+".tgz", data)
}
