// Command gotest runs go test with the given words and says at the end which tests were skipped, which go test itself
// says only to who asks for every line:
//
//	go run ./tools/gotest -race ./coll/...
//
// It prints what tests that failed have written, one line for all that passed, and one line for those that were
// skipped, which the summary of make test shows (tools/skipped). Its exit code is 1 if a test failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	err = summarize(events, os.Stdout)
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// test is a test of a package, or with an empty name the package as a whole.
type test struct{ pkg, name string }

// summarize reads what go test -json prints, and writes what a reader wants to know of it.
func summarize(from io.Reader, to io.Writer) error {
	said := map[test][]string{} // by tests that have not ended well
	var order []test            // in which they began to say something
	var skipped []string
	passed, packages := 0, 0
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(to, line)
			continue
		}
		at := test{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Fprint(to, e.Output)
		case "output":
			if _, known := said[at]; !known {
				order = append(order, at)
			}
			said[at] = append(said[at], e.Output)
		case "pass":
			delete(said, at)
			if e.Test == "" {
				packages++
			} else {
				passed++
			}
		case "skip":
			delete(said, at)
			if e.Test != "" { // else a package without tests
				skipped = append(skipped, short(e.Package)+"."+e.Test)
			}
		case "fail":
			if e.Test == "" {
				for _, other := range order {
					if other.pkg == e.Package {
						fmt.Fprint(to, strings.Join(said[other], ""))
						delete(said, other)
					}
				}
			}
		}
	}
	fmt.Fprintf(to, "passed: %d tests of %d packages\n", passed, packages)
	if len(skipped) > 0 {
		slices.Sort(skipped)
		fmt.Fprintf(to, "skipped: %d (%s)\n", len(skipped), strings.Join(skipped, ", "))
	}
	return nil
}

// short is a package's path within the module.
func short(pkg string) string { return strings.TrimPrefix(pkg, "github.com/libimpi/libimpi/") }
