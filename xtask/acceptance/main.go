// Programs of images that OLM v0's acceptance suite uses and that are not fetched: each stands in for
// one of them, and does what the specs look at. Which one it is, the name says that it is called by.
package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// object is a JSON object.
type object = map[string]any

func main() {
	programs := map[string]func([]string) error{
		"grpc_health_probe":        probe,
		"mock-extension-apiserver": extensionAPI,
		"old-opm":                  oldOpm,
		"webhook-operator":         webhooks,
	}
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		run = func([]string) error { return fmt.Errorf("there is no program %s", name) }
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}

// serve answers over TLS. The files are read for each connection, as they are renewed in place.
func serve(port, certificate, key string, handler http.Handler) error {
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		return &pair, err
	}
	config := &tls.Config{GetCertificate: load}
	server := http.Server{Addr: ":" + port, Handler: handler, TLSConfig: config}
	return server.ListenAndServeTLS("", "")
}
