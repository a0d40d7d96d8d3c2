package options

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/startup/client"
)

// String is the plan in words, one fact a line: what --explain prints and what the golden tests compare.
func (p *Plan) String() string {
	var b strings.Builder
	say := func(cond bool, format string, args ...any) {
		if cond {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	say(!p.Explain, "mode %v", p.Mode)
	say(p.Explain, "mode explain (%v)", p.Mode)
	say(p.Mode == Server, "clients %d, listen %q, port %d, auth %q", p.Servers, p.Listen, p.Port, p.Auth)
	say(p.Mode == Client, "client %d of %s", p.Rank, p.Address)
	say(p.Limits.Start != 0, "deadline start %v", p.Limits.Start)
	say(p.Limits != Limits{Start: p.Limits.Start}, "deadlines join %v, gather %v, exchange %v, run %v", p.Limits.Join,
		p.Limits.Gather, p.Limits.Exchange, p.Limits.Run)
	say(p.Values != client.Values{}, "values%v", &p.Values)
	say(p.AppFile != "", "application file %s", p.AppFile)
	say(p.Web, "page at %q, token in %q", p.WebAddress, p.WebToken)
	say(p.Via != client.ViaAuto, "via %v", p.Via)
	say(p.Outbound, "outbound")
	say(p.Iface != "", "listen at %s", p.Iface)
	say(p.Mode != Server && p.Mode != Names && p.Port != 0, "ports %d-%d", p.Port, p.PortTo)
	say(p.Clients > 0, "clients %d", p.Clients)
	say(len(p.Hosts) > 0, "hosts %q", p.Hosts)
	say(len(p.HostFiles) > 0, "host files %q", p.HostFiles)
	say(p.PerHost > 0 && len(p.Hosts)+len(p.HostFiles) > 0, "per host %d", p.PerHost)
	place := p.Place.String()
	say(place != "", "placement: %s", place)
	say(p.Show.Bindings, "report bindings")
	say(p.Show.Map || p.Show.RankMap, "display the map")
	say(p.Show.Only, "run nothing")
	say(p.Site != "", "allocation: %s", p.Site)
	for _, h := range p.Allocated {
		say(true, "  %s, slots %d", h.Name, h.Slots)
	}
	say(p.Manager != "", "resource manager %s", p.Manager)
	say(p.Launcher != "", "launcher %s", p.Launcher)
	say(p.Rsh != "" && p.Rsh != defaultRsh, "rsh %q", p.Rsh)
	say(len(p.RshExtra) > 0, "rsh arguments %q", p.RshExtra)
	say(p.Branches != defaultBranches && p.Branches != 0 || p.Branches == 0 && len(p.Programs) > 0, "branches %d",
		p.Branches)
	say(p.Mode == Names, "listen %q, port %d", p.Listen, p.Port)
	say(p.Universe == UniverseInfinite, "universe without a bound")
	say(p.Universe > 0, "universe %d", p.Universe)
	say(p.NameServer != "", "name server %s", p.NameServer)
	first := 0
	for i := range p.Programs {
		g := &p.Programs[i]
		say(!p.Through, "ranks %d-%d: %q", first, first+g.N-1, g.Argv)
		say(p.Through, "launcher's command: %q", g.Argv)
		say(g.Dir != "", "  directory %s", g.Dir)
		say(g.Env != EnvAll || len(g.Names) > 0, "  environment %v %q", g.Env, g.Names)
		say(len(g.Set) > 0, "  set %q", g.Set)
		say(g.MemoryKinds != "", "  memory allocation kinds %s", g.MemoryKinds)
		say(g.Errhandler != "", "  initial error handler %s", g.Errhandler)
		first += g.N
	}
	for i := range p.Debug {
		say(true, "ranks %v", &p.Debug[i])
	}
	say(p.DebugIn != "", "debuggers run in %s", p.DebugIn)
	say(p.Tag != TagNone || p.Timestamp, "tag %v, timestamp %v", p.Tag, p.Timestamp)
	say(p.Pattern != "", "before lines %q", p.Pattern)
	say(p.JSON, "lines are objects")
	say(p.Merge, "stderr goes where stdout goes")
	say(p.Out != "", "stdout to %s", p.Out)
	say(p.Err != "", "stderr to %s", p.Err)
	say(p.Dir != "", "output to folder %s, and only there: %v", p.Dir, p.DirOnly)
	say(p.Stdin != StdinOne || p.StdinRank != 0, "stdin %v %d", p.Stdin, p.StdinRank)
	say(p.Timeout != 0, "timeout %v", p.Timeout)
	say(p.ReportOn != 0, "report on signal %d", int(p.ReportOn))
	say(p.Deadlock != DeadlockReport, "deadlock %v", p.Deadlock)
	say(p.DeadlockAfter != defaultDeadlock, "deadlock after %v", p.DeadlockAfter)
	say(p.ABI != ABIAuto, "programs for the ABI of %s", p.ABI)
	say(p.Grace != defaultGrace, "grace %v", p.Grace)
	say(p.Recovery, "fault tolerant")
	say(p.Verbose, "verbose")
	say(p.Quiet, "quiet")
	say(p.Exits, "exit codes of all ranks")
	for _, n := range p.Notes {
		say(true, "note: %s", n)
	}
	return b.String()
}
