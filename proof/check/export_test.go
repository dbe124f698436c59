package check

// What the tests of the models use, which import packages that import this one.
var (
	Models    = models
	ActCaps   = actCaps
	PlainName = plainName
	Child     = child
	Within    = within
)
