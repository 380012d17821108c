// Command kubectl is the real kubectl, built from its published Go modules, for machines that
// have a Go toolchain but no kubectl package. The test beside this folder uses it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}
