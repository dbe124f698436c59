package attest

import (
	"errors"
	"fmt"
	"time"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// SummaryType is the type of a verification summary, version 1
// (https://slsa.dev/spec/v1.1/verification_summary).
const SummaryType = "https://slsa.dev/verification_summary/v1"

// The constant members of a summary.
const (
	summaryVerifier = "https://github.com/accessc/accessc"
	summaryPolicy   = "https://github.com/accessc/accessc/attestation/kernel-tests/v1"
	summaryLevel    = "ACCESSC_KERNEL_TESTS"
)

// Summary says which tests of policies a kernel held. The subjects of its statement are the policies, TOOL/policy
// with the hash of the manifest.
type Summary struct {
	// Accessc is the version that tried the tests, Time when it did.
	Accessc string
	Time    time.Time
	// Project is the name that the signer gave to the project of the policies, empty for none.
	Project string
	Host    Host
	Cases   []Case
}

// Host is the system that the tests were tried on.
type Host struct {
	System       string `json:"system"`
	Architecture string `json:"architecture"`
	Kernel       string `json:"kernel"`
	ABI          int    `json:"landlock_abi"`
	// Accepted are the gaps that the call accepted.
	Accepted []string `json:"accepted,omitempty"`
}

// Case is a test.
type Case struct {
	Tool     string `json:"tool"`
	Expect   string `json:"expect"`
	Question string `json:"question"`
	// Policy is the answer of the policy, empty where it has none.
	Policy string `json:"policy,omitempty"`
	// Kernel is the answer of the kernel, empty where it was not asked.
	Kernel string `json:"kernel,omitempty"`
	Errno  string `json:"errno,omitempty"`
	// Holds is true where both answers are the expected answer, and where the ledger has a row for the
	// kernel's; Note says so, or why the kernel was not asked.
	Holds bool   `json:"holds"`
	Note  string `json:"note,omitempty"`
}

// Passed reports whether every test holds, and the kernel was asked at least once.
func (s *Summary) Passed() bool {
	asked := false
	for _, c := range s.Cases {
		if !c.Holds {
			return false
		}
		asked = asked || c.Kernel != ""
	}
	return asked
}

// summaryDocument is a summary as it is written. Members of accessc's own begin with its name, as the
// specification advises.
type summaryDocument struct {
	Verifier struct {
		ID      string            `json:"id"`
		Version map[string]string `json:"version"`
	} `json:"verifier"`
	Time     string `json:"timeVerified"`
	Resource string `json:"resourceUri"`
	Policy   struct {
		URI string `json:"uri"`
	} `json:"policy"`
	Result string   `json:"verificationResult"`
	Levels []string `json:"verifiedLevels"`
	Host   Host     `json:"accessc_host"`
	Cases  []Case   `json:"accessc_cases"`
}

// resource is the URI of a project.
const resource = "accessc:"

func (s *Summary) document() summaryDocument {
	d := summaryDocument{Time: s.Time.UTC().Format(time.RFC3339), Resource: resource + s.Project,
		Host: s.Host, Cases: s.Cases}
	d.Verifier.ID, d.Verifier.Version = summaryVerifier, map[string]string{"accessc": s.Accessc}
	d.Policy.URI = summaryPolicy
	d.Result, d.Levels = "FAILED", []string{"FAILED"}
	if s.Passed() {
		d.Result, d.Levels = "PASSED", []string{summaryLevel}
	}
	return d
}

func (s *Summary) unmarshal(data []byte) error {
	var d summaryDocument
	if err := strictjson.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("the predicate: %w", err)
	}
	var err error
	if s.Time, err = time.Parse(time.RFC3339, d.Time); err != nil {
		return errors.New("the predicate: found no time")
	}
	if len(d.Resource) < len(resource) || d.Resource[:len(resource)] != resource {
		return errors.New("the predicate: found a resource of another verifier")
	}
	s.Accessc, s.Project, s.Host, s.Cases = d.Verifier.Version["accessc"], d.Resource[len(resource):], d.Host, d.Cases
	want := s.document()
	switch {
	case d.Verifier.ID != want.Verifier.ID || d.Policy != want.Policy:
		return errors.New("the predicate: found the summary of another verifier")
	case d.Result != want.Result || len(d.Levels) != 1 || d.Levels[0] != want.Levels[0]:
		return fmt.Errorf("the predicate: found the result %.80q, which its cases do not give", d.Result)
	}
	return nil
}
