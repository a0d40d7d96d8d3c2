package hint

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
)

// text is an error that a call may have, as it stands in the sources.
type text struct {
	class, words string
}

// folders are where calls get their errors.
var folders = []string{"gobridge", "libimpi", "coll", "onesided", "file", "datatype", "topology"}

// texts finds all errors in the sources: a class of errors that is followed by a text, in a call or as fields.
func texts(t *testing.T) (found []text) {
	t.Helper()
	add := func(class, words ast.Expr) {
		if c, w := className(class), literal(words); c != "" && strings.Trim(w, "%svd: ") != "" {
			found = append(found, text{c, w})
		}
	}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "isNot" && len(n.Args) == 4 {
						for _, end := range notEnds {
							found = append(found, text{className(n.Args[0]), "argument %s (%#x) is not " + literal(n.Args[1]) + end})
						}
						return false
					}
					for i := range len(n.Args) - 1 {
						add(n.Args[i], n.Args[i+1])
					}
				case *ast.CompositeLit:
					fields := map[string]ast.Expr{}
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							if key, ok := kv.Key.(*ast.Ident); ok {
								fields[key.Name] = kv.Value
							}
						}
					}
					if fields["Class"] != nil && fields["Text"] != nil {
						add(fields["Class"], fields["Text"])
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(found, func(a, b text) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.words, b.words))
	})
	return slices.Compact(found)
}

// className is MPI_ERR_X of abi.MPI_ERR_X, and MPIX_ERR_X; that of a loss is what a job that survives it has. "" of
// anything else.
func className(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if strings.HasPrefix(e.Sel.Name, "MPI_ERR_") || strings.HasPrefix(e.Sel.Name, "MPIX_ERR_") {
			return e.Sel.Name
		}
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "classOfLoss" {
			return "MPIX_ERR_PROC_FAILED"
		}
	}
	return ""
}

// literal is a constant text, which may be a call that formats one; "" of anything else.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		if a, b := literal(e.X), literal(e.Y); a != "" && b != "" {
			return a + b
		}
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return ""
}

// notEnds are how check.isNot of gobridge ends its texts.
var notEnds = []string{", or has been freed", ", and no handle of libimpi: the variable was never set, or the call " +
	"comes from code that was compiled with another MPI"}

const document = "../../docs/errors.md"

// head and foot stand around the table.
const (
	head = `# Errors

All errors that calls of MPI may have, by their classes, with the hint that goes with each; %s, %d and the like stand
for values. The first line of a message says what is wrong, and the lines below, when it ends a job, what the arguments
were, and the hint ([diagnosis.md](diagnosis.md)). MPI_Error_string tells the first line. This table is made from the
sources: ` + "`go test ./libimpi/hint -rewrite`" + `.
`
	foot = `
## Crashes

| signal | hint |
|---|---|
`
)

var rewrite = flag.Bool("rewrite", false, "write docs/errors.md anew")

// table is docs/errors.md.
func table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	last := ""
	for _, x := range texts(t) {
		value := classOf(t, x.class)
		if x.class != last {
			fmt.Fprintf(&b, "\n## %s\n\n| text | hint |\n|---|---|\n", x.class)
			last = x.class
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(x.words), cell(Of(value, "", x.words)))
	}
	b.WriteString(foot)
	for _, s := range slices.Sorted(maps.Keys(signals)) {
		fmt.Fprintf(&b, "| %s | %s |\n", unix.SignalName(s), cell(signals[s]))
	}
	return b.String()
}

// cell is a text in a table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "_", `\_`, "<", "&lt;").Replace(s) }

// classOf is the value of a class of errors.
func classOf(t *testing.T, name string) int {
	t.Helper()
	for v := range 1 << 10 {
		if abi.ConstantName(abi.Classes, int64(v)) == name {
			return v
		}
	}
	t.Fatalf("%s is no class", name)
	return 0
}

func TestTheTableOfErrorsIsThatOfTheSources(t *testing.T) {
	want := table(t)
	if *rewrite {
		if err := os.WriteFile(document, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(document); err != nil || string(got) != want {
		t.Errorf("%s is not what the sources have (%v): go test ./libimpi/hint -rewrite", document, err)
	}
}

func TestEveryErrorHasAHint(t *testing.T) {
	found := texts(t)
	if len(found) < 300 {
		t.Fatalf("only %d texts are found", len(found))
	}
	for _, x := range found {
		if Of(classOf(t, x.class), "MPI_Send", x.words) == "" {
			t.Errorf("%s: %s: there is no hint", x.class, x.words)
		}
	}
	for _, s := range []int{4, 6, 7, 8, 11} {
		if OfSignal(s, "", true) == "" || OfSignal(s, "", false) != withoutLine {
			t.Errorf("signal %d has no hint", s)
		}
	}
	if OfSignal(9, "", false) != "" {
		t.Error("SIGKILL is no crash")
	}
	if got := OfSignal(11, "MPI_Send met no usable memory", true); !strings.Contains(got, "buffer") {
		t.Error(got)
	}
}

// A row after one that always comes before it would never be used.
func TestEveryHintIsUsed(t *testing.T) {
	found := texts(t)
	for i, r := range rows {
		if len(r.hint) > 120 {
			t.Errorf("a hint of %d characters: %s", len(r.hint), r.hint)
		}
		if r.says == "" {
			continue
		}
		for _, before := range rows[:i] {
			if before.class == r.class && strings.Contains(r.says, before.says) {
				t.Errorf("%q comes after %q", r.says, before.says)
			}
		}
		if !slices.ContainsFunc(found, func(x text) bool {
			return classOf(t, x.class) == r.class && strings.Contains(x.words, r.says)
		}) {
			t.Errorf("no text of class %d says %q", r.class, r.says)
		}
	}
}

func TestAHintNamesTheCall(t *testing.T) {
	if got := Of(abi.MPI_ERR_COUNT, "MPI_Gather", "argument sendcount is negative: -1"); !strings.Contains(got,
		"MPI_Gather with suffix _c") {
		t.Error(got)
	}
	if got := Of(1<<20, "MPI_Gather", "a class of the program's"); got != "" {
		t.Error(got)
	}
}
