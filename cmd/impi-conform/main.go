// Command impi-conform tests an implementation of IMPI 0.0: it plays the server, clients, hosts and processes
// that the implementation talks to, one case for each rule of the protocol and for each way in which a peer can
// break it.
//
// Flow: flags -> target (how the implementation is started) -> cases -> conform.Run -> report (lines, JUnit), record
// (JSON, comparing), page (HTML, with diagram). During a case events records what happens. With -web, package web runs
// cases for browsers.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/report"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web"
	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// Exit codes.
const (
	codeFailed        = 1
	codeUsage         = 2
	codeIndeterminate = 3
)

type flags struct {
	server, mpicc, values, run, junit  string
	client                             commands
	golden, print                      string
	json, html, name, version, compare string
	listen, ports, template, player    string
	list, verbose, rewrite, remember   bool
	timeout                            time.Duration
	jobs                               int
	web                                webFlag
	token                              string
}

// commands are those of an option that may be given several times.
type commands []string

func (c *commands) String() string { return strings.Join(*c, " | ") }

// Set adds a command.
func (c *commands) Set(text string) error {
	*c = append(*c, text)
	return nil
}

// set are the flags as the command line gives them; usage.Conform says what they mean.
func (f *flags) set() *flag.FlagSet {
	set := flag.NewFlagSet("impi-conform", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.server, "server-cmd", "", "")
	set.Var(&f.client, "client-cmd", "")
	set.StringVar(&f.mpicc, "mpicc", "mpicc", "")
	set.StringVar(&f.values, "values", "", "")
	set.StringVar(&f.run, "run", "", "")
	set.StringVar(&f.junit, "junit", "", "")
	set.StringVar(&f.json, "json", "", "")
	set.StringVar(&f.html, "html", "", "")
	set.StringVar(&f.name, "name", "", "")
	set.StringVar(&f.version, "version-of", "", "")
	set.StringVar(&f.compare, "compare", "", "")
	set.StringVar(&f.golden, "golden", "", "")
	set.StringVar(&f.print, "print", "", "")
	set.StringVar(&f.listen, "listen", "", "")
	set.StringVar(&f.ports, "ports", "", "")
	set.StringVar(&f.template, "template", "", "")
	set.StringVar(&f.player, "player", "", "")
	set.BoolVar(&f.remember, "remember", false, "")
	set.BoolVar(&f.rewrite, "rewrite", false, "")
	set.BoolVar(&f.list, "list", false, "")
	set.BoolVar(&f.verbose, "v", false, "")
	set.DurationVar(&f.timeout, "timeout", 30*time.Second, "")
	set.IntVar(&f.jobs, "jobs", 4, "")
	set.Var(&f.web, "web", "")
	set.StringVar(&f.token, "token", "", "")
	return set
}

func main() {
	var f flags
	set := f.set()
	err := set.Parse(os.Args[1:])
	switch {
	case err == flag.ErrHelp:
		fmt.Print(usage.Conform.Help())
		return
	case err != nil:
		complain("%v; impi-conform -help", err)
		os.Exit(codeUsage)
	case f.compare != "" && set.NArg() == 1:
		os.Exit(compareRecords(f.compare, set.Arg(0), os.Stdout))
	case f.compare != "":
		complain("-compare needs two records: -compare A.json B.json")
		os.Exit(codeUsage)
	case set.NArg() > 0:
		complain("%q is no option; impi-conform -help", set.Arg(0))
		os.Exit(codeUsage)
	}
	os.Exit(run(f))
}

func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "impi-conform: "+format+"\n", args...)
}

func run(f flags) int {
	switch {
	case f.print != "":
		return show(f.print, os.Stdout)
	case f.player != "":
		return writePlayer(f.player)
	}
	name, err := regexp.Compile(f.run)
	if err != nil {
		complain("-run: %v", err)
		return codeUsage
	}
	chosen := conform.Select(cases.All(), name)
	if f.list {
		for _, c := range chosen {
			fmt.Printf("%-38s %-22s %s\n", c.Name, c.Rule, c.About)
		}
		return 0
	}
	if len(chosen) == 0 {
		complain("no case matches %q", f.run)
		return codeUsage
	}
	if f.server == "" && len(f.client) == 0 && f.listen == "" {
		complain("nothing to test: give -server-cmd, -client-cmd, both or -listen; impi-conform -help")
		return codeUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	dir, err := os.MkdirTemp("", "impi-conform")
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	defer os.RemoveAll(dir)
	if f.web != "" && f.listen != "" {
		return serveByHand(ctx, f, chosen)
	}
	at, err := newTarget(ctx, &f, dir, stop)
	if err != nil {
		complain("%v", err)
		return codeUsage
	}
	defer at.Close()
	if f.golden != "" {
		return golden(ctx, f, at)
	}
	if f.web != "" {
		return serve(ctx, f, web.Config{Cases: chosen, Options: options(f, at)})
	}
	return test(ctx, f, at, chosen)
}

// newTarget is what is tested: commands that are started here, or that a person types elsewhere, until quit.
func newTarget(ctx context.Context, f *flags, dir string, quit func()) (*target.Target, error) {
	first := ""
	if f.listen != "" {
		return byHand(f, quit)
	}
	if len(f.client) > 0 {
		first = f.client[0]
	}
	at, err := target.New(ctx, f.server, first, f.values, f.mpicc, dir)
	for i := 1; i < len(f.client) && err == nil; i++ {
		err = at.AddClient(f.client[i])
	}
	return at, err
}

// test runs the cases and reports.
func test(ctx context.Context, f flags, at *target.Target, chosen []conform.Case) int {
	text, out := &report.Text{W: os.Stdout, Verbose: f.verbose}, newFiles(ctx, f)
	o := options(f, at)
	o.Trace = out.traces()
	count := conform.Run(ctx, chosen, o, func(r conform.Result) {
		text.Ended(r)
		out.ended(r)
	})
	fmt.Println(report.Summary(count))
	if err := out.write(); err != nil {
		complain("%v", err)
		return codeUsage
	}
	switch {
	case count[conform.Fail] > 0:
		return codeFailed
	case count[conform.Indeterminate] > 0 || ctx.Err() != nil:
		return codeIndeterminate
	}
	return 0
}

// options say how the cases are run.
func options(f flags, at *target.Target) conform.Options {
	o := conform.Options{Timeout: f.timeout, Jobs: f.jobs, Target: at,
		Skip: func(c conform.Case) string { return missing(c, at) }}
	if at.ByHand() {
		o.Queue = peer.Queue{}
	}
	return o
}

// missing is what a case needs and there is not, "" if nothing.
func missing(c conform.Case, at *target.Target) string {
	switch {
	case (c.Needs == conform.Server || c.Needs == conform.Both) && !at.HasServer():
		return "no -server-cmd"
	case c.Needs != conform.Server && !at.HasClient():
		return "no -client-cmd"
	case c.Needs == conform.Values && !at.HasValues():
		return "no -values"
	case c.Needs == conform.IPv6 && !at.HasIPv6():
		return "no IPv6 here"
	}
	return ""
}
