package backends_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/test/irtest"
)

// TestJSONLayout: values that fit are on one line, lists of objects have a line each, long
// lists are filled.
func TestJSONLayout(t *testing.T) {
	long := make([]string, 30)
	for i := range long {
		long[i] = "word"
	}
	got, err := backends.JSON(map[string]any{
		"a": []int{1, 2}, "b": []any{map[string]int{"x": 1}, map[string]int{"x": 2}}, "c": long, "d": map[string]any{}, "e": []int{},
		"f": []any{map[string]int{"x": 1}}, "g": "a,b:[{\"\\",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "a": [1, 2],
  "b": [
    {"x": 1},
    {"x": 2}
  ],
  "c": [
    "word", "word", "word", "word", "word", "word", "word", "word", "word", "word", "word", "word",
    "word", "word", "word", "word", "word", "word", "word", "word", "word", "word", "word", "word",
    "word", "word", "word", "word", "word", "word"
  ],
  "d": {},
  "e": [],
  "f": [{"x": 1}],
  "g": "a,b:[{\"\\"
}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestJSONMeansTheSame: for every value the layout does not change its meaning.
func TestJSONMeansTheSame(t *testing.T) {
	irtest.Check(t, 3000, 1, func(rt *rapid.T) {
		v := drawValue(rt, 4)
		data, err := backends.JSON(v)
		if err != nil {
			rt.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(data, &back); err != nil {
			rt.Fatalf("%v\n%s", err, data)
		}
		if !reflect.DeepEqual(v, back) {
			rt.Fatalf("%#v became\n%s", v, data)
		}
		if strings.Contains(string(data), " \n") {
			rt.Fatalf("a line ends in a blank:\n%q", data)
		}
	})
}

func drawValue(t *rapid.T, depth int) any {
	switch k := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case k == 0 && depth > 0:
		out := []any{}
		for range rapid.IntRange(0, 8).Draw(t, "items") {
			out = append(out, drawValue(t, depth-1))
		}
		return out
	case k == 1 && depth > 0:
		out := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "members") {
			out[rapid.StringN(0, 12, 40).Draw(t, "key")] = drawValue(t, depth-1)
		}
		return out
	case k == 2:
		return rapid.Bool().Draw(t, "bool")
	case k == 3:
		return nil
	case k == 4:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, "number"))
	default:
		return rapid.StringN(0, 30, 90).Draw(t, "string")
	}
}
