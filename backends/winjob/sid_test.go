package winjob

import (
	"strings"
	"testing"
)

// The identifier is the identifier that Windows itself shows for the Edge package.
func TestSIDs(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{
			PackageSID("microsoft.microsoftedge_8wekyb3d8bbwe"),
			"S-1-15-2-3624051433-2125758914-1423191267-1740899205-1073925389-3782572162-737981194",
		},
		{
			PackageSID("Microsoft.MicrosoftEdge_8WEKYB3D8BBWE"),
			"S-1-15-2-3624051433-2125758914-1423191267-1740899205-1073925389-3782572162-737981194",
		},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func TestContainerName(t *testing.T) {
	seen := map[string]string{}
	for _, tool := range []string{
		"fmt", "Fmt", "a b", "a_b", "a-b", "ä", "ü", "", "a/b", `a\b`, strings.Repeat("x", 300), strings.Repeat("x", 301),
	} {
		name := containerName(tool)
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %q", tool, other, name)
		}
		seen[name] = tool
		run, err := RunName(name, "0123456789abcdef")
		if err != nil || len(run) > maxContainerName {
			t.Errorf("%q: %q, %v", tool, run, err)
		}
		for i := range len(name) {
			if !nameRune(name[i]) {
				t.Errorf("%q: %q holds %q", tool, name, name[i])
			}
		}
	}
	if got, want := containerName("fmt"), "accessc.fmt.c63e082d"; got != want {
		t.Errorf("got %q, want %q; the name must not change between versions", got, want)
	}
}

func TestRunNameRefuses(t *testing.T) {
	for _, run := range []string{"", "A", "a.b", "a-b ", "ä", "0123456789abcdef0", `a\b`} {
		if name, err := RunName(containerName("fmt"), run); err == nil {
			t.Errorf("%q gave %q", run, name)
		}
	}
	if name, err := RunName(strings.Repeat("x", 60), "abcd"); err == nil {
		t.Errorf("65 characters gave %q", name)
	}
}

// TestConsoleUpdated: each build has a revision of its own with the update of October 2021, and later builds have it
// from the beginning.
func TestConsoleUpdated(t *testing.T) {
	for _, u := range consoleUpdates {
		build, least := u.build, u.least
		if ConsoleUpdated(build, least-1) || !ConsoleUpdated(build, least) || !ConsoleUpdated(build, least+1) {
			t.Errorf("build %d", build)
		}
	}
	for build, want := range map[uint32]bool{MinimumBuild: false, 18362: false, 18363: false, 19043: false, 19044: true, 20348: false, 22000: false, 22621: true, 26100: true} {
		if ConsoleUpdated(build, 0) != want {
			t.Errorf("build %d", build)
		}
	}
	if !ConsoleUpdated(17763, 2237) || ConsoleUpdated(17763, 2213) {
		t.Error("the update of October 2021 is revision 2237 of build 17763")
	}
}
