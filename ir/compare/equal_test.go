package compare

import (
	"reflect"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestSame changes every field of a full tool, one by one: permissions make a difference,
// origins make none. A field that is added later is found.
func TestSame(t *testing.T) {
	full := func() *ir.Tool {
		x := &ir.Tool{}
		fill(reflect.ValueOf(x).Elem())
		return x
	}
	if !Same(full(), full()) {
		t.Fatal("a tool is not the same as itself")
	}
	a := full()
	n := change(reflect.ValueOf(a).Elem(), "", func(path string) {
		silent := strings.Contains(path, "Origin") || strings.Contains(path, "Leaves") || strings.Contains(path, "Tests") ||
			strings.Contains(path, "Written") || strings.Contains(path, "Mount") || strings.Contains(path, "Why") ||
			strings.HasPrefix(path, ".Removed")
		if Same(full(), a) != silent {
			t.Errorf("%s: the same is %v", path, !silent)
		}
	})
	if n < 50 {
		t.Errorf("only %d fields", n)
	}
}

// fill makes every field something, and every list a single item long.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// change alters a plain value after another, tells it, and puts it back.
func change(v reflect.Value, path string, tell func(path string)) (n int) {
	old := reflect.ValueOf(v.Interface())
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Pointer:
		n += change(v.Elem(), path, tell)
		v.SetZero()
	case reflect.Slice:
		n += change(v.Index(0), path, tell)
		v.SetZero()
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				n += change(v.Field(i), path+"."+f.Name, tell)
			}
		}
		return n
	}
	tell(path)
	v.Set(old)
	return n + 1
}
