package check

// What the tests of the models use, which import packages that import this one.
var (
	ActCaps   = actCaps
	PlainName = plainName
	Child     = child
	Within    = within
)

// ReadText has a model read a text that leaves nothing to a judge.
func ReadText(file string, data []byte) (Text, error) {
	m, _ := modelOf(file)
	return m.Read(data, nil)
}
