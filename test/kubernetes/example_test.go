package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestExample: examples/kubernetes is a directory that kubectl apply -k takes, with an image and a claim in the places of those
// that a policy does not know.
func TestExample(t *testing.T) {
	s, seen := load(t), map[string]int{}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../examples/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	var items []json.RawMessage
	claims := map[string]bool{}
	for _, o := range objects.Resources() {
		if o.GetKind() == "PersistentVolumeClaim" {
			claims[o.GetName()] = true
			continue
		}
		item, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(list, seen); err != nil {
		t.Error(err)
	}
	if bytes.Contains(list, []byte("accessc.invalid")) || !claims["report-workspace"] || !bytes.Contains(list, []byte(`"claimName":"report-workspace"`)) {
		t.Errorf("%s", list)
	}
	for _, kind := range []string{"ConfigMap", "NetworkPolicy", "CiliumNetworkPolicy", "Pod"} {
		if seen[kind] != 1 {
			t.Errorf("%d of %s", seen[kind], kind)
		}
	}
	template, err := os.ReadFile("../../examples/kubernetes/access/report/agent-sandbox.json")
	if err == nil {
		err = s.check(template, seen)
	}
	if err != nil || seen["SandboxTemplate"] != 1 {
		t.Errorf("%v, %v", seen, err)
	}
}

// TestYAMLReaders: as YAML, a list has the texts that it has as JSON, whatever characters they are of.
func TestYAMLReaders(t *testing.T) {
	odd := []string{"*", "&a", "- b", "{{x}}", "a: b", "~", "yes", "0x1", "\x7f\u0085\u2028\ufeff", "a\nb\x1b", "'\"\\", "$(HOME)", "é\U0001f600"}
	list, err := compiled(odd)
	if err != nil {
		t.Fatal(err)
	}
	got, err := commandOf(list)
	if err != nil || len(got) != len(odd)+1 {
		t.Fatal(got, err)
	}
	for i, text := range odd {
		if text == "$(HOME)" {
			text = "$$(HOME)"
		}
		if got[i+1] != text {
			t.Errorf("%q became %q", text, got[i+1])
		}
	}
	if !slices.Equal(got[:1], []string{"true"}) {
		t.Error(got)
	}
}

func commandOf(list []byte) ([]string, error) {
	var l struct {
		Items []struct {
			Kind string `json:"kind"`
			Spec struct {
				Containers []struct {
					Command []string `json:"command"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := yaml.Unmarshal(list, &l); err != nil {
		return nil, err
	}
	for _, item := range l.Items {
		if item.Kind == "Pod" {
			return item.Spec.Containers[0].Command, nil
		}
	}
	return nil, fmt.Errorf("no pod")
}
