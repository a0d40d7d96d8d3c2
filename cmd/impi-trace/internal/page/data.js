// data.js: the numbers of the page. unpack() makes bytes of an element, Reader numbers of bytes.
const $ = (css) => document.querySelector(css);
const meta = JSON.parse($('#meta').textContent);

async function unpack(id) {
  const element = $('#packed-' + id), text = atob(element.textContent), packed = new Uint8Array(text.length);
  element.remove();
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  number() {
    let b = this.bytes[this.at++], v = b & 127, scale = 128;
    while (b > 127) {
      b = this.bytes[this.at++];
      v += (b & 127) * scale;
      scale *= 128;
    }
    return v;
  }
}

// readCalls makes columns of each rank's calls.
function readCalls(bytes) {
  const r = new Reader(bytes), ranks = [];
  for (let rank = 0; rank < meta.ranks; rank++) {
    const n = r.number(), calls = {n, start: new Float64Array(n), end: new Float64Array(n), key: new Uint32Array(n),
      comm: new Int32Array(n), peer: new Int32Array(n), tag: new Int32Array(n), bytes: new Float64Array(n),
      cause: new Uint8Array(n), waited: new Float64Array(n), by: new Int32Array(n), longest: 0};
    let before = 0;
    for (let i = 0; i < n; i++) {
      before += r.number();
      const length = r.number();
      calls.start[i] = before;
      calls.end[i] = before + length;
      calls.longest = Math.max(calls.longest, length);
      calls.key[i] = r.number();
      calls.comm[i] = r.number() - 1;
      calls.peer[i] = r.number() - 1;
      calls.tag[i] = r.number() - 1;
      calls.bytes[i] = r.number();
      calls.cause[i] = r.number();
      if (calls.cause[i]) {
        calls.waited[i] = r.number();
        calls.by[i] = r.number();
      }
    }
    ranks.push(calls);
  }
  return ranks;
}

function readMessages(bytes) {
  const r = new Reader(bytes), n = r.number();
  const list = {n, from: new Int32Array(n), to: new Int32Array(n), sent: new Float64Array(n), got: new Float64Array(n),
    bytes: new Float64Array(n)};
  for (let i = 0; i < n; i++) {
    list.from[i] = r.number();
    list.to[i] = r.number();
    list.sent[i] = r.number();
    list.got[i] = list.sent[i] + r.number();
    list.bytes[i] = r.number();
  }
  return list;
}

function readPath(bytes) {
  const r = new Reader(bytes), list = [];
  for (let n = r.number(); n > 0; n--) {
    const rank = r.number(), from = r.number();
    list.push({rank, from, to: from + r.number()});
  }
  return list;
}

function readPairs(bytes) {
  const r = new Reader(bytes), pairs = {each: r.number(), cells: []};
  for (let n = r.number(); n > 0; n--) {
    pairs.cells.push({from: r.number(), to: r.number(), messages: r.number(), bytes: r.number()});
  }
  return pairs;
}

// pyramid makes levels of the finest one: each has half as many buckets, whose shares are the means of two.
function pyramid(bytes) {
  const states = meta.classes.length, levels = [{buckets: meta.buckets, shares: bytes}];
  while (levels.at(-1).buckets > 64) {
    const below = levels.at(-1), buckets = below.buckets / 2, shares = new Uint8Array(meta.ranks * buckets * states);
    for (let i = 0; i < meta.ranks * buckets; i++) {
      for (let s = 0; s < states; s++) {
        shares[i * states + s] = (below.shares[2 * i * states + s] + below.shares[(2 * i + 1) * states + s] + 1) >> 1;
      }
    }
    levels.push({buckets, shares});
  }
  return levels;
}

// first is the first index whose value is at least v.
function first(sorted, v) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < v) low = middle + 1; else high = middle;
  }
  return low;
}

function timeText(ns) {
  let v = ns, unit = 'ns';
  for (const next of ['µs', 'ms', 's']) {
    if (Math.abs(v) < 999.5) break;
    v /= 1000;
    unit = next;
  }
  const size = Math.abs(v), digits = size >= 99.95 || unit === 'ns' ? 0 : size >= 9.995 ? 1 : 2;
  return v.toFixed(digits) + ' ' + unit;
}

// timeIn is a time with so many digits that steps of a length can be told.
function timeIn(ns, step) {
  const [scale, unit] = ns >= 1e9 || step >= 1e9 ? [1e9, 's'] : ns >= 1e6 || step >= 1e6 ? [1e6, 'ms'] :
    ns >= 1e3 || step >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  return (ns / scale).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / step) - 1e-9)))) + ' ' + unit;
}

function bytesText(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (i ? n.toFixed(1) : n) + ' ' + units[i];
}
