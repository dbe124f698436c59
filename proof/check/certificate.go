package check

import (
	"fmt"
	"slices"
	"strings"
)

// The certificate's file, format and version.
const (
	File    = "certificate.json"
	Format  = "accessc/certificate"
	Version = 1
)

// Certificate shows for each artifact of a build that it means its tool's policy. What many classes have alike stands
// once, in tables: the numbers elsewhere count their lines from 0.
type Certificate struct {
	Format      string      `json:"format"`
	Version     int         `json:"format_version"`
	Form        string      `json:"form"`
	Policy      string      `json:"policy_sha256"`   // as in the manifest
	Manifest    string      `json:"manifest_sha256"` // of its text
	Assumptions Assumptions `json:"assumptions"`
	// Targets are representatives: places, hosts, names of variables and so on. Moves have two, with // between.
	Targets []string `json:"targets"`
	// Verdicts are sets of acts by their letters (Verdict.String).
	Verdicts []string `json:"verdicts"`
	// Answers are the verdicts of a text at each of its levels.
	Answers [][]int `json:"answers"`
	// Rows are rows of ledgers that state a difference.
	Rows []Reason `json:"rows"`
	// Reasons are the rows that together explain the differences of a class.
	Reasons [][]int `json:"reasons"`
	// Parts are lists of classes.
	Parts []Part  `json:"parts"`
	Texts []Claim `json:"texts"`
}

// Assumptions are what the checker cannot know: it takes them for true and prints them.
type Assumptions struct {
	// Models says by the name of the artifact's file what the system does with it.
	Models map[string]string `json:"models"`
	// Bases are the lists of the base in the order of their rules.
	Bases []Base `json:"bases"`
	// Protected is the list of protected paths, empty where no policy has it.
	Protected []ProtectedPath `json:"protected"`
	// ProtectedVersion is the version of the list.
	ProtectedVersion int `json:"protected_version"`
	// Unread are artifacts for which there is no model: nothing is shown about them.
	Unread []string `json:"unread"`
}

// Base is what every tool may do outside of the workspace.
type Base struct {
	Name     string     `json:"name"`
	Version  int        `json:"version"`
	Platform string     `json:"platform"`
	Places   []BasePath `json:"places"`
}

// BasePath is a place of a base.
type BasePath struct {
	Path string   `json:"path"`
	Caps []string `json:"caps"`
}

// Reason is a row of a ledger as far as it is about one cell.
type Reason struct {
	Resource string   `json:"resource"`
	Rule     string   `json:"rule"`
	Aspect   string   `json:"aspect"`
	From     int      `json:"from_level"`
	To       int      `json:"to_level"`
	Is       string   `json:"is"`
	Causes   []string `json:"causes,omitempty"`
}

// Part is a list of classes of one kind.
type Part struct {
	Kind    Kind    `json:"kind"`
	Classes []Class `json:"classes"`
}

// Class is a list of at least three numbers: of the policy's verdict in Verdicts, the text's in Answers, the
// explanation in Reasons, which is -1 where both say the same, and of the targets in Targets: the representative, and
// all others that the policy or the text mentions of this class.
type Class []int

// Claim is what the certificate says of one artifact.
type Claim struct {
	Tool   string  `json:"tool"`
	File   string  `json:"file"`
	Hash   string  `json:"sha256"`
	Levels []Level `json:"levels"`
	Parts  []int   `json:"parts"`
}

// letters are those of the acts on places.
const letters = "rlwtcfmsikdexap"

// String writes the acts of Files, those on late names behind a slash where they are others.
func (v Verdict) String() string {
	set := func(v Verdict) string {
		var b strings.Builder
		for i := range acts {
			if v&(1<<i) != 0 {
				b.WriteByte(letters[i])
			}
		}
		return b.String()
	}
	if late := v >> Late; late != v&(1<<Late-1) {
		return set(v) + "/" + set(late)
	}
	return set(v)
}

// Text writes a verdict about a kind of question.
func (v Verdict) Text(k Kind) string {
	if k == Files {
		return v.String()
	}
	return itoa(int(v))
}

// base is a list of the base.
func (a *Assumptions) base(name string, version int, platform string) ([]BasePath, error) {
	for _, b := range a.Bases {
		if b.Name == name && b.Version == version && b.Platform == platform {
			return b.Places, nil
		}
	}
	if name == "none" {
		return nil, nil
	}
	return nil, fmt.Errorf("the certificate does not say what base %s, version %d, is on %s", name, version, platform)
}

func (a *Assumptions) protected(version int) ([]ProtectedPath, error) {
	if a.ProtectedVersion != version {
		return nil, fmt.Errorf("the certificate has version %d of the protected paths, the policy is of version %d",
			a.ProtectedVersion, version)
	}
	return slices.Clone(a.Protected), nil
}
