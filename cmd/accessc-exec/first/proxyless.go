//go:build accessc_noegress || !(linux || darwin)

package first

// proxyless is set where the egress proxy is left out: artifacts that need it are refused.
const proxyless = true
