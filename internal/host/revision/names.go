package revision

import (
	"context"
	"strings"
)

// maxNames bounds how many branches and tags are listed.
const maxNames = "--count=1000"

// Names lists the branches and tags that a revision may be named by, the latest first.
func (r *Repository) Names() ([]string, error) {
	git, err := r.program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	out, err := r.ask(ctx, git, "for-each-ref", maxNames, "--sort=-creatordate", "--format=%(refname:short)",
		"refs/heads", "refs/tags", "refs/remotes")
	return strings.Fields(out), err
}
