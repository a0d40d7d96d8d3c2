// What is live on every page: the state of the newest run, lists of cases, the script's editor. It gets news from the
// server's stream and shows them as text, never as HTML.
'use strict';

const signs = {pass: '✓', fail: '✗', indeterminate: '?', skip: '–', running: '▶', queued: '·', 'not run': '○'};
const going = phase => phase === 'waiting' || phase === 'running';
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// element makes an element with text.
function element(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// The stream. A page that is not seen holds none: browsers allow few connections.
let source = null;
function listen() {
  if (document.hidden) {
    if (source) source.close();
    source = null;
  } else if (!source) {
    source = new EventSource('/events');
    source.onmessage = m => show(JSON.parse(m.data));
    source.onerror = () => {
      if (source && source.readyState === EventSource.CONNECTING) one('#phase').textContent = 'no connection to the tester';
    };
  }
}
document.addEventListener('visibilitychange', listen);
listen();

let before = null; // the news before
function show(news) {
  status(news);
  for (const c of news.cases || []) caseNews(c);
  tally();
  announce(news);
  if (before && String(before.prompts) !== String(news.prompts) && location.pathname === '/hand' &&
      !all('input[name=answer]').some(i => i.value)) location.reload();
  before = news;
  document.dispatchEvent(new CustomEvent('news', {detail: news}));
}

function status(n) {
  let phase = n.phase || 'no run yet';
  if (phase === 'waiting') phase = "waits for other sessions' runs";
  one('#phase').textContent = phase;
  one('#done').textContent = n.total ? n.done + ' of ' + n.total : '';
  for (const c of all('[data-count]')) {
    const k = (n.count || {})[c.dataset.count] || 0;
    one('.n', c).textContent = k;
    c.hidden = !k;
  }
  one('#stop').hidden = !going(n.phase);
  const bar = one('#progress');
  bar.hidden = !going(n.phase);
  bar.max = n.total || 1;
  bar.value = n.done;
  one('#todo').hidden = !n.prompts.length;
}

// announce says for screen readers how far a run is, but not every moment.
let said = 0;
function announce(n) {
  const ended = before && going(before.phase) && !going(n.phase);
  const todo = before && n.prompts.length > before.prompts.length;
  if (!ended && !todo && (!going(n.phase) || Date.now() - said < 5000)) return;
  said = Date.now();
  const counts = Object.entries(n.count || {}).filter(([s]) => s !== 'queued' && s !== 'running');
  one('#said').textContent = (todo ? 'Something has to be started by hand. ' : '') +
    (ended ? 'The run is over: ' : n.done + ' of ' + n.total + ' cases: ') +
    counts.map(([s, k]) => k + ' ' + s).join(', ');
}

function caseNews(c) {
  for (const row of all('[data-case]')) {
    if (row.dataset.case !== c.name) continue;
    const cell = one('[data-state]', row);
    const was = cell.textContent;
    const state = element('span', 'state ' + c.state);
    const sign = element('b', '', signs[c.state] || '');
    sign.setAttribute('aria-hidden', 'true');
    state.append(sign, ' ' + c.state);
    if (was !== state.textContent) cell.replaceChildren(state);
    row.dataset.is = c.state;
    const seconds = one('[data-seconds]', row);
    if (seconds) seconds.textContent = c.seconds ? c.seconds.toFixed(2) + (row.tagName === 'TR' ? '' : ' s') : '';
    // The page of a case has more to say when it is over.
    if (location.pathname.startsWith('/case/') && /running|queued/.test(was) && !/running|queued/.test(c.state))
      location.reload();
  }
}

// Lists of cases.
const list = one('#cases');
function tally() {
  if (!list) return;
  for (const g of all('.group', list)) {
    const counts = {};
    for (const r of all('tr[data-case]', g)) counts[r.dataset.is] = (counts[r.dataset.is] || 0) + 1;
    one('.tally', g).textContent = ['fail', 'indeterminate', 'pass', 'skip'].filter(s => counts[s])
      .map(s => signs[s] + ' ' + counts[s] + ' ' + s).join('  ');
  }
  one('#run-failed').disabled = !all('tr[data-is=fail],tr[data-is=indeterminate]', list).length;
}

function filter() {
  const words = one('#filter').value.toLowerCase().split(/\s+/).filter(w => w);
  const states = one('#only').value;
  let shown = 0;
  for (const g of all('.group', list)) {
    let some = false;
    for (const r of all('tr[data-case]', g)) {
      const is = r.dataset.is || 'none';
      const text = r.textContent.toLowerCase();
      r.hidden = !(words.every(w => text.includes(w)) && (!states || states.split(' ').includes(is)));
      if (!r.hidden) some = true, shown++;
    }
    g.hidden = !some;
  }
  one('#none').hidden = shown > 0;
  picked();
}

// picked counts; what the filter hides is not picked.
function picked() {
  const boxes = all('input[name=case]', list);
  for (const b of boxes) b.disabled = b.closest('tr').hidden;
  const n = boxes.filter(b => b.checked && !b.disabled).length;
  one('#picked').textContent = n ? '(' + n + ')' : '';
  one('#run-picked').disabled = !n;
  for (const g of all('.group', list)) {
    const own = all('input[name=case]', g).filter(b => !b.disabled);
    const k = own.filter(b => b.checked).length;
    const box = one('.all', g);
    box.checked = k > 0 && k === own.length;
    box.indeterminate = k > 0 && k < own.length;
  }
}

if (list) {
  one('#filter').addEventListener('input', filter);
  one('#filter').addEventListener('keydown', e => { if (e.key === 'Enter') e.preventDefault(); });
  one('#only').addEventListener('change', filter);
  list.addEventListener('change', e => {
    if (e.target.classList.contains('all'))
      for (const b of all('input[name=case]', e.target.closest('.group'))) if (!b.disabled) b.checked = e.target.checked;
    picked();
  });
  list.addEventListener('click', e => {
    if (!e.target.classList.contains('fold')) return;
    const open = e.target.getAttribute('aria-expanded') !== 'true';
    e.target.setAttribute('aria-expanded', open);
    e.target.textContent = open ? 'hide' : 'show';
    one('#' + e.target.getAttribute('aria-controls')).hidden = !open;
  });
  filter();
  tally();
}

// The editor: numbers of lines beside the text, and where errors are.
const text = one('#text');
if (text) {
  const numbers = one('#numbers');
  const renumber = () => {
    numbers.textContent = text.value.split('\n').map((_, i) => i + 1).join('\n');
    numbers.scrollTop = text.scrollTop;
  };
  const position = () => {
    const lines = text.value.slice(0, text.selectionStart).split('\n');
    one('#position').textContent = 'line ' + lines.length + ', column ' + (lines.at(-1).length + 1);
  };
  text.addEventListener('input', renumber);
  text.addEventListener('scroll', () => { numbers.scrollTop = text.scrollTop; });
  for (const e of ['keyup', 'click', 'input']) text.addEventListener(e, position);
  for (const b of all('.goto')) b.addEventListener('click', () => {
    const lines = text.value.split('\n').slice(0, b.dataset.line - 1);
    const at = lines.reduce((n, l) => n + l.length + 1, 0) + Math.max(b.dataset.column - 1, 0);
    text.focus();
    text.setSelectionRange(at, at + 1);
    text.scrollTop = (b.dataset.line - 5) * parseFloat(getComputedStyle(text).lineHeight);
    position();
  });
  renumber();
}

// Commands are copied; where the browser does not allow it, they are selected.
for (const b of all('.copy')) b.addEventListener('click', async () => {
  const from = one('#' + b.dataset.copy);
  try {
    await navigator.clipboard.writeText(from.textContent);
    b.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(from);
  }
});
