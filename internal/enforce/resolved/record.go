package resolved

import (
	"os"
	"path/filepath"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
)

// RecordingOf requests the record of a start from an artifact, with the manifest's entry of the
// tool, if there is a manifest beside it. The file may be empty.
func RecordingOf(artifact, tool, file, version string) *start.Recording {
	out := &start.Recording{File: file, Accessc: version}
	manifest := filepath.Join(filepath.Dir(filepath.Dir(artifact)), build.ManifestFile)
	for _, name := range []string{artifact, manifest} {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return out
		}
	}
	data, err := os.ReadFile(artifact)
	if err != nil {
		return out
	}
	out.Artifact = build.Hash(data)
	if data, err = os.ReadFile(manifest); err != nil {
		return out
	}
	m, err := build.ParseManifest(data)
	if err != nil {
		return out
	}
	for _, e := range m.Tools {
		if e.Name == tool && e.Artifacts[filepath.Base(artifact)] == out.Artifact {
			out.Policy = e.Hash
			// The ledger of a manifest that was edited is left out of the record.
			out.Ledger, _ = backends.Ledger(e.Ledger)
		}
	}
	return out
}

// Recording requests the record of a start from a tool's compilation.
func Recording(file, version string, t *ir.Tool, out build.Compiled) (*start.Recording, error) {
	bare, err := irjson.MarshalBare(&ir.Program{Tools: []*ir.Tool{t}})
	return &start.Recording{
		File: file, Accessc: version, Policy: build.Hash(bare), Artifact: build.Hash(out.Files[start.Artifact]),
		Ledger: out.Ledger,
	}, err
}
