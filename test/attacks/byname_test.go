//go:build linux

package attacks_test

import (
	"os"
	"strings"
	"testing"
)

// TestByName: what rules close by its name is not had by another spelling, descriptor, name or directory, and no such
// name is made, by any call; also names of bytes that are no text, and of the greatest length.
func TestByName(t *testing.T) {
	run(t, []scene{{
		name: "names that rules close",
		toml: `
access.fs = [
  { path = ".", read = true, write = true },
  { path = "bin", read = true, execute = true },
  { path = ".", names = [".env", "*.pem", "v?lt", "vault"] },
  { path = "open/k.pem", read = true },
]`,
		setup: func(p *place) {
			for _, name := range []string{
				"a/.env", "a/b/k.pem", "vault/k", "vault/sub/k", "a/x\xff.pem", "a/" + strings.Repeat("n", 251) + ".pem",
			} {
				p.write(name, secret)
			}
			for _, name := range []string{"a/plain", "open/k.pem", "cart/deep/.env", "cart/deep/f"} {
				p.write(name, "fine")
			}
			p.mkdir("src")
			p.symlink("../a/.env", "src/link")
			p.symlink("a/plain", "l.pem")
		},
		denied: []string{
			"read a/.env", "read a/b/k.pem", "read vault", "read vault/k", "read src/link", "update a/.env", "delete vault/k",
			"create src/.env", "create src/volt/", "create vault/new", "link a/.env src/l", "rename a/.env src/m",
			"exchange a/.env a/plain", "rename a/plain src/x.pem", "link a/plain src/x.pem", "rename vault src/v",
			"rename a src/volt",
		},
		allowed: []string{
			"read a/plain", "read open/k.pem", "read l.pem", "create src/ok", "rename cart src/cart2", "rename a/plain src/plain",
		},
		tool: "byname",
		good: []string{
			"a directory moves", "read", "a path in it", "a link of such a name", "create and move", "names beside it",
		},
		root: true,
		verdict: func(t *testing.T, p *place, _ string) {
			entries, err := os.ReadDir(p.path("src"))
			p.must(err)
			for _, e := range entries {
				found := e.Name()
				if strings.HasSuffix(found, ".env") || strings.HasSuffix(found, ".pem") || found == "volt" || found == "vilt" {
					t.Errorf("src/%q has appeared", found)
				}
			}
		},
	}})
}
