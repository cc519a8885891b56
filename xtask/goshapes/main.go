// Command goshapes prints how Go serialises the Kubernetes types whose JSON text OLM hashes.
//
// The output is one JSON object: per struct type its fields in declaration order, each as
// [JSON name, flags, type]. Flags: "o" omitempty, "z" omitzero. Types: bool, int32 and the like,
// string, quantity, intOrString, time, raw, "*T" pointer, "[]T" list, "{}T" map with text keys,
// or the name of a struct type such as "core/v1.PodSpec".
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []any{
	appsv1.DeploymentSpec{},
	batchv1.JobSpec{},
	corev1.PodSpec{},
	corev1.ServiceSpec{},
	networkingv1.NetworkPolicySpec{},
	rbacv1.PolicyRule{},
	rbacv1.RoleRef{},
	rbacv1.Subject{},
	v1alpha1.StrategyDeploymentPermissions{},
	v1alpha1.WebhookDescription{},
}

// special lists types with a JSON form of their own.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[intstr.IntOrString](): "intOrString",
	reflect.TypeFor[metav1.Time]():        "time",
	reflect.TypeFor[metav1.FieldsV1]():    "raw",
}

var marshaler = reflect.TypeFor[json.Marshaler]()

type table map[string][][3]string

func main() {
	types := table{}
	for _, root := range roots {
		types.shape(reflect.TypeOf(root))
	}
	types.print()
}

// shape names a type and records it, with everything it reaches, when it is a struct.
func (t table) shape(typ reflect.Type) string {
	if name, ok := special[typ]; ok {
		return name
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return "*" + t.shape(typ.Elem())
	case reflect.Slice:
		return "[]" + t.shape(typ.Elem())
	case reflect.Map:
		require(typ.Key().Kind() == reflect.String, "map key of %v", typ)
		return "{}" + t.shape(typ.Elem())
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int32, reflect.Int64:
		return typ.Kind().String()
	case reflect.Struct:
		return t.structure(typ)
	}
	require(false, "type %v", typ)
	return ""
}

func (t table) structure(typ reflect.Type) string {
	require(!typ.Implements(marshaler) && !reflect.PointerTo(typ).Implements(marshaler), "own JSON form of %v", typ)
	name := typeName(typ)
	if _, known := t[name]; !known {
		t[name] = nil
		t[name] = t.fields(typ)
	}
	return name
}

// fields lists the fields of a struct; those of embedded structs without a name appear in place.
func (t table) fields(typ reflect.Type) [][3]string {
	var fields [][3]string
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			fields = append(fields, t.fields(field.Type)...)
		default:
			require(name != "", "name of %v.%s", typ, field.Name)
			fields = append(fields, [3]string{name, flags(options), t.shape(field.Type)})
		}
	}
	return fields
}

func flags(options string) string {
	flags := ""
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "omitempty":
			flags += "o"
		case "omitzero":
			flags += "z"
		default:
			require(option == "" || option == "inline", "JSON option %q", option)
		}
	}
	return flags
}

// typeName shortens the path of the package: "k8s.io/api/core/v1".PodSpec is core/v1.PodSpec.
func typeName(typ reflect.Type) string {
	parts := strings.Split(typ.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + typ.Name()
}

// print writes one line per type, sorted.
func (t table) print() {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	sort.Strings(names)
	lines := make([]string, 0, len(t))
	for _, name := range names {
		fields, err := json.Marshal(t[name])
		require(err == nil, "print %s: %v", name, err)
		lines = append(lines, fmt.Sprintf("%q:%s", name, fields))
	}
	fmt.Printf("{\n%s\n}\n", strings.Join(lines, ",\n"))
}

func require(condition bool, format string, args ...any) {
	if !condition {
		fmt.Fprintf(os.Stderr, "goshapes: unexpected "+format+"\n", args...)
		os.Exit(1)
	}
}
