// page.js: what keys, the mouse, buttons and tables do.
const canvas = timeline.canvas;
let waitAt = -1;

function nextWait() {
  const rows = [...document.querySelectorAll('#waits tbody tr')];
  if (rows.length === 0) return;
  waitAt = (waitAt + 1) % rows.length;
  goTo(rows[waitAt]);
}

function goTo(line) {
  const rank = +line.dataset.rank, from = +line.dataset.from;
  show(rank, from, +line.dataset.to);
  const calls = timeline.calls[rank], i = first(calls.start, from);
  $('#detail').textContent = i < calls.n && calls.start[i] === from ? describe({rank, t: from, call: i}) :
    'rank ' + rank + ' waited ' + timeText(line.dataset.to - from);
}

function toggle(name) {
  const box = $('#' + name);
  view[name] = box.checked;
  redraw();
}

const actions = {in: () => zoom(.5), out: () => zoom(2), left: () => move(-.25), right: () => move(.25), next: nextWait,
  all: () => { view.from = meta.begin; view.to = end; view.top = 0; redraw(); }};
for (const [id, act] of Object.entries(actions)) document.getElementById(id).addEventListener('click', act);
for (const id of ['arrows', 'critical']) document.getElementById(id).addEventListener('change', () => toggle(id));

const keys = {'+': actions.in, '=': actions.in, '-': actions.out, '0': actions.all, ArrowLeft: actions.left,
  ArrowRight: actions.right, ArrowUp: () => { view.top--; redraw(); }, ArrowDown: () => { view.top++; redraw(); },
  PageUp: () => { view.top -= 32; redraw(); }, PageDown: () => { view.top += 32; redraw(); }, n: nextWait,
  Home: () => move(-1e9), End: () => move(1e9),
  m: () => { $('#arrows').checked = !view.arrows; toggle('arrows'); },
  c: () => { $('#critical').checked = !view.critical; toggle('critical'); }};
canvas.addEventListener('keydown', (e) => {
  const act = keys[e.key];
  if (!act || e.ctrlKey || e.altKey || e.metaKey) return;
  e.preventDefault();
  act();
});

function timeAt(x) {
  const left = gutter();
  return view.from + (x - left) / (canvas.clientWidth - left) * (view.to - view.from);
}

canvas.addEventListener('wheel', (e) => {
  e.preventDefault();
  if (e.shiftKey) move(Math.sign(e.deltaY || e.deltaX) * .1);
  else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(e.deltaX / canvas.clientWidth);
  else zoom(e.deltaY > 0 ? 1.25 : .8, timeAt(e.offsetX));
}, {passive: false});

let drag = null;
canvas.addEventListener('pointerdown', (e) => {
  canvas.focus();
  canvas.setPointerCapture(e.pointerId);
  drag = {x: e.offsetX, y: e.offsetY, from: view.from, to: view.to, top: view.top, range: e.shiftKey, moved: false};
});
canvas.addEventListener('pointermove', (e) => {
  if (!drag) {
    const spot = timeline.ready && at(e.offsetX, e.offsetY);
    if (spot) $('#detail').textContent = describe(spot);
    return;
  }
  drag.moved ||= Math.abs(e.offsetX - drag.x) > 3 || Math.abs(e.offsetY - drag.y) > 3;
  if (!drag.moved) return;
  if (drag.range) {
    draw();
    const c = canvas.getContext('2d');
    c.globalAlpha = .2;
    c.fillStyle = palette().ink;
    c.fillRect(drag.x, ruler, e.offsetX - drag.x, canvas.clientHeight);
    c.globalAlpha = 1;
    return;
  }
  const g = layout(), by = (drag.x - e.offsetX) / (g.right - g.left) * (drag.to - drag.from);
  view.from = drag.from + by;
  view.to = drag.to + by;
  view.top = drag.top + Math.round((drag.y - e.offsetY) / g.row);
  redraw();
});
canvas.addEventListener('pointerup', (e) => {
  if (drag?.range && drag.moved) {
    const [a, b] = [timeAt(drag.x), timeAt(e.offsetX)];
    view.from = Math.min(a, b);
    view.to = Math.max(a, b);
    redraw();
  }
  drag = null;
});
canvas.addEventListener('pointercancel', () => { drag = null; });

// A line of the waits leads to its place.
$('#waits')?.addEventListener('click', (e) => {
  const line = e.target.closest('tr.go');
  if (line) goTo(line);
});

// The heads of columns sort.
for (const table of document.querySelectorAll('#ranks, #waits, #calls, #pair-table')) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => sort(table, head, column));
  });
}

function sort(table, head, column) {
  const down = head.getAttribute('aria-sort') !== 'descending', body = table.tBodies[0];
  for (const h of table.tHead.rows[0].cells) h.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const value = (line) => {
    const cell = line.cells[column], number = cell.dataset.v ?? cell.textContent;
    return cell.classList.contains('n') ? Number.parseFloat(number) : cell.textContent;
  };
  const lines = [...body.rows].map((line) => ({line, v: value(line)}));
  lines.sort((a, b) => (a.v < b.v ? -1 : a.v > b.v ? 1 : 0) * (down ? -1 : 1));
  body.append(...lines.map((l) => l.line));
}

// The search shows lines of the table of calls that have all its words, and dims other calls in the timeline.
$('#search').addEventListener('input', () => {
  const words = $('#search').value.toLowerCase().split(/\s+/).filter(Boolean), found = new Set();
  for (const line of $('#calls').tBodies[0].rows) {
    const text = (line.cells[0].textContent + ' ' + line.cells[1].textContent).toLowerCase();
    const shown = words.every((w) => text.includes(w));
    line.classList.toggle('hidden', !shown);
    if (shown) found.add(+line.dataset.key);
  }
  view.bright = words.length ? found : null;
  $('#found').textContent = words.length ? found.size + ' of ' + $('#calls').tBodies[0].rows.length + ' lines' : '';
  redraw();
});

// The matrix.
const matrix = {canvas: $('#matrix'), pairs: null, at: [0, 0]};
function drawMatrix() {
  const {canvas, pairs} = matrix, n = Math.ceil(meta.ranks / pairs.each), side = canvas.clientWidth, p = palette();
  const scale = window.devicePixelRatio || 1, c = canvas.getContext('2d'), cell = side / n;
  canvas.style.height = side + 'px';
  canvas.width = canvas.height = Math.round(side * scale);
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.fillStyle = p.paper;
  c.fillRect(0, 0, side, side);
  const most = pairs.cells.reduce((m, e) => Math.max(m, e.bytes), 1);
  c.fillStyle = p.states[0];
  for (const e of pairs.cells) {
    c.globalAlpha = .15 + .85 * Math.log2(1 + e.bytes) / Math.log2(1 + most);
    c.fillRect(e.to * cell, e.from * cell, Math.max(1, cell - (cell > 4)), Math.max(1, cell - (cell > 4)));
  }
  c.globalAlpha = 1;
}

function cellText(from, to) {
  const {pairs} = matrix, e = pairs.cells.find((e) => e.from === from && e.to === to);
  const ranks = (i) => pairs.each === 1 ? 'rank ' + i :
    'ranks ' + i * pairs.each + ' to ' + Math.min(meta.ranks, (i + 1) * pairs.each) + ' (exclusive)';
  return ranks(from) + ' to ' + ranks(to) + ': ' + (e ? e.messages + ' messages, ' + bytesText(e.bytes) : 'no messages');
}

function pick(from, to) {
  const n = Math.ceil(meta.ranks / matrix.pairs.each), inside = (v) => Math.max(0, Math.min(n - 1, v));
  matrix.at = [inside(from), inside(to)];
  $('#cell').textContent = cellText(...matrix.at);
}
matrix.canvas.addEventListener('pointermove', (e) => {
  const n = Math.ceil(meta.ranks / matrix.pairs.each), side = matrix.canvas.clientWidth;
  pick(Math.floor(e.offsetY / side * n), Math.floor(e.offsetX / side * n));
});
matrix.canvas.addEventListener('keydown', (e) => {
  const by = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[e.key];
  if (!by) return;
  e.preventDefault();
  pick(matrix.at[0] + by[0], matrix.at[1] + by[1]);
});

function repaint() {
  draw();
  if (matrix.pairs) drawMatrix();
}
addEventListener('resize', repaint);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
for (const [event, on] of [['beforeprint', true], ['afterprint', false]]) {
  addEventListener(event, () => { document.documentElement.classList.toggle('print', on); repaint(); });
}

(async () => {
  timeline.levels = pyramid(await unpack('levels'));
  timeline.calls = readCalls(await unpack('calls'));
  timeline.messages = readMessages(await unpack('messages'));
  timeline.path = readPath(await unpack('path'));
  matrix.pairs = readPairs(await unpack('pairs'));
  timeline.ready = true;
  repaint();
  document.documentElement.dataset.ready = 'yes';
})();
