package options

import "fmt"

// Options of the page about a running job.

func webOptions() []option {
	return []option{
		{names: []string{"web"}, values: []string{"ADDRESS"}, optional: true,
			help: "with -server: serve a page that shows the job: clients, traffic between them, how it ends. ADDRESS is " +
				"PORT, HOST or HOST:PORT (default: a free port at the loopback address); stderr says where the page is",
			apply: func(p *parser, v []string) error {
				p.plan.Web = true
				if len(v) > 0 {
					p.plan.WebAddress = v[0]
				}
				return nil
			}},
		{names: []string{"web-token"}, values: []string{"FILE"},
			help: "with -web: a file, which only its owner may read, with a word that browsers have to show, of 16 " +
				"characters or more; without it ADDRESS has to be a loopback one",
			apply: func(p *parser, v []string) error { p.plan.WebToken = v[0]; return nil }},
	}
}

// serverOnly are the options that go with -server and nothing else.
var serverOnly = []string{"auth", "file", "web", "web-token"}

// settleWeb refuses a token without a page.
func (p *parser) settleWeb() error {
	if p.seen["web-token"] && !p.seen["web"] {
		return fmt.Errorf("-web-token goes with -web")
	}
	return nil
}
