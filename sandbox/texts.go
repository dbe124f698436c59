package sandbox

import "encoding/json"

// texts are arguments and variables on their way to another process of the host's program. They may have any bytes, of which a
// string of JSON would have other ones in place of those that are not UTF-8.
type texts []string

// MarshalJSON implements json.Marshaler.
func (t texts) MarshalJSON() ([]byte, error) {
	out := make([][]byte, len(t))
	for i, text := range t {
		out[i] = []byte(text)
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	var in [][]byte
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = make(texts, len(in))
	for i, text := range in {
		(*t)[i] = string(text)
	}
	return nil
}
