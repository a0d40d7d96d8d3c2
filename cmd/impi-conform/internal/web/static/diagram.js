// The sequence diagram of a trace of any length: rows come in pieces from the server, which has laid them out, and only
// those in view are elements of the page.
'use strict';

(() => {
  const section = document.querySelector('#trace');
  if (!section) return;
  const SVG = 'http://www.w3.org/2000/svg';
  const high = 30;       // of a row, in pixels; as in package diagram
  const piece = 200;     // rows that are fetched at once
  const keep = 60;       // pieces that are kept
  const spare = 10;      // rows above and below those in view
  const most = 10e6;     // how high a page may be; above it, rows are reached by keys and by the slider's proportion
  const [scroll, rows, columns, detail] = ['#scroll', '#rows', '#columns', '#detail'].map(s => section.querySelector(s));
  const follow = section.querySelector('#follow'), next = section.querySelector('#next-problem');
  const path = section.dataset.name.split('/').map(encodeURIComponent).join('/');
  const base = '/run/' + section.dataset.run + '/';
  const pieces = new Map(); // by number: rows, or a promise of them
  let total = 0, width = 0, layout = '', heads = [], marks = [], active = -1, open = -1;

  function svg(name, attributes, text) {
    const e = document.createElementNS(SVG, name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  async function get(what) {
    const r = await fetch(base + what);
    if (!r.ok) throw new Error(r.status);
    return r.json();
  }

  // load fetches a piece.
  function load(n) {
    if (!pieces.has(n)) {
      pieces.set(n, get('rows/' + path + '?from=' + n * piece + '&count=' + piece).then(p => {
        pieces.delete(n);
        pieces.set(n, p.rows);
        for (const k of pieces.keys()) if (pieces.size > keep && k !== n) pieces.delete(k);
        if (p.rows.length < piece && n * piece + p.rows.length < p.total) pieces.delete(n);
        measure(p);
        draw();
      }, () => setTimeout(() => pieces.delete(n), 1000)));
    }
    const list = pieces.get(n);
    return Array.isArray(list) ? list : [];
  }

  // measure takes what a piece says of the whole.
  function measure(p) {
    width = p.width;
    rows.style.width = width + 'px';
    const now = JSON.stringify(p.columns);
    if (now !== layout) {
      layout = now;
      heads = p.columns;
      head();
      for (const k of pieces.keys()) if (pieces.get(k) !== p.rows) pieces.delete(k); // laid out in other columns
      rows.replaceChildren();
    }
    if (p.marks.length) marks = p.marks.filter(m => m.row >= 0);
    next.hidden = !marks.length;
    grow(p.total);
  }

  function grow(n) {
    if (n === total) return;
    const last = Math.floor(total / piece);
    if (n > total && Array.isArray(pieces.get(last)) && pieces.get(last).length < piece) pieces.delete(last);
    total = n;
    rows.style.height = Math.min(total * high, most) + 'px';
    section.querySelector('#trace-size').textContent = total + ' events.';
    if (follow.checked) scroll.scrollTop = scroll.scrollHeight;
  }

  function head() {
    const s = svg('svg', {width, height: 36, role: 'img', 'aria-label': 'columns: ' +
      heads.map(c => c.name + (c.tested ? ' (under test)' : '')).join(', ')});
    for (const c of heads) {
      s.append(svg('text', {class: 'column', x: c.x, y: 15}, c.name));
      if (c.tested) s.append(svg('text', {class: 'column', x: c.x, y: 30}, '(under test)'));
    }
    columns.replaceChildren(s);
  }

  // stretch is how many rows a pixel is worth, as a row's height: 1 unless the trace is higher than a page can be.
  const stretch = () => Math.min(1, most / (total * high));
  const top = () => Math.max(0, Math.floor(scroll.scrollTop / (high * stretch())));

  // draw shows the rows in view.
  function draw() {
    const from = Math.max(0, top() - spare);
    const to = Math.min(total, top() + Math.ceil(scroll.clientHeight / high) + spare);
    const there = new Map([...rows.children].map(e => [Number(e.dataset.at), e]));
    for (const [at, e] of there) if (at < from || at >= to) e.remove();
    for (let at = from; at < to; at++) {
      const r = load(Math.floor(at / piece))[at % piece];
      let e = there.get(at);
      if (!r || e && e.isConnected && e.dataset.n == r.n && e.dataset.wrong == String(!!r.wrong)) {
        if (e) place(e, at);
        continue;
      }
      if (e) e.remove();
      e = row(r, at);
      place(e, at);
      rows.append(e);
    }
    const now = rows.querySelector('#row-' + active);
    if (now) rows.setAttribute('aria-activedescendant', now.id);
    else rows.removeAttribute('aria-activedescendant');
  }

  function place(e, at) {
    const y = stretch() === 1 ? at * high : (at - top()) * high + scroll.scrollTop;
    e.style.transform = 'translateY(' + y + 'px)';
    e.setAttribute('aria-selected', at === active);
    e.classList.toggle('open', at === open);
  }

  // row makes the element of a row; lines, texts and classes are those of package diagram's template.
  function row(r, at) {
    const e = document.createElement('div');
    e.className = 'row';
    e.id = 'row-' + at;
    Object.assign(e.dataset, {at, n: r.n, wrong: !!r.wrong});
    e.setAttribute('role', 'option');
    e.setAttribute('aria-posinset', at + 1);
    e.setAttribute('aria-setsize', total);
    e.setAttribute('aria-label', (r.gap ? r.gap + ' events were not kept. ' : '') + r.title);
    const s = svg('svg', {width, height: high, class: r.kind + (r.wrong ? ' wrong' : ''), 'aria-hidden': 'true'});
    for (const c of heads)
      s.append(svg('line', {x1: c.x, x2: c.x, y1: 0, y2: high, class: 'life' + (c.tested ? ' tested' : '')}));
    if (r.head) s.append(svg('line', {class: 'arrow', x1: r.x1, y1: 20, x2: r.x2, y2: 20}), svg('polygon', {points: r.head}));
    else if (r.x1) s.append(svg('circle', {cx: r.x1, cy: 20, r: 3}));
    s.append(svg('text', {class: 'label', x: r.at, y: r.head ? 14 : 24, 'text-anchor': r.anchor},
      (r.wrong ? '✗ ' : '') + r.label));
    const time = element('span', 'stamp', r.time); // it stays in view
    if (r.gap) time.prepend(element('span', 'lost', r.gap + ' not kept'));
    time.setAttribute('aria-hidden', 'true');
    e.append(time, s);
    return e;
  }

  // choose makes a row the active one, and brings it into view.
  function choose(at) {
    active = Math.max(0, Math.min(total - 1, at));
    const y = active * high * stretch();
    if (y < scroll.scrollTop) scroll.scrollTop = y;
    const below = y + high * 2 + columns.offsetHeight - scroll.clientHeight;
    if (below > scroll.scrollTop) scroll.scrollTop = below;
    const r = load(Math.floor(active / piece))[active % piece];
    if (r && r.x1) {
      const left = Math.min(r.x1, r.x2) - 180, right = Math.max(r.x1, r.x2) + 80;
      if (left < scroll.scrollLeft || right > scroll.scrollLeft + scroll.clientWidth)
        scroll.scrollLeft = Math.min(left, Math.max(0, right - scroll.clientWidth));
    }
    draw();
  }

  async function show(at) {
    open = at;
    draw();
    let p;
    try {
      p = await get('event/' + path + '?at=' + at);
    } catch {
      detail.replaceChildren(element('p', 'error', 'The event is not kept any more.'));
      return;
    }
    if (open !== at) return;
    detail.replaceChildren(element('h3', '', p.title));
    choose(at); // there may be less room now
    for (const w of p.wrong) detail.append(element('p', 'error', '✗ ' + w));
    if (p.text) detail.append(element('pre', '', p.text));
    if (p.fields.length) detail.append(fields(p.fields));
    const rule = document.querySelector('#rule');
    if (rule) {
      const quote = element('details', 'quote');
      quote.open = p.wrong.length > 0;
      quote.append(element('summary', '', 'The rule'));
      for (const q of rule.querySelectorAll('details')) {
        quote.append(element('h4', '', q.querySelector('summary').textContent), q.querySelector('blockquote').cloneNode(true));
      }
      detail.append(quote);
    }
  }

  // fields makes a table, with the bytes marked that differ from what they must be.
  function fields(list) {
    const table = element('table', 'fields');
    const first = element('tr');
    for (const t of ['offset', 'length', 'name', 'bytes', 'value']) {
      const th = element('th', '', t);
      th.scope = 'col';
      first.append(th);
    }
    table.append(element('caption', 'unseen', 'Fields'), element('thead'), element('tbody'));
    table.tHead.append(first);
    for (const f of list) {
      const tr = element('tr', f.must ? 'wrong' : '');
      const name = element('th', '', (f.must ? '✗ ' : '') + f.name);
      name.scope = 'row';
      const bytes = element('td', 'bytes');
      for (let i = 0; i < f.raw.length; i += 2) {
        const b = f.raw.slice(i, i + 2);
        bytes.append(f.must && f.must.slice(i, i + 2) !== b ? element('mark', '', b) : b, i % 16 === 14 ? ' ' : '');
      }
      if (f.length > f.raw.length / 2) bytes.append(' ... (' + f.length + ' bytes in all)');
      const value = element('td', '', f.value);
      if (f.must) value.append(element('strong', '', ', must be ' + f.must_value + ' (' + f.must + ')'));
      tr.append(element('td', 'n', f.offset), element('td', 'n', f.length), name, bytes, value);
      table.tBodies[0].append(tr);
    }
    return table;
  }

  // problem goes to the next event that shows a problem, or the previous one.
  function problem(step) {
    const list = marks.map(m => m.row).sort((a, b) => a - b);
    if (!list.length) return;
    const at = step > 0 ? list.find(r => r > active) ?? list[0] : list.findLast(r => r < active) ?? list.at(-1);
    follow.checked = false;
    choose(at);
    show(at);
  }

  rows.addEventListener('keydown', e => {
    const page = Math.max(1, Math.floor(scroll.clientHeight / high) - 2);
    const to = {ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0,
      End: total - 1}[e.key];
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (to !== undefined) {
      follow.checked = false;
      choose(to);
    } else if (e.key === 'Enter' || e.key === ' ') show(Math.max(0, active));
    else if (e.key === 'n') problem(1);
    else if (e.key === 'p') problem(-1);
    else return;
    e.preventDefault();
  });
  rows.addEventListener('focus', () => { if (active < 0 && total) choose(top()); });
  rows.addEventListener('click', e => {
    const r = e.target.closest('.row');
    if (!r) return;
    follow.checked = false;
    rows.focus({preventScroll: true});
    choose(Number(r.dataset.at));
    show(active);
  });
  next.addEventListener('click', () => { problem(1); rows.focus({preventScroll: true}); });
  for (const a of document.querySelectorAll('a[data-row]')) a.addEventListener('click', () => {
    follow.checked = false;
    choose(Number(a.dataset.row));
    show(active);
    rows.focus({preventScroll: true});
  });
  let waiting = false;
  scroll.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  });
  addEventListener('resize', draw);

  // fresh asks for the newest rows when there are some.
  let last = '';
  document.addEventListener('news', e => {
    const c = (e.detail.cases || []).find(c => c.name === section.dataset.name);
    if (e.detail.run !== Number(section.dataset.run) || !c) return;
    const now = c.state + c.events;
    if (now === last) return;
    last = now;
    if (c.state !== 'running') pieces.clear(); // what is wrong is known now
    else pieces.delete(Math.floor(total / piece));
    grow(c.events);
    draw();
  });

  load(0);
})();
