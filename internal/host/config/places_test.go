//go:build unix

package config

import "testing"

// TestPlacesOfNoFile: presets and keys that were set are in no file of a repository.
func TestPlacesOfNoFile(t *testing.T) {
	dir := t.TempDir()
	places := Flags{}.Places(dir)
	none := []string{"preset:npm-registry@1", "preset:rust", "--set[0]", "--config", "../beside/accessc.toml", "/etc/x"}
	for _, name := range none {
		if file, ok := places(name); ok {
			t.Errorf("%s is %s", name, file)
		}
	}
	for _, name := range []string{"accessc.toml", ".jp/config.toml", "./preset:file"} {
		if _, ok := places(name); !ok {
			t.Errorf("%s is no file of the repository", name)
		}
	}
}
