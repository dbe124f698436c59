// Package kubernetes_test validates the objects of package backends/kubernetes with the types and
// schemas of those who read them: Kubernetes, Cilium and agent-sandbox.
package kubernetes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/cilium/pkg/fqdn/matchpattern"
	crds "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/client/crds/v2"
	"github.com/cilium/cilium/pkg/policy/api"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	names "k8s.io/apimachinery/pkg/api/validation"
	labels "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	sandbox "sigs.k8s.io/agent-sandbox/extensions/api/v1beta1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/kubernetes"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// schemas validate custom resources as the API server does.
type schemas map[string]validation.SchemaValidator

// schema reads the stored version of a definition.
func schema(text []byte) (validation.SchemaValidator, error) {
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &v1); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v1.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v1.Spec.Versions[i].Schema, &internal, nil); err != nil {
		return nil, err
	}
	out, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	return out, err
}

func load(t *testing.T) schemas {
	t.Helper()
	cilium, err := fs.ReadFile(crds.EmbedFS, "ciliumnetworkpolicies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/agent-sandbox").Output()
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "k8s/crds/extensions.agents.x-k8s.io_sandboxtemplates.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := schemas{}
	for kind, text := range map[string][]byte{"CiliumNetworkPolicy": cilium, "SandboxTemplate": template} {
		if out[kind], err = schema(text); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// strict decodes as the API server does: case counts, and unknown and double fields are errors.
func strict(data []byte, to any) error {
	wrong, err := kjson.UnmarshalStrict(data, to)
	return errors.Join(append(wrong, err)...)
}

// check validates a list, and counts its objects.
func (s schemas) check(data []byte, seen map[string]int) error {
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	var asYAML any
	if err := errors.Join(strict(data, &list), yaml.Unmarshal(data, &asYAML)); err != nil || list.APIVersion != "v1" || list.Kind != "List" {
		return fmt.Errorf("%s %s: %w", list.APIVersion, list.Kind, err)
	}
	for _, item := range list.Items {
		var h corev1.ConfigMap // any object has its head
		if err := json.Unmarshal(item, &h); err != nil {
			return err
		}
		seen[h.Kind]++
		if err := s.object(h.Kind, item); err != nil {
			return fmt.Errorf("%s: %w", h.Kind, err)
		}
		if wrong := names.NameIsDNSSubdomain(h.Name, false); wrong != nil {
			return fmt.Errorf("name %q: %v", h.Name, wrong)
		}
		if err := selectable(h.Labels); err != nil {
			return err
		}
	}
	return nil
}

func selectable(l map[string]string) error {
	for key, value := range l {
		if wrong := slices.Concat(labels.IsQualifiedName(key), labels.IsValidLabelValue(value)); wrong != nil {
			return fmt.Errorf("label %s=%q: %v", key, value, wrong)
		}
	}
	return nil
}

func (s schemas) object(kind string, item []byte) error {
	switch kind {
	case "ConfigMap":
		return strict(item, &corev1.ConfigMap{})
	case "Pod":
		var p corev1.Pod
		if err := strict(item, &p); err != nil {
			return err
		}
		return pod(&p.Spec, nil)
	case "NetworkPolicy":
		var p networkingv1.NetworkPolicy
		if err := strict(item, &p); err != nil {
			return err
		}
		return selectable(p.Spec.PodSelector.MatchLabels)
	case "CiliumNetworkPolicy":
		var p struct {
			Kind       string          `json:"kind"`
			APIVersion string          `json:"apiVersion"`
			Metadata   json.RawMessage `json:"metadata"`
			Spec       api.Rule        `json:"spec"`
		}
		if err := strict(item, &p); err != nil {
			return err
		}
		if err := p.Spec.Sanitize(); err != nil {
			return err
		}
	case "SandboxTemplate":
		var p sandbox.SandboxTemplate
		if err := strict(item, &p); err != nil {
			return err
		}
		if err := selectable(p.Spec.PodTemplate.ObjectMeta.Labels); err != nil {
			return err
		}
		var claims []string
		for _, c := range p.Spec.VolumeClaimTemplates {
			claims = append(claims, c.Name)
		}
		if err := pod(&p.Spec.PodTemplate.Spec, claims); err != nil {
			return err
		}
	default:
		return fmt.Errorf("an unknown kind")
	}
	if v, ok := s[kind]; ok {
		var value any
		if err := json.Unmarshal(item, &value); err != nil {
			return err
		}
		return validation.ValidateCustomResource(field.NewPath(kind), value, v).ToAggregate()
	}
	return nil
}

// pod makes the checks that the API server makes beside those of the types, as far as they are about the
// fields that are written (pkg/apis/core/validation).
func pod(s *corev1.PodSpec, claims []string) error {
	volumes, paths := map[string]bool{}, map[string]bool{}
	for _, name := range claims {
		volumes[name] = true
	}
	for _, v := range s.Volumes {
		if volumes[v.Name] || labels.IsDNS1123Label(v.Name) != nil || v.HostPath != nil || v.Projected != nil {
			return fmt.Errorf("volume %s", v.Name)
		}
		volumes[v.Name] = true
	}
	for _, c := range s.Containers {
		for _, m := range c.VolumeMounts {
			down := slices.Contains(strings.Split(m.SubPath, "/"), "..") || strings.HasPrefix(m.SubPath, "/")
			recursive := m.RecursiveReadOnly != nil && *m.RecursiveReadOnly != corev1.RecursiveReadOnlyDisabled
			if !volumes[m.Name] || paths[m.MountPath] || down || recursive && !m.ReadOnly || m.MountPath == "" || strings.Contains(m.MountPath, ":") {
				return fmt.Errorf("mount %+v", m)
			}
			paths[m.MountPath] = true
		}
		for _, v := range c.Env {
			if wrong := labels.IsEnvVarName(v.Name); wrong != nil {
				return fmt.Errorf("variable %s: %v", v.Name, wrong)
			}
		}
		if memory := c.Resources.Limits.Memory(); memory.Sign() < 0 {
			return fmt.Errorf("memory %s", memory)
		}
	}
	return nil
}

var both = []kubernetes.Backend{{}, {Sandbox: true}}

// TestReaders: objects of random policies are those that their readers' own types and schemas take.
func TestReaders(t *testing.T) {
	s, seen := load(t), map[string]int{}
	irtest.Check(t, 2000, 2, func(rt *rapid.T) {
		tool := irtest.Tool(rt, irtest.Names, 6)
		tool.Name = rapid.OneOf(rapid.StringMatching(`[-_.A-Za-z0-9]{1,80}`), rapid.String()).Draw(rt, "name")
		tool.Command = &ir.Command{Program: rapid.String().Draw(rt, "program"), Args: rapid.SliceOf(rapid.String()).Draw(rt, "args")}
		tool.Net = irtest.NetRules(rt, 8)
		tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: rapid.Uint64Range(1, 1<<50).Draw(rt, "memory")}, {Kind: ir.LimitWallTime, Value: rapid.Uint64().Draw(rt, "time")}}
		for _, b := range both {
			out, err := b.Compile(tool, backends.Target{Form: backends.Portable})
			if err != nil {
				rt.Fatal(err)
			}
			if out.Data == nil {
				seen["refused"]++
				continue
			}
			if err := s.check(out.Data, seen); err != nil {
				rt.Fatalf("%v\n%s", err, out.Data)
			}
		}
	})
	irtest.Happened(t, seen, "ConfigMap", "Pod", "SandboxTemplate", "NetworkPolicy", "CiliumNetworkPolicy")
	t.Log(seen)
}

// TestGoldens does the same for the lists that reviewers see.
func TestGoldens(t *testing.T) {
	s := load(t)
	files, err := filepath.Glob("../../backends/kubernetes/testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = s.check(data, map[string]int{})
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestReadersRefuse: the checks are none that take anything.
func TestReadersRefuse(t *testing.T) {
	s := load(t)
	data, err := os.ReadFile("../../backends/kubernetes/testdata/sandbox.json")
	if err != nil {
		t.Fatal(err)
	}
	pods, err := os.ReadFile("../../backends/kubernetes/testdata/pod.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"Unmanaged"`, `"Sometimes"`}, {`"networkPolicyManagement"`, `"networkManagement"`}, {`"matchPattern": "**.example.org"`, `"matchPattern": "a b"`},
		{`"toFQDNs"`, `"toNames"`}, {`"serverNames": ["api.example.com"]`, `"serverNames": [""]`}, {`"except": ["10.0.0.5/32"]`, `"except": ["11.0.0.0/8"]`},
		{`"readOnlyRootFilesystem"`, `"readonlyRootFilesystem"`}, {`"policyTypes"`, `"types"`}, {`"Enabled"`, `false`}, {`"accessc-tool": "deploy"`, `"accessc-tool": "a b"`},
	} {
		for _, text := range []string{string(data), string(pods)} {
			bad := strings.Replace(text, c[0], c[1], 1)
			if bad == text {
				continue
			}
			if s.check([]byte(bad), map[string]int{}) == nil {
				t.Errorf("%s is taken", c[1])
			}
			c[0] = ""
		}
		if c[0] != "" && !strings.Contains(string(data), c[0]) {
			t.Errorf("%s is not there", c[0])
		}
	}
}

// TestPatterns asks Cilium itself which names a pattern matches.
func TestPatterns(t *testing.T) {
	re, err := matchpattern.Validate(matchpattern.Sanitize("**.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := matchpattern.Validate(matchpattern.Sanitize("*.example.org"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a.example.org.": true, "a.b.c.example.org.": true, "example.org.": false, "aexample.org.": false, "a.example.org.evil.test.": false} {
		if got := re.MatchString(name); got != want {
			t.Errorf("**.example.org and %s: %t", name, got)
		}
	}
	if one.MatchString("a.b.example.org.") || !one.MatchString("a.example.org.") {
		t.Error("*.example.org is not one label")
	}
}

// compiled is the list of a tool with some arguments.
func compiled(args []string) ([]byte, error) {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: "true", Args: args}
	out, err := kubernetes.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	return out.Data, err
}
