package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/test/irtest"
)

// Needs skips a test where one of some programs is not there.
func Needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
}

// AccessTries reads and writes each path of its arguments, and prints the accesses that worked. It removes the files
// that it makes.
const AccessTries = `for f do
	if [ -d "$f" ]; then ls "$f" >/dev/null 2>&1 && echo "r $f"
	else cat "$f" >/dev/null 2>&1 && echo "r $f"; fi
	if [ -d "$f" ]; then (: > "$f/zz-made") 2>/dev/null && rm -f "$f/zz-made" && echo "w $f"
	elif [ -e "$f" ]; then (: >> "$f") 2>/dev/null && echo "w $f"
	else (: > "$f") 2>/dev/null && rm -f "$f" && echo "w $f"; fi
done
echo done
`

// Asked are the paths that srt is asked about.
func (w *World) Asked() []string {
	var out []string
	for _, rel := range []string{
		"ws/.env", "ws/a", "ws/a/.env", "ws/a/b/k.pem", "ws/a/.vscode/x", "ws/src", "ws/src/a/k.pem",
		"ws/src/.git/hooks/x", "ws/new", "ws/a/new", "ws/src/new",
		"ws/.bashrc", "ws/.mcp.json", "x", "x/y/k.pem", "x/.env", "x/new", "x/y/new",
	} {
		out = append(out, w.Home+"/"+rel)
	}
	return out
}

func exists(abs string) bool {
	_, err := os.Lstat(abs)
	return err == nil
}

// OracleRounds is how many settings a program is asked about.
func OracleRounds(everyday, full int) int {
	if irtest.Full() {
		return full
	}
	return everyday
}

// Compare finds verdicts of an evaluation that a program does not share, and counts those that it does.
func (w *World) Compare(t *testing.T, settings string, model foreign.Policy, said []string) (compared, same int) {
	for _, abs := range w.Asked() {
		for _, op := range []string{"r", "w"} {
			permits := model.Reads(abs)
			if op == "w" {
				permits = model.Writes(abs) && exists(filepath.Dir(abs))
			} else if !exists(abs) {
				continue
			}
			compared++
			real := slices.Contains(said, op+" "+abs)
			if permits == real {
				same++
			}
			if permits && !real {
				t.Errorf("%s\nthe evaluation permits %s %s, and the program does not", settings, op, abs)
			}
		}
	}
	return compared, same
}
