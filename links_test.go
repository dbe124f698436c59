package accessc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	pageAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	codeBlock   = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestLinksResolve: every relative link of a page leads to a file of the repository, and to a heading of it if it names
// one.
func TestLinksResolve(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, page := range strings.Fields(string(out)) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages[page] = codeBlock.ReplaceAllString(string(text), "")
	}
	links := 0
	for page, text := range pages {
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			at := page
			if file != "" {
				at = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if text, ok := pages[at]; ok && anchor != "" && !anchors(text)[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if len(pages) < 20 || links < 100 {
		t.Errorf("found %d links in %d pages", links, len(pages))
	}
}

// anchors are the names by which a page's headings are linked to: lower case, with hyphens for blanks and without other
// marks.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range pageAnchor.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	for _, m := range pageHeading.FindAllStringSubmatch(text, -1) {
		out[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))] = true
	}
	return out
}

// TestMessagesNamePages: pages that the command's messages and help name are there. Cause: a page was merged into another
// page, and a refusal led people to the old one.
func TestMessagesNamePages(t *testing.T) {
	page := regexp.MustCompile(`docs/[a-z/-]+\.md`)
	found := 0
	for _, file := range goFiles(t) {
		if !strings.Contains(filepath.ToSlash(file), "/cmd/accessc/") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range page.FindAllString(string(code), -1) {
			found++
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s names %s, which is not there", file, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d pages", found)
	}
}
