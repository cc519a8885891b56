package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// served is where OLM mounts the certificate of webhooks.
const served = "/tmp/k8s-webhook-server/serving-certs/"

// webhooks answers as the webhook-operator of OLM's examples does for its kind WebhookTest: a valid
// one has spec.valid, and gets spec.mutate.
func webhooks([]string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/validate", review(validate))
	mux.HandleFunc("/mutate", review(mutate))
	mux.HandleFunc("/convert", review(convert))
	return serve("4343", served+"tls.crt", served+"tls.key", mux)
}

func review(decide func(object) object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked object
		if err := json.Unmarshal(body, &asked); err != nil {
			answer(w, http.StatusBadRequest, err.Error())
			return
		}
		request, _ := asked["request"].(object)
		response := decide(request)
		response["uid"] = request["uid"]
		answer(w, 200, object{
			"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": response,
		})
	}
}

func validate(request object) object {
	given, _ := request["object"].(object)
	spec, _ := given["spec"].(object)
	if valid, _ := spec["valid"].(bool); valid {
		return object{"allowed": true}
	}
	text := fmt.Sprintf("WebhookTest %q is invalid: Spec.Valid must be true", request["name"])
	return object{"allowed": false, "status": object{"message": text}}
}

func mutate(object) object {
	patch := []byte(`[{"op":"add","path":"/spec/mutate","value":true}]`)
	return object{"allowed": true, "patchType": "JSONPatch", "patch": patch}
}

// convert has the spec of v1 as spec.conversion of v2.
func convert(request object) object {
	to, _ := request["desiredAPIVersion"].(string)
	objects, _ := request["objects"].([]any)
	converted := []any{}
	for _, each := range objects {
		one, _ := each.(object)
		spec, _ := one["spec"].(object)
		switch {
		case one["apiVersion"] == to:
		case strings.HasSuffix(to, "/v2"):
			one["spec"] = object{"conversion": spec}
		default:
			one["spec"] = spec["conversion"]
		}
		one["apiVersion"] = to
		converted = append(converted, one)
	}
	return object{"convertedObjects": converted, "result": object{"status": "Success"}}
}
