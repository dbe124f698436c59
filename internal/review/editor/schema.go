package editor

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// schema is the part of a JSON Schema by which keys and values are proposed.
type schema struct {
	Properties map[string]*schema `json:"properties"`
	Patterns   map[string]*schema `json:"patternProperties"`
	Others     *schema            `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
	Type       any                `json:"type"`
	Doc        string             `json:"description"`
}

// UnmarshalJSON reads true and false, which say nothing of keys, as schemas without any.
func (s *schema) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	type object schema
	return json.Unmarshal(data, (*object)(s))
}

func readSchema(text string) (*schema, error) {
	var s schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("the schema of the configuration: %w", err)
	}
	return &s, nil
}

// at walks down keys. Of an array the elements are meant.
func (s *schema) at(keys ...string) *schema {
	for _, k := range keys {
		if s == nil {
			return nil
		}
		if s.Properties[k] == nil {
			s = s.element()
		}
		next := s.Properties[k]
		for pattern, p := range s.Patterns {
			if ok, err := regexp.MatchString(pattern, k); next == nil && err == nil && ok {
				next = p
			}
		}
		if next == nil {
			next = s.Others
		}
		s = next
	}
	return s
}

// element is what an array is of, and otherwise the schema itself.
func (s *schema) element() *schema {
	for s != nil && s.Items != nil {
		s = s.Items
	}
	return s
}

// doc says what it is about.
func (s *schema) doc() string {
	if s == nil {
		return ""
	}
	return s.Doc
}

// keys are the names of its properties, in order.
func (s *schema) keys() []string {
	if s = s.element(); s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// values are the values that it lists, as TOML.
func (s *schema) values() (out []string) {
	if s = s.element(); s == nil {
		return nil
	}
	for _, v := range s.Enum {
		switch v := v.(type) {
		case string:
			out = append(out, `"`+v+`"`)
		case bool, float64:
			out = append(out, fmt.Sprint(v))
		}
	}
	if s.Type == "boolean" && len(out) == 0 {
		out = []string{"true", "false"}
	}
	return out
}
