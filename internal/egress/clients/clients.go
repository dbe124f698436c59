// Package clients knows the environment variables by which the usual clients find a proxy and the
// authorities that they trust.
package clients

import (
	"net/url"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Kind is the kind of a variable's value.
type Kind uint8

// The kinds of variables, the variables about proxies first.
const (
	// Proxy is the URL of the proxy.
	Proxy Kind = iota + 1
	// Direct lists the hosts that are reached without the proxy.
	Direct
	// Switch is 1 where the other variables about proxies are to be read.
	Switch
	// JavaProxy are options of the Java virtual machine that name the proxy.
	JavaProxy
	// Bundle is a PEM file of authorities.
	Bundle
	// JavaBundle are options of the Java virtual machine that name a PKCS#12 file of authorities.
	JavaBundle
)

// A Variable is a variable that a client reads.
type Variable struct {
	Client string
	Name   string
	Kind   Kind
	// Only is the system on which the client reads it, zero for all.
	Only ir.Platform
	// Source documents it.
	Source string
}

// Sources that several rows have.
const (
	curlProxy   = "https://curl.se/docs/manpage.html#ENVIRONMENT"
	gitProxy    = "https://git-scm.com/docs/git-config#Documentation/git-config.txt-httpproxy"
	npmProxy    = "https://docs.npmjs.com/cli/v11/using-npm/config#https-proxy"
	pipProxy    = "https://pip.pypa.io/en/stable/user_guide/#using-a-proxy-server"
	requestsDoc = "https://requests.readthedocs.io/en/latest/user/advanced/#proxies"
	urllibProxy = "https://docs.python.org/3/library/urllib.request.html#urllib.request.getproxies"
	goProxy     = "https://pkg.go.dev/net/http#ProxyFromEnvironment"
	nodeProxy   = "https://nodejs.org/learn/http/enterprise-network-configuration"
	cargoProxy  = "https://doc.rust-lang.org/cargo/reference/config.html#httpproxy"
	javaOptions = "https://docs.oracle.com/en/java/javase/21/docs/specs/jvmti.html#tooloptions"
	gradleDoc   = "https://docs.gradle.org/userguide/networking.html"
)

// Table has a row for each client and variable. A client on Java cannot give the proxy a password,
// and a client in Go on macOS trusts only the keychain (crypto/x509, root_darwin.go).
var Table = []Variable{
	{Client: "curl", Name: "http_proxy", Kind: Proxy, Source: curlProxy},
	{Client: "curl", Name: "https_proxy", Kind: Proxy, Source: curlProxy},
	{Client: "curl", Name: "all_proxy", Kind: Proxy, Source: curlProxy},
	{Client: "curl", Name: "ALL_PROXY", Kind: Proxy, Source: curlProxy},
	{Client: "curl", Name: "no_proxy", Kind: Direct, Source: curlProxy},
	{Client: "curl", Name: "all_proxy", Kind: Proxy, Source: curlProxy},
	{Client: "curl", Name: "NO_PROXY", Kind: Direct, Source: curlProxy},
	{Client: "gRPC", Name: "grpc_proxy", Kind: Proxy,
		Source: "https://grpc.github.io/grpc/core/md_doc_environment_variables.html"},
	{Client: "git", Name: "http_proxy", Kind: Proxy, Source: gitProxy},
	{Client: "git", Name: "https_proxy", Kind: Proxy, Source: gitProxy},
	{Client: "npm", Name: "HTTP_PROXY", Kind: Proxy, Source: npmProxy},
	{Client: "npm", Name: "HTTPS_PROXY", Kind: Proxy, Source: npmProxy},
	{Client: "pip", Name: "http_proxy", Kind: Proxy, Source: pipProxy},
	{Client: "pip", Name: "https_proxy", Kind: Proxy, Source: pipProxy},
	{Client: "requests", Name: "HTTP_PROXY", Kind: Proxy, Source: requestsDoc},
	{Client: "requests", Name: "HTTPS_PROXY", Kind: Proxy, Source: requestsDoc},
	{Client: "requests", Name: "NO_PROXY", Kind: Direct, Source: requestsDoc},
	{Client: "python", Name: "http_proxy", Kind: Proxy, Source: urllibProxy},
	{Client: "python", Name: "https_proxy", Kind: Proxy, Source: urllibProxy},
	{Client: "go", Name: "HTTP_PROXY", Kind: Proxy, Source: goProxy},
	{Client: "go", Name: "HTTPS_PROXY", Kind: Proxy, Source: goProxy},
	{Client: "cargo", Name: "http_proxy", Kind: Proxy, Source: cargoProxy},
	{Client: "cargo", Name: "https_proxy", Kind: Proxy, Source: cargoProxy},
	{Client: "node", Name: "HTTP_PROXY", Kind: Proxy, Source: nodeProxy},
	{Client: "node", Name: "HTTPS_PROXY", Kind: Proxy, Source: nodeProxy},
	// Read since versions 22.21 and 24.5.
	{Client: "node", Name: "NODE_USE_ENV_PROXY", Kind: Switch, Source: nodeProxy},
	{Client: "grpc", Name: "grpc_proxy", Kind: Proxy,
		Source: "https://grpc.github.io/grpc/core/md_doc_environment_variables.html"},
	{Client: "java", Name: "JAVA_TOOL_OPTIONS", Kind: JavaProxy, Source: javaOptions},
	{Client: "gradle", Name: "JAVA_TOOL_OPTIONS", Kind: JavaProxy, Source: gradleDoc},

	{Client: "curl", Name: "CURL_CA_BUNDLE", Kind: Bundle, Source: curlProxy},
	{Client: "git", Name: "GIT_SSL_CAINFO", Kind: Bundle,
		Source: "https://git-scm.com/docs/git-config#Documentation/git-config.txt-httpsslCAInfo"},
	// A cafile in .npmrc, which this variable replaces, would replace node's.
	{Client: "npm", Name: "npm_config_cafile", Kind: Bundle,
		Source: "https://docs.npmjs.com/cli/v11/using-npm/config#cafile"},
	{Client: "node", Name: "NODE_EXTRA_CA_CERTS", Kind: Bundle,
		Source: "https://nodejs.org/api/cli.html#node_extra_ca_certsfile"},
	{Client: "pip", Name: "PIP_CERT", Kind: Bundle, Source: "https://pip.pypa.io/en/stable/topics/https-certificates/"},
	{Client: "requests", Name: "REQUESTS_CA_BUNDLE", Kind: Bundle,
		Source: "https://requests.readthedocs.io/en/latest/user/advanced/#ssl-cert-verification"},
	{Client: "python", Name: "SSL_CERT_FILE", Kind: Bundle,
		Source: "https://docs.python.org/3/library/ssl.html#ssl.get_default_verify_paths"},
	{Client: "go", Name: "SSL_CERT_FILE", Kind: Bundle, Only: ir.Linux,
		Source: "https://pkg.go.dev/crypto/x509#SystemCertPool"},
	{Client: "cargo", Name: "CARGO_HTTP_CAINFO", Kind: Bundle,
		Source: "https://doc.rust-lang.org/cargo/reference/config.html#httpcainfo"},
	{Client: "java", Name: "JAVA_TOOL_OPTIONS", Kind: JavaBundle,
		Source: "https://docs.oracle.com/en/java/javase/21/security/java-secure-socket-extension-jsse-reference-guide.html"},
	{Client: "gradle", Name: "JAVA_TOOL_OPTIONS", Kind: JavaBundle, Source: gradleDoc},
}

// loopback stays direct: it leads to no other host, the proxy does not know where the tool itself
// listens, and clients in Go and Java never use a proxy for it.
const loopback = "localhost,127.0.0.1,::1"

// The files of a run's directory that hold the authorities which clients trust.
const (
	PEMFile    = "roots.pem"
	PKCS12File = "roots.p12"
)

// A Setup is the proxy and the files of a run for its clients.
type Setup struct {
	// Proxy is nil where connections reach the proxy by themselves.
	Proxy *url.URL
	// PEM and PKCS12 are files with the authorities of the host and of the run, empty where
	// nothing is inspected. Most clients take them instead of their own.
	PEM, PKCS12 string
}

// Environ returns the variables for clients on a system, sorted. Options are added to those that
// the tool has already; other variables are replaced.
func Environ(s Setup, on ir.Platform, have func(name string) string) []string {
	values := map[string]string{}
	for _, v := range Table {
		value := v.value(s)
		if value == "" || v.Only != 0 && v.Only != on {
			continue
		}
		if v.Kind != JavaProxy && v.Kind != JavaBundle {
			values[v.Name] = value
			continue
		}
		if _, ok := values[v.Name]; !ok {
			values[v.Name] = have(v.Name)
		}
		if !strings.Contains(values[v.Name], value) { // another client's row
			values[v.Name] = strings.TrimSpace(values[v.Name] + " " + value)
		}
	}
	var out []string
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// value is the text of a variable, empty for none.
func (v *Variable) value(s Setup) string {
	if s.Proxy == nil && v.Kind < Bundle || s.PKCS12 == "" && v.Kind == JavaBundle {
		return ""
	}
	switch v.Kind {
	case Proxy:
		return s.Proxy.String()
	case Direct:
		return loopback
	case Switch:
		return "1"
	case JavaProxy:
		var options []string
		for _, scheme := range []string{"http", "https"} {
			options = append(options, "-D"+scheme+".proxyHost="+s.Proxy.Hostname(),
				"-D"+scheme+".proxyPort="+s.Proxy.Port())
		}
		return strings.Join(options, " ")
	case Bundle:
		return s.PEM
	case JavaBundle:
		return "-Djavax.net.ssl.trustStore=" + quote(s.PKCS12) + " -Djavax.net.ssl.trustStoreType=PKCS12"
	default:
		return ""
	}
}

// quote writes a word of JAVA_TOOL_OPTIONS, where either kind of quotes keeps the other.
func quote(s string) string {
	if strings.Contains(s, `"`) {
		return "'" + s + "'"
	}
	return `"` + s + `"`
}
