package diagram

// CSS is the style of diagrams. It has no comments, so that it is the same in the page as here. Lines of columns are
// drawn by reference, for which only selectors without ancestors count.
const CSS = `
.diagram{overflow-x:auto}
.diagram svg{display:block}
.diagram text{font:11px ui-monospace,monospace;fill:var(--ink)}
.diagram .column{font-weight:bold;text-anchor:middle}
.life{stroke:var(--faint);stroke-width:1}
.tested{stroke:var(--ink);stroke-width:2}
.diagram .arrow{stroke:var(--ink);stroke-width:1.2}
.diagram .connection .arrow{stroke-dasharray:5 3}
.diagram polygon,.diagram circle{fill:var(--ink)}
.diagram .label{paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.diagram .wrong .label,.diagram .problem .label{fill:var(--bad);font-weight:bold}
.diagram .wrong .arrow{stroke:var(--bad);stroke-width:3}
.diagram .wrong polygon{fill:var(--bad)}
.diagram .time{fill:var(--soft)}
.diagram summary{list-style:none;cursor:pointer}
.diagram summary::-webkit-details-marker{display:none}
.diagram summary:hover,.diagram summary:focus-visible,.diagram :target>summary{background:var(--shade)}
.diagram .gap{margin:0;padding:6px 0 6px 110px;font-style:italic}
.diagram pre{margin:0 0 0 110px;padding:6px;background:var(--shade);white-space:pre}
.diagram mark{background:var(--bad);color:var(--paper);font-weight:bold;text-decoration:underline}
`

// Text defines the template "diagram", of a *Diagram.
const Text = `{{define "diagram"}}{{$d := .}}<div class="diagram" role="group" aria-label="sequence diagram" tabindex="0">
<svg width="{{.Width}}" height="40" role="img" aria-label="columns:{{range .Columns}} {{.Name}}{{if .Implementation}},
 under test{{end}};{{end}}"><defs><g id="{{.ID}}-life">{{range .Columns -}}
<line x1="{{.X}}" x2="{{.X}}" y1="0" y2="30" class="life{{if .Implementation}} tested{{end}}"/>{{end}}</g></defs>
{{range .Columns}}<text class="column" x="{{.X}}" y="16">{{.Name}}</text>{{if .Implementation -}}
<text class="column" x="{{.X}}" y="31">(under test)</text>{{end}}
{{end}}</svg>
{{range .Rows}}{{if .Gap}}<p class="gap">{{.Gap}}</p>
{{else if .Fields}}<details id="{{.ID}}"><summary>{{template "row" .}}<use href="#{{$d.ID}}-life"/>{{template "arrow" .}}</svg>
</summary><pre>{{range .Fields}}{{if .Wrong}}<mark>{{.Text}}</mark>{{else}}{{.Text}}{{end}}{{end}}</pre></details>
{{else}}<div id="{{.ID}}">{{template "row" .}}<use href="#{{$d.ID}}-life"/>{{template "arrow" .}}</svg></div>
{{end}}{{end}}</div>{{end}}

{{define "row"}}<svg width="100%" height="30" role="img" aria-label="{{.Title}}" class="{{.Kind}}{{if .Wrong}} wrong{{end}}">{{end}}

{{define "arrow"}}<text class="time" x="4" y="24">{{.Time}}</text>
{{- if .Head}}<line class="arrow" x1="{{.X1}}" y1="20" x2="{{.X2}}" y2="20"/><polygon points="{{.Head}}"/>
{{- else if .X1}}<circle cx="{{.X1}}" cy="20" r="3"/>{{end -}}
<text class="label" x="{{.At}}" y="{{if .Head}}14{{else}}24{{end}}" text-anchor="{{.Anchor}}">
{{- if .Wrong}}✗ {{end}}{{.Label}}</text>{{end}}
`
