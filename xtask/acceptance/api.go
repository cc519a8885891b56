package main

import (
	"net/http"
	"strings"
)

// certificates is where OLM mounts the certificate of an API server.
const certificates = "/apiserver.local.config/certificates/"

// extensionAPI is an aggregated API with the kinds of --mock-kinds, and no object of any.
func extensionAPI(arguments []string) error {
	flags := map[string]string{}
	for i, argument := range arguments {
		if name, found := strings.CutPrefix(argument, "--"); found && i+1 < len(arguments) {
			flags[name] = arguments[i+1]
		}
	}
	api := discovery(flags["mock-group-version"], strings.Split(flags["mock-kinds"], ","))
	return serve(flags["secure-port"], certificates+"apiserver.crt", certificates+"apiserver.key", api)
}

func discovery(both string, kinds []string) http.Handler {
	group, version, _ := strings.Cut(both, "/")
	resources := []object{}
	for _, kind := range kinds {
		resources = append(resources, object{
			"name": strings.ToLower(kind) + "s", "singularName": "", "namespaced": true,
			"kind": kind, "verbs": []string{"get", "list"},
		})
	}
	entry := object{"groupVersion": both, "version": version}
	answers := map[string]object{
		"/apis/" + both: {
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": both, "resources": resources,
		},
		"/apis/" + group: {
			"kind": "APIGroup", "apiVersion": "v1", "name": group,
			"versions": []object{entry}, "preferredVersion": entry,
		},
		"/apis/" + both + "/": {
			"kind": "List", "apiVersion": both,
			"metadata": object{"resourceVersion": "1"}, "items": []object{},
		},
	}
	mux := http.NewServeMux()
	for path, value := range answers {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, value) })
	}
	return mux
}
