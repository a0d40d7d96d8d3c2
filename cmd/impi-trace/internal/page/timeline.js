// timeline.js: the canvas of ranks and time. view says which part is shown; draw() shows it: by shares of the levels as
// long as a bucket is no wider than a pixel, or there are no calls one by one; else call by call.
const causes = ['', 'late sender', 'late receiver', 'late at collective', 'rendezvous', 'back-pressure'];
const end = meta.begin + Math.max(1, meta.span);
const view = {from: meta.begin, to: end, top: 0, arrows: true, critical: true, bright: null};
const timeline = {canvas: $('#timeline'), calls: [], messages: {n: 0}, path: [], levels: [], ready: false, drawn: ''};
const ruler = 22; // height of the axis, in pixels

function gutter() { return Math.max(48, 20 + 8 * String(meta.ranks - 1).length + 24); }

function layout() {
  const canvas = timeline.canvas, width = canvas.clientWidth, shown = Math.min(meta.ranks, 64);
  const row = Math.max(6, Math.min(28, Math.floor(520 / shown))), height = ruler + row * shown;
  canvas.style.height = height + 'px';
  const scale = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  return {width, height, row, shown, scale, left: gutter(), right: width};
}

function palette() {
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue('--' + name).trim();
  return {states: meta.classes.map(colour), computing: colour('computing'), ink: colour('ink'), soft: colour('soft'),
    paper: colour('paper'), faint: colour('faint'), arrow: colour('arrow'), path: colour('path')};
}

function rgba(colour) { // #rgb or #rrggbb as a pixel
  const h = colour.length === 4 ? [...colour.slice(1)].map((c) => c + c).join('') : colour.slice(1);
  const v = parseInt(h, 16);
  return (0xff000000 | (v & 0xff) << 16 | v & 0xff00 | v >> 16) >>> 0;
}

function clamp() {
  const least = Math.min(20, end - meta.begin);
  let width = Math.min(end - meta.begin, Math.max(least, view.to - view.from));
  view.from = Math.min(Math.max(meta.begin, view.from), end - width);
  view.to = view.from + width;
  view.top = Math.max(0, Math.min(view.top, meta.ranks - Math.min(meta.ranks, 64)));
}

let asked = false;
function redraw() {
  clamp();
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
}

function draw() {
  const g = layout(), p = palette(), c = timeline.canvas.getContext('2d');
  c.setTransform(g.scale, 0, 0, g.scale, 0, 0);
  c.fillStyle = p.paper;
  c.fillRect(0, 0, g.width, g.height);
  if (!timeline.ready) return;
  const pixel = (view.to - view.from) / (g.right - g.left), bucket = meta.span / meta.buckets;
  const few = meta.left === 0 && timeline.calls.reduce((n, r) => n + r.n, 0) < 20000;
  timeline.drawn = few || pixel < bucket ? 'calls' : 'levels';
  if (timeline.drawn === 'levels' || meta.left > 0) drawLevels(c, g, p, pixel);
  if (timeline.drawn === 'calls') drawCalls(c, g, p, pixel);
  if (view.critical) drawPath(c, g, p);
  if (view.arrows) drawMessages(c, g, p);
  drawLabels(c, g, p);
  say(g);
}

function drawLevels(c, g, p, pixel) {
  let level = timeline.levels[0];
  for (const l of timeline.levels) if (meta.span / l.buckets <= pixel) level = l;
  const w = Math.round((g.right - g.left) * g.scale), h = Math.round(g.row * g.scale), states = meta.classes.length;
  const image = c.createImageData(w, h), pixels = new Uint32Array(image.data.buffer);
  const colours = p.states.map(rgba), idle = rgba(p.computing), paper = rgba(p.paper), gap = h > 8 ? Math.ceil(g.scale) : 0;
  for (let y = 0; y < g.shown; y++) {
    const base = (view.top + y) * level.buckets;
    pixels.fill(idle);
    for (let x = 0; x < w; x++) {
      const at = view.from - meta.begin + (x + .5) / w * (view.to - view.from);
      const i = (base + Math.min(level.buckets - 1, Math.floor(at / meta.span * level.buckets))) * states;
      let low = h;
      for (let s = 0; s < states; s++) {
        const share = level.shares[i + s];
        if (share === 0) continue;
        const high = Math.max(gap, low - Math.max(1, Math.round(share / 255 * (h - gap))));
        for (let k = high; k < low; k++) pixels[k * w + x] = colours[s];
        low = high;
      }
      for (let k = 0; k < gap; k++) pixels[k * w + x] = paper;
    }
    c.putImageData(image, Math.round(g.left * g.scale), Math.round((ruler + y * g.row) * g.scale));
  }
}

// visible goes through the calls of a rank that overlap a time.
function visible(calls, from, to, each) {
  for (let i = first(calls.start, from - calls.longest); i < calls.n && calls.start[i] < to; i++) {
    if (calls.end[i] >= from) each(i);
  }
}

function drawCalls(c, g, p, pixel) {
  const x = (t) => g.left + (t - view.from) / pixel;
  for (let y = 0; y < g.shown; y++) {
    const calls = timeline.calls[view.top + y], top = ruler + y * g.row, height = g.row - (g.row > 8 ? 1 : 0);
    if (meta.left === 0) {
      c.fillStyle = p.computing;
      c.fillRect(g.left, top, g.right - g.left, height);
    }
    let last = -1, lastState = -1;
    const bar = (from, to, state, dim) => {
      const a = Math.max(g.left, x(from)), b = Math.min(g.right, Math.max(a + 1, x(to)));
      if (Math.floor(a) === last && b - a <= 1 && state === lastState) return; // it is there already
      last = Math.floor(a);
      lastState = state;
      c.globalAlpha = dim ? .25 : 1;
      c.fillStyle = p.states[state];
      c.fillRect(a, top, b - a, height);
      c.globalAlpha = 1;
    };
    visible(calls, view.from, view.to, (i) => {
      const dim = view.bright && !view.bright.has(calls.key[i]), from = calls.start[i], to = calls.end[i];
      bar(from, to, meta.states[calls.key[i]], dim);
      if (calls.cause[i]) bar(from, Math.min(to, from + calls.waited[i]), 4 + calls.cause[i], dim);
      const width = Math.min(g.right, x(to)) - Math.max(g.left, x(from));
      if (width > 70 && g.row >= 14) {
        c.fillStyle = p.paper;
        c.font = '11px system-ui,sans-serif';
        c.fillText(meta.names[calls.key[i]].slice(0, width / 7), Math.max(g.left, x(from)) + 4, top + height / 2 + 4);
      }
    });
  }
}

function drawMessages(c, g, p) {
  const m = timeline.messages, pixel = (view.to - view.from) / (g.right - g.left), lines = [];
  for (let i = 0; i < m.n && lines.length <= 1500; i++) {
    if (m.sent[i] < view.to && m.got[i] > view.from && (row(m.from[i], g) || row(m.to[i], g))) lines.push(i);
  }
  timeline.arrows = lines.length > 1500 ? -1 : lines.length;
  if (lines.length > 1500) return; // one could not tell them apart
  c.save();
  c.beginPath();
  c.rect(g.left, ruler, g.right - g.left, g.height - ruler);
  c.clip();
  c.strokeStyle = c.fillStyle = p.arrow;
  c.globalAlpha = lines.length > 300 ? .4 : .8;
  const y = (rank) => ruler + (rank - view.top + .5) * g.row, x = (t) => g.left + (t - view.from) / pixel;
  for (const i of lines) {
    const a = [x(m.sent[i]), y(m.from[i])], b = [x(m.got[i]), y(m.to[i])], angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    c.beginPath();
    c.moveTo(...a);
    c.lineTo(...b);
    c.stroke();
    c.beginPath();
    c.moveTo(...b);
    for (const turn of [2.75, -2.75]) c.lineTo(b[0] + 6 * Math.cos(angle + turn), b[1] + 6 * Math.sin(angle + turn));
    c.fill();
  }
  c.restore();
}

function row(rank, g) { return rank >= view.top && rank < view.top + g.shown; }

function drawPath(c, g, p) {
  const pixel = (view.to - view.from) / (g.right - g.left), x = (t) => g.left + (t - view.from) / pixel;
  c.save();
  c.beginPath();
  c.rect(g.left, ruler, g.right - g.left, g.height - ruler);
  c.clip();
  c.strokeStyle = p.path;
  c.lineWidth = 2;
  c.beginPath();
  let before = null;
  for (const s of timeline.path) {
    if (s.to >= view.from && s.from <= view.to) {
      const y = ruler + (s.rank - view.top + 1) * g.row - 2;
      if (before === null) c.moveTo(x(s.from), y); else c.lineTo(x(s.from), y);
      c.lineTo(x(s.to), y);
      before = s;
    }
  }
  c.stroke();
  c.restore();
}

function drawLabels(c, g, p) {
  c.fillStyle = p.paper;
  c.fillRect(0, 0, g.left, g.height);
  c.fillRect(0, 0, g.width, ruler);
  c.fillStyle = p.ink;
  c.font = '12px system-ui,sans-serif';
  const every = Math.ceil(12 / g.row);
  for (let y = 0; y < g.shown; y += every) {
    c.fillText('rank ' + (view.top + y), 4, ruler + y * g.row + Math.min(g.row - 1, g.row / 2 + 5));
  }
  const span = view.to - view.from, step = niceStep(span / Math.max(2, (g.right - g.left) / 130));
  c.fillStyle = c.strokeStyle = p.soft;
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = g.left + (t - view.from) / span * (g.right - g.left);
    c.fillRect(x, ruler - 5, 1, 5);
    if (x < g.right - 50) c.fillText(timeIn(t, step), x + 3, ruler - 8);
  }
}

function niceStep(v) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, v)));
  return [1, 2, 5, 10].map((f) => f * unit).find((s) => s >= v) ?? 10 * unit;
}

// say tells in words what is shown.
function say(g) {
  const last = view.top + g.shown - 1, step = Math.max(1, (view.to - view.from) / 1000);
  let text = 'From ' + timeIn(view.from, step) + ' to ' + timeIn(view.to, step) + ', ranks ' + view.top + ' to ' + last;
  if (view.arrows && timeline.arrows < 0) text += '; messages are drawn when fewer are in view';
  if (timeline.drawn === 'calls' && meta.left > 0) text += '; only calls of at least ' + timeText(meta.shortest) + ' are apart';
  if ($('#range').textContent !== text) $('#range').textContent = text;
}

// at is the call under a point; inner calls come last, and win.
function at(px, py) {
  const g = layout(), rank = view.top + Math.floor((py - ruler) / g.row);
  if (px < g.left || py < ruler || rank >= meta.ranks) return null;
  const pixel = (view.to - view.from) / (g.right - g.left), t = view.from + (px - g.left) * pixel, calls = timeline.calls[rank];
  let found = -1;
  visible(calls, t - pixel, t + pixel, (i) => { if (calls.start[i] <= t || found < 0) found = i; });
  return {rank, t, call: found};
}

function describe(spot) {
  const {rank, t, call} = spot, machine = meta.machines[rank], calls = timeline.calls[rank];
  const who = 'rank ' + rank + (machine ? ' on ' + machine : '');
  if (call < 0) return who + ' computes at ' + timeText(t);
  const key = calls.key[call], length = calls.end[call] - calls.start[call];
  const parts = [who + ': ' + meta.names[key] + (meta.places[key] ? ' ' + meta.places[key] : '') + ', ' + timeText(length) +
    ' from ' + timeIn(calls.start[call], Math.max(1, length / 1000)) + ' on'];
  if (calls.peer[call] >= 0) parts.push('peer rank ' + calls.peer[call]);
  if (calls.tag[call] >= 0) parts.push('tag ' + calls.tag[call]);
  if (calls.bytes[call] > 0) parts.push(bytesText(calls.bytes[call]));
  if (calls.comm[call] >= 0) parts.push('on ' + meta.comms[calls.comm[call]]);
  if (calls.cause[call]) {
    parts.push('waited ' + timeText(calls.waited[call]) + ': ' + causes[calls.cause[call]] + ', rank ' + calls.by[call]);
  }
  return parts.join(', ');
}

function zoom(factor, around) {
  const middle = around ?? (view.from + view.to) / 2;
  view.from = middle - (middle - view.from) * factor;
  view.to = middle + (view.to - middle) * factor;
  redraw();
}

function move(share) {
  const by = (view.to - view.from) * share;
  view.from += by;
  view.to += by;
  redraw();
}

function show(rank, from, to) {
  const margin = Math.max(50, (to - from) * .3);
  view.from = from - margin;
  view.to = to + margin;
  if (rank < view.top || rank >= view.top + 64) view.top = rank - 32;
  redraw();
}
