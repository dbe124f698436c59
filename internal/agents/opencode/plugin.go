package opencode

import _ "embed" // the plugin

// plugin is the plugin that starts accessc for each event, and throws where that refuses or fails.
//
//go:embed plugin.js
var plugin []byte
