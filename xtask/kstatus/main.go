// What kstatus of sigs.k8s.io/cli-utils makes of objects: each line of the input is one as JSON, each line of the
// output its status. Flux and kubectl-based tools wait by these.
package main

import (
	"bufio"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// Longest object, in bytes.
const longest = 8 << 20

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(lines.Bytes()); err != nil {
			return fmt.Errorf("not an object: %w", err)
		}
		result, err := status.Compute(object)
		if err != nil {
			return fmt.Errorf("%s: %w", object.GetName(), err)
		}
		fmt.Println(result.Status)
	}
	return lines.Err()
}
