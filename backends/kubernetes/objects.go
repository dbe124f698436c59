package kubernetes

// The objects of Kubernetes, Cilium and agent-sandbox, with the fields that this package writes.

type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`
}

type head struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
}

type metadata struct {
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

type configMap struct {
	head
	Data map[string]string `json:"data"`
}

type pod struct {
	head
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Token           bool        `json:"automountServiceAccountToken"`
	ServiceLinks    bool        `json:"enableServiceLinks"`
	ShareProcesses  bool        `json:"shareProcessNamespace"`
	Restart         string      `json:"restartPolicy"`
	Deadline        int64       `json:"activeDeadlineSeconds,omitempty"`
	DNS             *dnsConfig  `json:"dnsConfig,omitempty"`
	SecurityContext podSecurity `json:"securityContext"`
	Containers      []container `json:"containers"`
	Volumes         []volume    `json:"volumes"`
}

type dnsConfig struct {
	Options []variable `json:"options"`
}

type podSecurity struct {
	NonRoot bool    `json:"runAsNonRoot"`
	User    int64   `json:"runAsUser"`
	Group   int64   `json:"runAsGroup"`
	FSGroup int64   `json:"fsGroup"`
	Seccomp seccomp `json:"seccompProfile"`
}

type seccomp struct {
	Type string `json:"type"`
}

type container struct {
	Name            string     `json:"name"`
	Image           string     `json:"image"`
	Command         []string   `json:"command"`
	WorkingDir      string     `json:"workingDir"`
	Env             []variable `json:"env"`
	Resources       *resources `json:"resources,omitempty"`
	SecurityContext security   `json:"securityContext"`
	Mounts          []mount    `json:"volumeMounts"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type resources struct {
	Limits map[string]string `json:"limits"`
}

type security struct {
	Escalation   bool                `json:"allowPrivilegeEscalation"`
	Privileged   bool                `json:"privileged"`
	ReadOnlyRoot bool                `json:"readOnlyRootFilesystem"`
	Capabilities map[string][]string `json:"capabilities"`
}

type mount struct {
	Name      string `json:"name"`
	Path      string `json:"mountPath"`
	SubPath   string `json:"subPath,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	Recursive string `json:"recursiveReadOnly,omitempty"`
}

type volume struct {
	Name  string    `json:"name"`
	Claim *claim    `json:"persistentVolumeClaim,omitempty"`
	Empty *emptyDir `json:"emptyDir,omitempty"`
}

type claim struct {
	Name string `json:"claimName"`
}

type emptyDir struct {
	Limit string `json:"sizeLimit,omitempty"`
}

type sandboxTemplate struct {
	head
	Spec templateSpec `json:"spec"`
}

type templateSpec struct {
	Network   string          `json:"networkPolicyManagement"`
	Variables string          `json:"envVarsInjectionPolicy"`
	Claims    string          `json:"volumeClaimTemplatesPolicy"`
	Template  podTemplate     `json:"podTemplate"`
	Volumes   []claimTemplate `json:"volumeClaimTemplates,omitempty"`
}

type podTemplate struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
}

type claimTemplate struct {
	Metadata metadata  `json:"metadata"`
	Spec     claimSpec `json:"spec"`
}

type claimSpec struct {
	Modes     []string      `json:"accessModes"`
	Resources claimRequests `json:"resources"`
}

type claimRequests struct {
	Requests map[string]string `json:"requests"`
}

type networkPolicy struct {
	head
	Spec networkSpec `json:"spec"`
}

type networkSpec struct {
	Pods    selector  `json:"podSelector"`
	Types   []string  `json:"policyTypes"`
	Ingress []ingress `json:"ingress,omitempty"`
	Egress  []egress  `json:"egress,omitempty"`
}

type selector struct {
	Labels map[string]string `json:"matchLabels"`
}

type ingress struct {
	Ports []port `json:"ports"`
}

type egress struct {
	To    []peer `json:"to"`
	Ports []port `json:"ports"`
}

type peer struct {
	Block      *ipBlock  `json:"ipBlock,omitempty"`
	Namespaces *selector `json:"namespaceSelector,omitempty"`
	Pods       *selector `json:"podSelector,omitempty"`
}

type ipBlock struct {
	CIDR   string   `json:"cidr"`
	Except []string `json:"except,omitempty"`
}

type port struct {
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
	End      uint16 `json:"endPort,omitempty"`
}

type ciliumPolicy struct {
	head
	Spec ciliumSpec `json:"spec"`
}

type ciliumSpec struct {
	Pods   selector       `json:"endpointSelector"`
	Egress []ciliumEgress `json:"egress"`
	Deny   []ciliumDeny   `json:"egressDeny"`
}

type ciliumEgress struct {
	Endpoints []selector   `json:"toEndpoints,omitempty"`
	Names     []fqdn       `json:"toFQDNs,omitempty"`
	Ports     []ciliumPort `json:"toPorts"`
}

type ciliumDeny struct {
	Blocks []ipBlock `json:"toCIDRSet"`
}

type fqdn struct {
	Name    string `json:"matchName,omitempty"`
	Pattern string `json:"matchPattern,omitempty"`
}

type ciliumPort struct {
	Ports   []portText   `json:"ports"`
	Servers []string     `json:"serverNames,omitempty"`
	Rules   *ciliumRules `json:"rules,omitempty"`
}

type portText struct {
	Port     string `json:"port"`
	Protocol string `json:"protocol"`
}

type ciliumRules struct {
	DNS  []fqdn     `json:"dns,omitempty"`
	HTTP []httpRule `json:"http,omitempty"`
}

type httpRule struct {
	Host string `json:"host"`
}
