package mount

import "testing"

// TestGuardedNames: nothing is mounted in a guarded directory, whatever the case of its name: some file systems do not
// tell cases apart.
func TestGuardedNames(t *testing.T) {
	for name, good := range map[string]bool{
		"data": true, "a/b": true, "gitx": true, ".git/x": false, ".GIT/x": false, "a/.Git": false, ".JP": false, ".Accessc/x": false,
	} {
		if _, err := ruleName("", name); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
