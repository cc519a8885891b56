// Package parts runs one of several programs that share a binary: the one that the first argument or
// the name of the binary says.
package parts

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
)

// parts maps the name of a part to what runs it; the result is the exit code.
var parts = map[string]func(args []string) int{}

// Add makes a part known. The arguments that it gets begin with its name.
func Add(name string, run func(args []string) int) {
	parts[name] = run
}

// AddCommand makes a part known that is a command of the components of Kubernetes. The command is made
// only when it is wanted: making one registers global flags.
func AddCommand(name string, command func() *cobra.Command) {
	Add(name, func(args []string) int {
		os.Args = args
		return cli.Run(command())
	})
}

// Main runs the part that is asked for and ends with its exit code.
func Main() {
	args := os.Args
	if _, known := parts[filepath.Base(args[0])]; !known {
		args = args[1:]
	}
	if len(args) == 0 || parts[filepath.Base(args[0])] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s %s [flags]\n", os.Args[0], strings.Join(names(), "|"))
		os.Exit(2)
	}
	os.Exit(parts[filepath.Base(args[0])](args))
}

func names() []string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}
