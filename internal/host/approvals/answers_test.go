package approvals

import (
	"strings"
	"testing"
	"time"
)

func answer(session, tool string, at time.Time, r Reply, reaches ...string) func(*Store) error {
	return func(s *Store) error {
		s.Answer(Answer{Session: session, Tool: tool, Reaches: reaches, Reply: r, At: at})
		return nil
	}
}

// TestAnswers: a reply counts for its session, its tool and its paths.
func TestAnswers(t *testing.T) {
	path := newStore(t, `{"mounts": [{"rule_path": "fork", "canonical_target": "/code"}], "other": 1}`)
	mustUpdate(t, path, answer("s1", "edit", noon, Yes, ".env read", "a/.env read"))
	mustUpdate(t, path, answer("s1", "read", noon, No, ".env read"))
	mustUpdate(t, path, answer("s2", "edit", noon, Warned, ".env read"))
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, tool, reaches string
		want                   Reply
		known                  bool
	}{
		{"s1", "edit", ".env read", Yes, true},
		{"s1", "edit", "a/.env read,.env read", Yes, true},
		{"s1", "edit", ".env read update", Yes, false},
		{"s1", "read", ".env read", No, true},
		{"s2", "edit", ".env read", Warned, true},
		{"s2", "edit", "a/.env read", Warned, false},
		{"s3", "edit", ".env read", "", false},
		{"s2", "read", ".env read", "", false},
	} {
		got, known := s.Answered(c.session, c.tool, strings.Split(c.reaches, ","))
		if known != c.known || known && got != c.want {
			t.Errorf("%v: %q %v", c, got, known)
		}
	}
	if status, _ := s.Lookup("fork", "/code"); status != Approved || !strings.Contains(text(t, path), `"other": 1`) {
		t.Error(text(t, path))
	}
	// A later reply takes the place of the earlier one; old ones go.
	mustUpdate(t, path, answer("s1", "edit", noon.Add(40*24*time.Hour), No, ".env read"))
	if s, _ = Load(path); len(s.doc.answers) != 1 || s.doc.answers[0].Reply != No {
		t.Error(s.doc.answers)
	}
	mustUpdate(t, path, func(s *Store) error {
		if n := s.ForgetAnswers(); n != 1 {
			t.Error(n)
		}
		return nil
	})
	if s, _ = Load(path); len(s.doc.answers) != 0 || len(s.Mounts()) != 1 {
		t.Error(text(t, path))
	}
}

// TestAnswersAreBounded: the store does not grow for ever.
func TestAnswersAreBounded(t *testing.T) {
	var s Store
	for i := range maxAnswers + 10 {
		s.Answer(Answer{Session: time.Duration(i).String(), Tool: "x", At: noon})
	}
	if len(s.doc.answers) != maxAnswers {
		t.Error(len(s.doc.answers))
	}
}
