package page

import "github.com/libimpi/libimpi/cmd/impi-conform/internal/diagram"

// style has no comments: html/template would drop them, and the policy has the sum of what is here.
const style = `
:root{color-scheme:light dark;--paper:#fff;--ink:#16191d;--soft:#555b63;--faint:#b4bac2;--shade:#eef1f4;--bad:#a8121d;--good:#116329;--link:#0b4f9e}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e8eaed;--soft:#a5acb5;--faint:#4d545c;--shade:#22272d;--bad:#ff8d8d;--good:#7fd694;--link:#8fc1ff}}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:1px}
table{border-collapse:collapse}
th,td{padding:.2rem .7rem;border-bottom:1px solid var(--faint);text-align:left;vertical-align:top}
td.n,th.n{text-align:right}
.facts td{overflow-wrap:anywhere}
.facts th{white-space:nowrap}
.case{border-top:1px solid var(--faint);padding:.3rem 0 .6rem}
.case h3{margin:.3rem 0}
.case p{margin:.2rem 0}
.verdict{display:inline-block;min-width:8.5rem}
.fail .verdict,.indeterminate .verdict{color:var(--bad)}
.pass .verdict{color:var(--good)}
.problems li,.output{white-space:pre-wrap;overflow-wrap:anywhere}
.problems li{font-weight:bold}
pre.output{background:var(--shade);padding:6px;font-size:12px}
#only-fail:target~main .case:not(.fail),
#only-indeterminate:target~main .case:not(.indeterminate),
#only-skip:target~main .case:not(.skip),
#only-pass:target~main .case:not(.pass){display:none}
@media print{body{max-width:none;font-size:10pt}nav{display:none}.case{break-inside:avoid-page}.diagram{overflow:visible}}
` + diagram.CSS

const text = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{{.Implementation}}: conformance to {{.Specification}}</title>
<style>` + style + `</style>
</head>
<body>
{{range .Verdicts}}<span id="only-{{.}}"></span>{{end}}
<header>
<h1>{{.Implementation}}: conformance to {{.Specification}}</h1>
<table class="facts">
<tr><th scope="row">implementation</th><td>{{.Implementation}} {{.Version}}</td></tr>
<tr><th scope="row">date</th><td>{{.Date.Format "2006-01-02 15:04:05 MST"}}, {{printf "%.1f" .Seconds}} s</td></tr>
<tr><th scope="row">tester</th><td>{{.Tester}}</td></tr>
<tr><th scope="row">machine</th><td>{{.Machine}}</td></tr>
{{range .Configuration}}<tr><th scope="row">{{.Name}}</th><td><code>{{.Value}}</code></td></tr>
{{end}}</table>
</header>
<nav aria-label="verdicts shown"><p>Show {{range .Verdicts}}<a href="#only-{{.}}">{{sign .}} {{.}}</a>, {{end -}}
<a href="#cases">all cases</a>.</p></nav>
<main>
<h2 id="verdicts">Verdicts</h2>
<table>
<thead><tr><th scope="col">group</th>{{range .Verdicts}}<th scope="col" class="n">
{{- ""}}<a href="#only-{{.}}">{{sign .}} {{.}}</a></th>{{end}}<th scope="col" class="n">all</th></tr></thead>
<tbody>
{{range .Groups}}<tr><th scope="row"><a href="#group-{{.Name}}">{{.Name}}</a></th>{{range .Counts -}}
<td class="n">{{.}}</td>{{end}}<td class="n">{{.Sum}}</td></tr>
{{end}}<tr><th scope="row">all</th>{{range .Total.Counts}}<th class="n">{{.}}</th>{{end}}<th class="n">{{.Total.Sum}}</th></tr>
</tbody>
</table>
<h2 id="cases">Cases</h2>
{{range .Cases}}{{if .First}}<h2 id="group-{{.Group}}">{{.Group}}</h2>
{{end}}<section class="case {{.Verdict}}" id="{{.ID}}">
<h3><span class="verdict">{{sign .Verdict}} {{.Verdict}}</span> {{.Name}}</h3>
<p>{{.Sentence}} (IMPI 0.0, {{.Rule}}; {{printf "%.3f" .Seconds}} s)</p>
{{$id := .ID}}{{if .Problems}}<ul class="problems">
{{range .Problems}}<li>{{.Text}}{{if .Event}} (<a href="#{{$id}}-{{.Event}}">event {{.Event}}</a>){{end}}</li>
{{end}}</ul>
{{end}}{{if .Output}}<details><summary>What the implementation wrote</summary><pre class="output">{{.Output}}</pre></details>
{{end}}{{if .Diagram}}<details{{if .Open}} open{{end}}><summary>Sequence diagram, {{.Events}} events</summary>
{{template "diagram" .Diagram}}</details>
{{end}}</section>
{{end}}</main>
</body>
</html>
`
