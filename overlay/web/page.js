// SPDX-License-Identifier: BSD-3-Clause
// page.js -- shows the state that p2pd sends: the whole once, then patches (RFC 7386). What a patch touches is marked,
// and drawn once in the next frame. Texts of others are only ever set as text.
'use strict';

const GONE_MS = 60000; // for so long a peer that was lost is still shown
const LABELS_MOST = 40; // peers on the map, beyond which they are drawn small and only some are named
const TABLE_MOST = 48; // processes of a job that are shown as a table at once
const OTHERS_MOST = 100; // jobs of others that are shown

const empty = () => ({ desktop: {}, peers: {}, members: {}, jobs: {}, grid: {}, lent: {}, transfers: {}, totals: {}, log: [], history: [] });
let state = empty();
let token = '';
let live = false;
let chosen = ''; // id of the peer whose facts are shown; '': this desktop
const gone = new Map(); // id -> { peer, since }: lost a moment ago
const dirty = new Set(); // sections to be drawn in the next frame
const dirtyPeers = new Set(); // ids; only these rows are written anew
let frame = 0;

const $ = (id) => document.getElementById(id);
const reduced = matchMedia('(prefers-reduced-motion: reduce)');
const dark = matchMedia('(prefers-color-scheme: dark)');

// --- texts ---

const plural = (n, one, many = one + 's') => `${n} ${n === 1 ? one : many}`;

function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; i++) n /= 1024;
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

function trip(us) {
  return us < 10000 ? `${(us / 1000).toFixed(2)} ms` : `${Math.round(us / 1000)} ms`;
}

const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat([], { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false });
const minutes = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', hour12: false });
const when = (ms) => (Date.now() - ms < 43200000 ? clock : day).format(ms);
const whenAbout = (ms) => (Date.now() - ms < 43200000 ? minutes : day).format(ms); // of what is long over
const moment = (s) => (s * 1000 - Date.now() < 43200000 ? minutes : day).format(s * 1000); // what is to come
const program = (name) => name.replace(/.*\//, '') || 'a program of the system';

// --- elements ---

function make(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === 'class') e.className = value;
    else if (key in e) e[key] = value;
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

function text(e, value) {
  if (e.textContent !== value) e.textContent = value;
}

function show(e, yes) {
  if (e.hidden === yes) e.hidden = !yes;
}

// --- the state ---

function merge(target, patch) {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key];
    else if (typeof value === 'object' && !Array.isArray(value)) {
      if (typeof target[key] !== 'object' || target[key] === null || Array.isArray(target[key])) target[key] = {};
      merge(target[key], value);
    } else target[key] = value;
  }
}

function redraw(...sections) {
  for (const s of sections) dirty.add(s);
  if (frame === 0) frame = requestAnimationFrame(draw);
}

function takeState(hello) {
  token = hello.token;
  state = Object.assign(empty(), hello.state);
  gone.clear();
  drawnLog = 0;
  $('log').replaceChildren();
  for (const id of Object.keys(state.peers)) dirtyPeers.add(id);
  for (const id of rows.keys()) dirtyPeers.add(id);
  say(true, 'live');
  redraw(...Object.keys(draws));
}

// A peer that does not answer any more is shown as lost for a minute.
function notePeers(changes) {
  for (const [id, change] of Object.entries(changes)) {
    dirtyPeers.add(id);
    if (change !== null) gone.delete(id);
    else if (state.peers[id]) {
      gone.set(id, { peer: state.peers[id], since: Date.now() });
      setTimeout(() => {
        gone.delete(id);
        dirtyPeers.add(id);
        redraw('peers');
      }, GONE_MS);
    }
  }
}

function takePatch(patch) {
  if (patch.peers) notePeers(patch.peers);
  merge(state, patch);
  redraw(...Object.keys(patch));
}

function takeNotice(notice) {
  state.log.push(notice);
  if (state.log.length > 200) {
    state.log.shift();
    drawnLog--;
  }
  redraw('log');
}

// --- this desktop ---

function statement(d) {
  const p = d.policy || {};
  if (!p.open) {
    const why = (p.state || '').replace('lends nothing now: ', '').replace('paused by its owner', 'paused');
    const until = p.until ? ` until ${moment(p.until)}` : '';
    return /paused/.test(why) ? `Paused${until}: lends nothing` : `Lends nothing now: ${why}`;
  }
  return d.slots_free > 0 ? `Lending ${plural(d.slots_free, 'slot')}` : 'Lending; all slots are in use';
}

function drawDesktop() {
  const d = state.desktop;
  const p = d.policy || {};
  const lent = Object.values(state.lent);
  const slots = lent.reduce((n, l) => n + l.slots, 0);
  text($('own-name'), d.name || 'this desktop');
  document.title = d.name ? `${d.name} \u2013 p2pgrid` : 'p2pgrid';
  text($('about'), d.version ? `p2pgrid ${d.version}` : 'p2pgrid');
  text($('lending'), statement(d));
  $('lending').classList.toggle('closed', p.open === false);
  const more = lent.length ? `${plural(lent.length, 'lease')} of others, ${plural(slots, 'slot')}` : 'Nothing of others runs here';
  text($('lending-more'), p.suspended ? `${more}; it is stopped` : more);
  const paused = /paused/.test(p.state || '');
  const focused = $('lend').contains(document.activeElement);
  if ($('pause-box').hidden !== paused) {
    show($('pause-box'), !paused);
    show($('resume-box'), paused);
    if (focused) $(paused ? 'resume' : 'pause').focus();
  }
  show($('lent-box'), lent.length > 0);
  $('lent').replaceChildren(...lent.map((l) => make('li', {}, `${l.user}${l.from ? ` of ${l.from}` : ''}: `,
    l.pid ? program(l.program) : 'nothing yet', make('span', { class: 'muted' }, ` \u2013 ${plural(l.slots, 'slot')}, since ${when(l.since_ms)}${l.guest ? ', a guest' : ''}`))));
}

function drawTiles() {
  const peers = Object.values(state.peers);
  const free = peers.reduce((n, p) => n + p.slots_free, 0);
  const all = peers.reduce((n, p) => n + p.slots, 0);
  const lost = state.totals.processes_lost || 0;
  text($('tile-peers'), String(peers.length));
  $('tile-slots').replaceChildren(String(free), make('small', {}, ` of ${all}`));
  text($('tile-jobs'), String(Object.keys(state.jobs).length));
  const d = state.desktop;
  $('tile-lent').replaceChildren(String((d.slots || 0) - (d.slots_free || 0)), make('small', {}, ` of ${d.slots || 0} slots`));
  text($('tile-lost'), String(lost));
  $('tile-lost').classList.toggle('some', lost > 0);
}

let lending = false; // an order is on its way; a button that were disabled meanwhile would lose the focus

async function lend(event) {
  event.preventDefault();
  if (lending) return;
  lending = true;
  const resume = $('pause-box').hidden;
  const suspend = $('pause-suspend').checked ? '&suspend=1' : '';
  const path = resume ? '/resume' : `/pause?seconds=${$('pause-for').value}${suspend}`;
  text($('lend-error'), '');
  try {
    const answer = await fetch(path, { method: 'POST', headers: { 'X-P2PGrid-Token': token } });
    if (!answer.ok) throw new Error((await answer.text()).trim());
  } catch (e) {
    text($('lend-error'), `That did not work: ${e instanceof TypeError ? 'p2pd does not answer' : e.message}`);
  }
  lending = false;
}

// --- jobs ---

const jobs = new Map(); // name -> what is on the page

function cellClass(p) {
  if (!p) return '';
  return p.state === 'runs' && p.leads ? 'lead' : p.state;
}

function cellText(p, rank, lane) {
  return p ? `rank ${rank}, lane ${lane}: ${p.peer}, ${p.state}${p.leads ? ', its output is shown' : ''}` : `rank ${rank}, lane ${lane}: none`;
}

function makeTable(job) {
  const head = make('tr', {}, make('th', { scope: 'col' }, 'Rank'));
  for (let lane = 0; lane < job.lanes; lane++) head.append(make('th', { scope: 'col' }, `Lane ${lane}`));
  const body = make('tbody');
  const cells = new Map();
  for (let rank = 0; rank < job.ranks; rank++) {
    const row = make('tr', {}, make('th', { scope: 'row' }, String(rank)));
    for (let lane = 0; lane < job.lanes; lane++) {
      const cell = make('td');
      cells.set(`${rank}.${lane}`, cell);
      row.append(cell);
    }
    body.append(row);
  }
  const table = make('table', { class: 'places' }, make('caption', { class: 'hidden' }, `Processes of ${job.job}`), make('thead', {}, head), body);
  return { element: make('div', { class: 'scroll', role: 'region', 'aria-label': `Processes of ${job.job}`, tabIndex: 0 }, table), cells };
}

function fillTable(table, job) {
  for (const [key, cell] of table.cells) {
    const p = job.processes[key];
    const say = !p ? '\u2013' : p.state === 'runs' ? p.peer : `${p.peer} ${p.state}`;
    text(cell, p && p.leads && job.lanes > 1 ? `${say} \u2605` : say);
    const kind = cellClass(p);
    if (cell.className !== kind) cell.className = kind;
  }
}

function makeMatrix(job) {
  const element = make('div', { class: 'matrix', role: 'img' });
  const cells = new Map();
  let eight = null;
  for (let rank = 0; rank < job.ranks; rank++) {
    if (rank % 8 === 0) element.append(eight = make('div', { class: 'eight' }));
    const column = make('div', { class: 'rank' }, make('b', {}, rank % 8 === 0 ? String(rank) : '\u00a0'));
    for (let lane = 0; lane < job.lanes; lane++) {
      const cell = make('span', { class: 'cell' });
      cells.set(`${rank}.${lane}`, cell);
      column.append(cell);
    }
    eight.append(column);
  }
  return { element, cells };
}

function fillMatrix(matrix, job, first) {
  for (const [key, cell] of matrix.cells) {
    const p = job.processes[key];
    const kind = cellClass(p);
    if (cell.dataset.kind === kind && cell.dataset.peer === (p ? p.peer : '')) continue;
    cell.className = `cell ${kind}${kind === 'lost' && !first ? ' fresh' : ''}`;
    cell.dataset.kind = kind;
    cell.dataset.peer = p ? p.peer : '';
    cell.title = cellText(p, ...key.split('.'));
  }
}

function makeJob(job) {
  const view = { element: make('article', { class: 'job', id: `job-${job.job}` }), title: make('h3'), sum: make('p', { class: 'sum' }) };
  view.element.append(view.title, view.sum);
  view.element.dataset.size = `${job.ranks}x${job.lanes}`;
  if (job.ranks * job.lanes <= TABLE_MOST) {
    view.table = makeTable(job);
    view.element.append(view.table.element);
    return view;
  }
  view.matrix = makeMatrix(job);
  view.details = make('details', {}, make('summary', {}, 'Each process, as a table'));
  view.details.addEventListener('toggle', () => {
    if (!view.details.open || view.table) return;
    view.table = makeTable(job);
    view.details.append(view.table.element);
    redraw('jobs');
  });
  view.element.append(view.matrix.element, view.details);
  return view;
}

function fillJob(view, job, first) {
  const processes = Object.values(job.processes || {});
  const running = processes.filter((p) => p.state === 'runs');
  const peers = new Set(running.map((p) => p.peer_id)).size;
  view.title.replaceChildren(program(job.program), make('span', {}, `${job.job}, since ${when(job.began_ms)}`));
  const size = `${plural(job.ranks, 'rank')}${job.lanes > 1 ? ` in ${plural(job.lanes, 'lane')}` : ''} on ${plural(peers, 'peer')}`;
  view.sum.replaceChildren(job.waits_for > 0 ? `Waits for ${plural(job.waits_for, 'slot')}: place ${job.place}, ${job.free} free now` : job.state === 'held' ? `Held. ${size}` : job.state === 'ends' ? `Ends. ${size}` : size);
  if (job.lost > 0) view.sum.append(', ', make('strong', {}, `${plural(job.lost, 'process', 'processes')} lost`));
  if (view.matrix) {
    fillMatrix(view.matrix, job, first);
    view.matrix.element.setAttribute('aria-label', `${size}: ${running.length} run, ${job.lost} lost`);
  }
  if (view.table && (!view.details || view.details.open)) fillTable(view.table, job);
}

function drawJobs() {
  const names = Object.keys(state.jobs);
  for (const [name, view] of jobs) {
    const job = state.jobs[name];
    if (job && view.element.dataset.size === `${job.ranks}x${job.lanes}`) continue;
    view.element.remove();
    jobs.delete(name);
  }
  for (const name of names) {
    const first = !jobs.has(name);
    if (first) {
      jobs.set(name, makeJob(state.jobs[name]));
      $('job-list').append(jobs.get(name).element);
    }
    fillJob(jobs.get(name), state.jobs[name], first);
  }
  show($('jobs-none'), names.length === 0);
  show($('job-legend'), [...jobs.values()].some((v) => v.matrix));
  show($('job-lanes'), names.some((name) => state.jobs[name].lanes > 1));
}

// --- jobs of others: each row is made once ---

const others = new Map(); // key -> its row

// Those that wait come last, in the order in which they get slots; then by desktop, the oldest first.
function compareOthers(a, b) {
  const waits = (j) => (j.state === 'waits' ? j.place || 1 : 0);
  return waits(a) - waits(b) || a.from.localeCompare(b.from) || a.since_ms - b.since_ms;
}

function otherCells(j) {
  const lanes = j.lanes > 1 ? ` \u00d7 ${j.lanes}` : '';
  const where = j.state === 'waits' ? `place ${j.place}, ${j.free} free` : `${plural(j.peers, 'peer')}${j.lost ? `, ${j.lost} lost` : ''}`;
  return [j.from || '\u2013', j.user, j.state, j.ranks ? plural(j.ranks, 'rank') + lanes : plural(j.slots, 'slot'), where, when(j.since_ms), j.program ? program(j.program) : '\u2013'];
}

function fillOther(row, j) {
  otherCells(j).forEach((words, i) => text(row.children[i], words));
  row.children[4].classList.toggle('some', j.lost > 0);
}

function makeOther() {
  return make('tr', {}, make('th', { scope: 'row' }), ...Array.from({ length: 6 }, (_, i) => make('td', { class: i > 3 ? 'wide' : '' })));
}

function drawOthers() {
  const all = Object.entries(state.grid).sort((a, b) => compareOthers(a[1], b[1]));
  const shown = all.slice(0, OTHERS_MOST);
  const now = new Map(shown.map(([key]) => [key, others.get(key) || makeOther()]));
  const waiting = all.filter(([, j]) => j.state === 'waits').length;
  others.clear();
  for (const [key, j] of shown) {
    others.set(key, now.get(key));
    fillOther(now.get(key), j);
  }
  const body = $('others-table').tBodies[0];
  const rows = [...now.values()];
  if (rows.length !== body.rows.length || rows.some((r, i) => body.rows[i] !== r)) body.replaceChildren(...rows);
  show($('others'), all.length > 0);
  text($('others-sum'), `${all.length - waiting} run, ${waiting} wait${all.length > shown.length ? `; ${shown.length} are shown` : ''}`);
}

// --- what happens ---

let drawnLog = 0;

function drawLog() {
  const list = $('log');
  const fresh = drawnLog > 0;
  for (; drawnLog < state.log.length; drawnLog++) {
    const n = state.log[drawnLog];
    const bad = n.event === 'peer_lost' || n.event === 'process_lost' || (n.event === 'job_done' && n.status !== 0);
    list.prepend(make('li', { class: fresh ? 'fresh' : '' }, make('time', { dateTime: new Date(n.time_ms).toISOString() }, when(n.time_ms)), make('span', { class: bad ? 'bad' : '' }, n.text)));
  }
  while (list.children.length > 200) list.lastChild.remove();
  show($('log-none'), state.log.length === 0);
}

// --- peers: the table ---

function peerKind(id, p) {
  if (gone.has(id)) return 'gone';
  if (!p.open) return 'closed';
  return p.slots_free > 0 ? 'free' : 'used';
}

function peerState(id, p) {
  if (gone.has(id)) return `lost at ${clock.format(gone.get(id).since)}`;
  if (p.open) return p.slots_free === p.slots ? 'lends' : p.slots_free > 0 ? 'partly in use' : 'all in use';
  if (p.until) return `paused until ${moment(p.until)}`;
  return p.state.replace('lends nothing now: ', '').replace('lends nothing at this time of the day', 'not at this hour').replace('paused by its owner', 'paused');
}

function policy(p) {
  const q = p.policy || {};
  const words = [];
  if (q.only_when_idle) words.push('when idle');
  if (q.hours) words.push(q.hours);
  if (q.chosen) words.push('to some only');
  if (p.encrypt) words.push('encrypted jobs');
  return words.join(', ') || 'always, to all';
}

const machine = (p) => (p.os === 'linux' ? p.arch : `${p.os} ${p.arch}`);
const columns = [
  { name: 'Peer', key: (p) => p.name },
  { name: 'State', key: (p, id) => peerState(id, p), class: 'state' },
  { name: 'Free', key: (p) => p.slots_free, text: (p) => `${p.slots_free} of ${p.slots}`, class: 'number' },
  { name: 'Distance', key: (p) => p.rtt_us, text: (p) => (p.rtt_us ? trip(p.rtt_us) : 'here'), class: 'number' },
  { name: 'Load', key: (p) => p.load, text: (p) => p.load.toFixed(1), class: 'number wide' },
  { name: 'Cores', key: (p) => p.cores, class: 'number wide' },
  { name: 'Memory', key: (p) => p.memory, text: (p) => bytes(p.memory), class: 'number wide' },
  { name: 'Machine', key: machine, class: 'wide' },
  { name: 'Site', key: (p) => p.site, class: 'wide' },
  { name: 'Lends', key: policy, class: 'wide' },
];
const rows = new Map(); // id -> { row, cells, search }
const sorted = { column: 3, down: false };

function makeHead() {
  $('peer-table').querySelector('thead tr').append(...columns.map((c, i) => {
    const button = make('button', { type: 'button' }, c.name);
    button.addEventListener('click', () => {
      sorted.down = sorted.column === i && !sorted.down;
      sorted.column = i;
      markSorted();
      orderRows();
    });
    return make('th', { scope: 'col', class: c.class || '' }, button);
  }));
  markSorted();
}

function markSorted() {
  [...$('peer-table').querySelectorAll('thead th')].forEach((th, i) => {
    if (i === sorted.column) th.setAttribute('aria-sort', sorted.down ? 'descending' : 'ascending');
    else th.removeAttribute('aria-sort');
  });
}

const known = (id) => state.peers[id] || (gone.get(id) || {}).peer;

function makeRow(id) {
  const row = make('tr');
  const name = make('button', { type: 'button', class: 'name' });
  name.addEventListener('click', () => choose(id));
  const cells = columns.map((c, i) => make(i === 0 ? 'th' : 'td', { class: c.class || '' }));
  cells[0].scope = 'row';
  cells[0].append(name);
  const spot = make('span', { class: 'spot', 'aria-hidden': 'true' });
  const word = make('span');
  cells[1].append(spot, word);
  row.append(...cells);
  return { row, cells, name, spot, word, search: '' };
}

function fillRow(id, p, r) {
  text(r.name, p.name);
  columns.forEach((c, i) => {
    if (i > 1) text(r.cells[i], String(c.text ? c.text(p) : c.key(p, id)));
  });
  r.spot.className = `spot ${peerKind(id, p)}`;
  text(r.word, peerState(id, p));
  r.row.className = `${gone.has(id) ? 'gone' : ''}${id === chosen ? ' chosen' : ''}`;
  r.search = `${p.name} ${p.site} ${peerState(id, p)} ${machine(p)} ${policy(p)} ${(p.labels || []).join(' ')}`.toLowerCase();
}

const collator = new Intl.Collator(undefined, { numeric: true });

function compareRows(a, b) {
  const c = columns[sorted.column];
  const x = c.key(known(a), a);
  const y = c.key(known(b), b);
  const order = typeof x === 'number' ? x - y : collator.compare(x, y);
  return (sorted.down ? -order : order) || collator.compare(known(a).name, known(b).name);
}

const ORDER_MS = 3000; // values change at once, but rows move this seldom: one can read them, and each move costs a layout
let orderTimer = 0;

function orderSoon() {
  if (orderTimer === 0) orderTimer = setTimeout(orderRows, ORDER_MS);
}

function orderRows() {
  clearTimeout(orderTimer);
  orderTimer = 0;
  const word = $('filter').value.trim().toLowerCase();
  const body = $('peer-table').tBodies[0];
  const ids = [...rows.keys()].filter((id) => word === '' || rows.get(id).search.includes(word)).sort(compareRows);
  const focused = document.activeElement;
  const same = body.children.length === ids.length && ids.every((id, i) => body.children[i] === rows.get(id).row);
  if (!same) body.replaceChildren(...ids.map((id) => rows.get(id).row));
  if (!same && body.contains(focused)) focused.focus();
  text($('filter-sum'), word === '' ? '' : `${ids.length} of ${rows.size}`);
}

function drawPeers() {
  for (const id of dirtyPeers) {
    const p = known(id);
    if (!p) {
      if (rows.has(id)) rows.get(id).row.remove();
      rows.delete(id);
      continue;
    }
    if (!rows.has(id)) rows.set(id, makeRow(id));
    fillRow(id, p, rows.get(id));
  }
  dirtyPeers.clear();
  if ($('peer-table').tBodies[0].children.length === rows.size) orderSoon();
  else orderRows();
  const peers = Object.values(state.peers);
  const open = peers.filter((p) => p.open).length;
  const silent = state.totals.silent || 0;
  text($('peers-sum'), `${plural(peers.length, 'peer')}, ${open} lend${open === 1 ? 's' : ''}${silent ? `, ${silent} did not answer` : ''}`);
  drawPeer();
  drawAway();
  placeSoon();
}

function drawAway() {
  const now = Date.now() / 1000;
  const away = Object.entries(state.members).filter(([id, m]) => !state.peers[id] && m.id !== state.desktop.id);
  const list = away.map(([, m]) => `${m.name} \u2013 ${m.state === 'revoked' ? 'revoked' : m.seen ? `seen ${span((now - m.seen) * 1000)} ago` : 'never seen here'}`);
  show($('peers-alone'), Object.keys(state.peers).length === 1 && gone.size === 0);
  show($('away-box'), list.length > 0 && Object.keys(state.peers).length > 0);
  text($('away-sum'), `${plural(list.length, 'member')} away`);
  if ($('away-box').open) $('away').replaceChildren(...list.sort().map((line) => make('li', {}, line)));
}

// --- peers: the one that is chosen ---

function facts(id, p) {
  const q = p.policy || {};
  const all = [
    ['Slots', `${p.slots_free} of ${p.slots} free`],
    ['Distance', p.rtt_us ? trip(p.rtt_us) : 'this desktop'],
    ['Load', `${p.load.toFixed(1)} of ${plural(p.cores, 'core')}`],
    ['Memory', bytes(p.memory)],
    ['Disk', bytes(p.disk)],
    ['Machine', `${p.os} ${p.arch}, ${p.libc}`],
    ['Open MPI', p.ompi || 'none'],
    ['Lends', policy(p)],
  ];
  if (q.owner_returns && q.owner_returns !== 'nothing') all.push(['Owner back', q.owner_returns === 'suspend' ? 'guests are stopped' : 'guests leave']);
  if (p.site) all.push(['Site', p.site]);
  if ((p.labels || []).length) all.push(['Labels', p.labels.join(', ')]);
  if (p.vanished) all.push(['Has seen', `${plural(p.vanished, 'neighbour')} vanish`]);
  all.push(['Address', p.address], ['Id', id.slice(0, 10)]);
  return all;
}

function drawPeer() {
  const id = known(chosen) ? chosen : state.desktop.id;
  const p = known(id);
  if (!p) return;
  text($('peer-name'), p.name + (id === state.desktop.id ? ' (this desktop)' : ''));
  text($('peer-state'), peerState(id, p));
  $('peer-facts').replaceChildren(...facts(id, p).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
}

function choose(id) {
  const before = chosen;
  chosen = id;
  for (const one of [before, id]) if (one) dirtyPeers.add(one);
  redraw('peers', 'ring');
}

// --- peers: the map ---

const spots = new Map(); // id -> { x, y: where it is drawn; toX, toY: where it belongs }
let mapAsked = false;
let mapScale = null;

function hash(id) {
  return parseInt(id.slice(0, 8), 16) / 4294967296;
}

const trips = new Map(); // id -> round trip, smoothed: one that was slow once does not move its peer

// How far a peer is: the round trips as they were measured, else what the coordinates say.
function distance(id, own, p) {
  if (p.rtt_us > 0) {
    const before = trips.get(id);
    if (!before || before.last !== p.rtt_us) trips.set(id, { last: p.rtt_us, smooth: before ? 0.8 * before.smooth + 0.2 * p.rtt_us : p.rtt_us });
    return trips.get(id).smooth;
  }
  const dx = p.place.x_us - own.place.x_us;
  const dy = p.place.y_us - own.place.y_us;
  return Math.hypot(dx, dy) + p.place.height_us + own.place.height_us;
}

// Peers of one switch lie in one place by their coordinates: then the id gives the direction, always the same one.
function direction(id, own, p) {
  const dx = p.place.x_us - own.place.x_us;
  const dy = p.place.y_us - own.place.y_us;
  const far = Math.hypot(dx, dy);
  const by = 2 * Math.PI * hash(id);
  return far < 0.15 * (p.rtt_us || 1) ? by : Math.atan2(dy, dx) + (hash(id) - 0.5) * 0.5;
}

// 1, 2, 5, 10...: the map's scale changes seldom.
function stepBelow(us) {
  const decade = 10 ** Math.floor(Math.log10(us));
  return decade * (us >= 5 * decade ? 5 : us >= 2 * decade ? 2 : 1);
}

function scaleOf(distances) {
  const sortedUs = distances.filter((d) => d > 0).sort((a, b) => a - b);
  if (sortedUs.length === 0) return { low: 100, high: 1000 };
  const low = stepBelow(Math.max(20, sortedUs[Math.floor(sortedUs.length * 0.05)]));
  const high = stepBelow(Math.max(low * 4, sortedUs[sortedUs.length - 1]) * 2.5);
  return { low, high };
}

// From the middle to the rim by the logarithm: what is near is told apart, too.
function radiusOf(us, scale) {
  const part = Math.log(Math.max(us, scale.low) / scale.low) / Math.log(scale.high / scale.low);
  return 0.3 + 0.66 * Math.min(1, part);
}

const STRAY = 0.03; // so far from its distance a spot may be pushed

// Pushes apart those that lie on each other, around the middle: how far they are from it is what the map says.
function spread(list, least) {
  for (let turn = 0; turn < (list.length > LABELS_MOST ? 4 : 16); turn++) {
    const cells = new Map();
    const cellOf = (s) => Math.floor(s.toX / least) * 1024 + Math.floor(s.toY / least);
    for (const s of list) {
      const key = cellOf(s);
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(s);
    }
    for (const s of list) {
      const cx = Math.floor(s.toX / least);
      const cy = Math.floor(s.toY / least);
      for (let i = -1; i <= 1; i++) {
        for (let j = -1; j <= 1; j++) {
          for (const other of cells.get((cx + i) * 1024 + cy + j) || []) {
            if (other === s || s.fixed) continue;
            const dx = s.toX - other.toX || (s.turn - other.turn) * 1e-3;
            const dy = s.toY - other.toY || 1e-4;
            const d = Math.hypot(dx, dy);
            if (d >= least) continue;
            s.toX += (dx / d) * (least - d) * 0.5;
            s.toY += (dy / d) * (least - d) * 0.5;
          }
        }
      }
      const r = Math.hypot(s.toX, s.toY);
      const back = r > 0 ? Math.min(s.far + STRAY, Math.max(s.far - STRAY, r)) / r : 1;
      s.toX *= back;
      s.toY *= back;
    }
  }
}

const PLACE_MS = 1000;
let placed = 0;
let placeTimer = 0;

function placeSoon() {
  if (placeTimer === 0) placeTimer = setTimeout(placePeers, Math.max(0, PLACE_MS - (performance.now() - placed)));
  redrawMap();
}

function placePeers() {
  placeTimer = 0;
  placed = performance.now();
  const own = state.peers[state.desktop.id];
  if (!own) return redrawMap();
  const ids = [...Object.keys(state.peers), ...gone.keys()];
  const distances = new Map(ids.map((id) => [id, id === state.desktop.id ? 0 : distance(id, own, known(id))]));
  mapScale = scaleOf([...distances.values()]);
  for (const id of spots.keys()) {
    if (distances.has(id)) continue;
    spots.delete(id);
    trips.delete(id);
  }
  for (const id of ids) {
    const old = spots.get(id) || {};
    const angle = direction(id, own, known(id));
    const r = id === state.desktop.id ? 0 : radiusOf(distances.get(id), mapScale);
    spots.set(id, { x: old.x, y: old.y, toX: r * Math.cos(angle), toY: r * Math.sin(angle), turn: hash(id), far: r, fixed: r === 0 });
  }
  scaleTurn = null;
  spread([...spots.values()], ids.length > LABELS_MOST ? 0.055 : ids.length > 15 ? 0.16 : 0.26);
  for (const s of spots.values()) if (s.x === undefined || reduced.matches || spots.size > LABELS_MOST) Object.assign(s, { x: s.toX, y: s.toY });
  redrawMap();
}

function redrawMap() {
  if (mapAsked) return;
  mapAsked = true;
  requestAnimationFrame(() => {
    mapAsked = false;
    let moving = false;
    for (const s of spots.values()) {
      if (Math.hypot(s.toX - s.x, s.toY - s.y) < 0.002) Object.assign(s, { x: s.toX, y: s.toY });
      else {
        s.x += (s.toX - s.x) * 0.15;
        s.y += (s.toY - s.y) * 0.15;
        moving = true;
      }
    }
    drawMap();
    if (moving) redrawMap();
  });
}

let palette = null;
function colours() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  palette = Object.fromEntries(['ink', 'soft', 'line', 'good', 'used', 'done', 'bad', 'accent', 'card', 'sunk'].map((n) => [n, style.getPropertyValue(`--${n}`).trim()]));
  return palette;
}

// Sizes are told by the browser after its layout; to ask for them in between would make it lay out once more.
const sizes = new Map();
const observer = new ResizeObserver((entries) => {
  for (const e of entries) sizes.set(e.target, e.contentRect);
  repaint();
});

// A canvas as sharp as the screen; null while it is not shown.
function surface(canvas) {
  const box = sizes.get(canvas);
  if (!box || box.width === 0) return null;
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const width = Math.round(box.width * ratio);
  const height = Math.round(box.height * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, box.width, box.height);
  return { g, width: box.width, height: box.height };
}

// Where the middle is, and how far it is to the rim: wider than high, as the canvas is.
function frameOf(width, height) {
  return { x: width / 2, y: height / 2, rx: width / 2 - 24, ry: height / 2 - 22 };
}

// Round trips that have a ring: 1, 2, 5, 10... or, where these lie too close to be named, powers of ten.
function ringTrips(f) {
  if (!mapScale) return [];
  const apart = (list) => list.every((us, i) => i === 0 || (radiusOf(us, mapScale) - radiusOf(list[i - 1], mapScale)) * f.ry >= 17);
  const within = (steps) => [10, 100, 1000, 10000, 100000, 1000000].flatMap((us) => steps.map((n) => n * us)).filter((us) => us >= mapScale.low && us <= mapScale.high);
  const lists = [within([1, 2, 5]), within([1, 3]), within([1])];
  return lists.find((list) => list.length > 1 && apart(list)) || [mapScale.low, mapScale.high];
}

function drawRings(g, f, c) {
  g.lineWidth = 1;
  g.strokeStyle = c.soft;
  g.globalAlpha = 0.25;
  for (const us of ringTrips(f)) {
    const r = radiusOf(us, mapScale);
    g.beginPath();
    g.ellipse(f.x, f.y, r * f.rx, r * f.ry, 0, 0, 2 * Math.PI);
    g.stroke();
  }
  g.globalAlpha = 1;
}

const ringName = (us) => (us < 1e6 ? `${us / 1000} ms` : `${us / 1e6} s`);
let scaleTurn = null; // the direction from the middle in which the rings are named; null: to be found

// Where the fewest spots are in the way.
function freeTurn(f) {
  const trips = ringTrips(f);
  const inWay = (turn) => {
    let n = Math.abs(Math.sin(turn)) < 0.5 ? 0.5 : 0; // names below each other are read best
    for (const us of trips) {
      const r = radiusOf(us, mapScale);
      for (const s of spots.values()) {
        const dx = Math.abs(s.toX - r * Math.cos(turn)) * f.rx;
        const dy = Math.abs(s.toY - r * Math.sin(turn)) * f.ry;
        if (dx < 34 && dy < 18) n++;
      }
    }
    return n;
  };
  let best = -Math.PI / 2;
  for (let i = 1; i < 24; i++) {
    const turn = -Math.PI / 2 + (i * Math.PI) / 12;
    if (inWay(turn) < inWay(best)) best = turn;
  }
  return best;
}

// What lies on the map already: boxes, in which no name is put.
const boxAt = (x, y, half, top, bottom) => ({ left: x - half, right: x + half, top: y - top, bottom: y + bottom });
const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const BESIDE = Array.from({ length: 25 }, (_, i) => (i % 2 ? 1 : -1) * Math.ceil(i / 2) * 0.08); // 0, 0.08, -0.08, 0.16...

function drawRingNames(g, f, c, taken) {
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'center';
  scaleTurn ??= freeTurn(f);
  for (const us of ringTrips(f)) {
    const r = radiusOf(us, mapScale);
    const half = g.measureText(ringName(us)).width / 2 + 2;
    const places = BESIDE.map((turn) => boxAt(f.x + r * f.rx * Math.cos(scaleTurn + turn), f.y + r * f.ry * Math.sin(scaleTurn + turn), half, 6, 6));
    const box = places.find((b) => !taken.some((other) => meets(b, other))) || places[0];
    taken.push(box);
    drawLabel(g, ringName(us), (box.left + box.right) / 2, box.bottom - 2, c.soft, c);
  }
}

function drawLabel(g, words, x, y, colour, c) {
  g.lineWidth = 3;
  g.strokeStyle = c.sunk;
  g.strokeText(words, x, y);
  g.fillStyle = colour;
  g.fillText(words, x, y);
}

const shortened = (name) => (name.length > 18 ? `${name.slice(0, 17)}\u2026` : name);

// A name is put below its spot, above, or beside it, where it lies on nothing; else it is left out: the pointer and the
// table say it. Names of those that matter most find a place in any case.
function drawLabels(g, f, labels, taken, c) {
  g.font = '12px system-ui, sans-serif';
  g.textAlign = 'center';
  for (const l of labels.sort((a, b) => b.first - a.first)) {
    const name = shortened(l.name);
    const half = g.measureText(name).width / 2 + 2;
    const places = [[0, l.size + 10], [0, -l.size - 9], [l.size + half + 2, 0], [-l.size - half - 2, 0]]
      .map(([dx, dy]) => boxAt(l.x + dx, l.y + dy, half, 7, 7))
      .filter((b) => b.left >= 0 && b.right <= f.x * 2 && b.top >= 0 && b.bottom <= f.y * 2);
    const box = places.find((b) => !taken.some((other) => meets(b, other))) || (l.first ? places[0] : undefined);
    if (!box) continue;
    taken.push(box);
    drawLabel(g, name, (box.left + box.right) / 2, box.bottom - 3, l.bad ? c.bad : c.ink, c);
  }
}

function cross(g, x, y, size) {
  g.moveTo(x - size, y - size);
  g.lineTo(x + size, y + size);
  g.moveTo(x + size, y - size);
  g.lineTo(x - size, y + size);
}

// Told apart by form, too: full, with a dot, with a bar, crossed out.
function drawSpot(g, x, y, size, kind, c) {
  const colour = { free: c.good, used: c.used, closed: c.done, gone: c.bad }[kind];
  g.lineWidth = 2;
  g.strokeStyle = colour;
  g.beginPath();
  g.arc(x, y, size, 0, 2 * Math.PI);
  g.fillStyle = kind === 'free' ? colour : c.sunk;
  g.fill();
  if (kind === 'closed') {
    g.moveTo(x - size * 0.5, y);
    g.lineTo(x + size * 0.5, y);
  } else if (kind === 'gone') cross(g, x, y, size);
  g.stroke();
  if (kind !== 'used') return;
  g.beginPath();
  g.arc(x, y, size * 0.45, 0, 2 * Math.PI);
  g.fillStyle = colour;
  g.fill();
}

const sizeOf = (p, many, f) => Math.min(1, 0.4 + f.rx / 400) * Math.min(many ? 6.5 : 14, (many ? 2.2 : 4.5) + Math.sqrt(p.slots) * (many ? 0.9 : 1.8));

// Those on which this user's jobs run are tied to the middle.
function usedPeers() {
  const used = new Set();
  for (const job of Object.values(state.jobs)) for (const p of Object.values(job.processes || {})) if (p.state === 'runs') used.add(p.peer_id);
  return used;
}

function drawMap() {
  const canvas = $('map');
  const s = surface(canvas);
  if (!s) return;
  const { g } = s;
  const c = colours();
  const f = frameOf(s.width, s.height);
  const many = spots.size > LABELS_MOST;
  const used = usedPeers();
  drawRings(g, f, c);
  g.strokeStyle = c.accent;
  g.globalAlpha = used.size > 60 ? 0.1 : used.size > 12 ? 0.18 : 0.35;
  g.lineWidth = 1.5;
  g.beginPath();
  for (const [id, spot] of spots) {
    if (!used.has(id)) continue;
    g.moveTo(f.x, f.y);
    g.lineTo(f.x + spot.x * f.rx, f.y + spot.y * f.ry);
  }
  g.stroke();
  g.globalAlpha = 1;
  const labels = [];
  const taken = [];
  for (const [id, spot] of spots) {
    const p = known(id);
    if (!p) continue;
    const x = f.x + spot.x * f.rx;
    const y = f.y + spot.y * f.ry;
    const size = sizeOf(p, many, f);
    const marked = id === state.desktop.id || id === chosen;
    drawSpot(g, x, y, size, peerKind(id, p), c);
    if (marked) {
      g.strokeStyle = c.ink;
      g.lineWidth = 2;
      g.beginPath();
      g.arc(x, y, size + 4, 0, 2 * Math.PI);
      g.stroke();
    }
    if (!many || marked || gone.has(id)) labels.push({ name: p.name, x, y, size: size + (marked ? 5 : 1), first: marked || gone.has(id), bad: gone.has(id) });
    taken.push(boxAt(x, y, size, size, size));
  }
  drawRingNames(g, f, c, taken);
  drawLabels(g, f, labels, taken, c);
  const label = `Map of ${plural(Object.keys(state.peers).length, 'peer')} by measured distance${gone.size ? `; ${gone.size} lost` : ''}`;
  if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label);
}

function peerAt(event) {
  const box = $('map').getBoundingClientRect();
  const f = frameOf(box.width, box.height);
  let best = '';
  let least = 18;
  for (const [id, spot] of spots) {
    const d = Math.hypot(event.clientX - box.left - f.x - spot.x * f.rx, event.clientY - box.top - f.y - spot.y * f.ry);
    if (d < least) [best, least] = [id, d];
  }
  return best;
}

// --- transfers ---

function drawTransfers() {
  const all = Object.values(state.transfers);
  const t = state.totals;
  show($('transfers-none'), all.length === 0);
  text($('transfers-sum'), `${bytes(t.fetched || 0)} have come, ${bytes(t.given || 0)} were given`);
  $('transfer-list').replaceChildren(...all.map((one) => {
    const label = one.way === 'gets' ? `Files of ${one.about || 'a job'} come here` : `Files of your job go to ${plural(one.peers, 'peer')}`;
    const most = one.way === 'gets' ? one.all : one.all * Math.max(1, one.peers);
    return make('li', {}, make('span', {}, label), make('span', { class: 'muted' }, ` \u2013 ${bytes(one.have)} of ${bytes(most)}`),
      make('progress', { max: most || 1, value: Math.min(one.have, most), 'aria-label': label }));
  }));
}

// --- history ---

function drawHistory() {
  show($('history-none'), state.history.length === 0);
  show($('history-scroll'), state.history.length > 0);
  $('history-table').tBodies[0].replaceChildren(...state.history.map((h) => {
    const own = h.what === 'job';
    const size = own ? `${plural(h.ranks, 'rank')}${h.lanes > 1 ? ` \u00d7 ${h.lanes}` : ''}` : plural(h.slots, 'slot');
    const what = own ? program(h.program) : `${program(h.program)} of ${h.user}${h.from ? `, ${h.from}` : ''}`;
    const end = `${h.outcome}${own && h.lost ? `, ${h.lost} lost` : ''}${own && h.status ? `, status ${h.status}` : ''}`;
    return make('tr', {}, make('th', { scope: 'row' }, whenAbout(h.began_ms)), make('td', { class: 'number' }, span(h.took_ms)), make('td', { class: 'wide' }, size), make('td', {}, what), make('td', {}, end));
  }));
}

// --- the ring ---

function drawRing() {
  const ring = state.desktop.ring;
  if (!ring) return;
  const name = (n) => (known(n.id) ? known(n.id).name : n.address);
  const lines = [];
  if (ring.predecessor) lines.push(['before', ring.predecessor]);
  for (const n of ring.successors) lines.push(['after', n]);
  $('ring-list').tBodies[0].replaceChildren(...lines.map(([where, n]) => make('tr', {}, make('td', { class: 'muted' }, where), make('th', { scope: 'row' }, name(n)), make('td', { class: 'muted' }, n.id.slice(0, 8)))));
  show($('ring-list'), lines.length > 0);
  show($('ring-alone'), lines.length === 0);
  const s = surface($('ring-map'));
  if (!s) return;
  const { g } = s;
  const c = colours();
  const r = s.width / 2 - 14;
  const near = new Set(lines.map(([, n]) => n.id));
  const at = (id) => [s.width / 2 + r * Math.sin(2 * Math.PI * hash(id)), s.height / 2 - r * Math.cos(2 * Math.PI * hash(id))];
  g.strokeStyle = c.line;
  g.lineWidth = 2;
  g.beginPath();
  g.arc(s.width / 2, s.height / 2, r, 0, 2 * Math.PI);
  g.stroke();
  for (const id of [...Object.keys(state.peers)].sort((a, b) => near.has(a) - near.has(b))) {
    const own = id === state.desktop.id;
    const [x, y] = at(id);
    g.fillStyle = own ? c.ink : near.has(id) ? c.accent : c.done;
    g.beginPath();
    g.arc(x, y, own ? 6 : near.has(id) ? 4.5 : 3, 0, 2 * Math.PI);
    g.fill();
  }
  $('ring-map').setAttribute('aria-label', `The ring: ${plural(Object.keys(state.peers).length, 'peer')}, of which ${near.size} are neighbours of this desktop`);
}

// --- drawing ---

const draws = {
  desktop: () => { drawDesktop(); drawTiles(); },
  lent: () => { drawDesktop(); drawTiles(); },
  totals: () => { drawTiles(); drawTransfers(); },
  jobs: () => { drawJobs(); drawTiles(); redrawMap(); },
  grid: drawOthers,
  peers: () => { drawPeers(); drawTiles(); },
  members: drawAway,
  log: drawLog,
  transfers: drawTransfers,
  history: drawHistory,
  ring: drawRing,
};

function draw() {
  frame = 0;
  const now = new Set([...dirty].map((s) => draws[s]).filter(Boolean));
  if (dirty.has('desktop')) now.add(drawRing);
  dirty.clear();
  for (const one of now) one();
}

// --- the connection ---

let since = 0; // when p2pd was last heard, of a connection that is lost

// What is shown of a connection that is lost is of then, and says so.
function say(on, word, mend = '') {
  if (live && !on) since = Date.now();
  live = on;
  text($('stale'), on ? '' : since ? `${mend} What is shown is of ${when(since)}.` : mend);
  show($('stale'), !on);
  $('live').className = `live ${on ? 'on' : 'off'}`;
  text($('live-text'), word);
}

function connect() {
  const events = new EventSource('/events');
  const take = (what) => (event) => what(JSON.parse(event.data));
  events.addEventListener('state', take(takeState));
  events.addEventListener('patch', take(takePatch));
  events.addEventListener('notice', take(takeNotice));
  events.addEventListener('error', () => {
    const over = events.readyState === EventSource.CLOSED;
    say(false, over ? 'ended' : 'p2pd does not answer', over ? 'This visit has ended: p2pctl web opens the page again.' : 'p2pd does not answer; it is asked again and again.');
    if (over) setTimeout(connect, 5000);
  });
}

function repaint() {
  palette = null;
  scaleTurn = null;
  redrawMap();
  redraw('ring');
}

makeHead();
$('lend').addEventListener('submit', lend);
$('filter').addEventListener('input', orderRows);
$('map').addEventListener('click', (e) => { const id = peerAt(e); if (id) choose(id); });
$('map').addEventListener('mousemove', (e) => { const id = peerAt(e); $('map').title = id && known(id) ? `${known(id).name}: ${peerState(id, known(id))}` : ''; });
$('away-box').addEventListener('toggle', drawAway);
dark.addEventListener('change', repaint);
for (const canvas of [$('map'), $('ring-map')]) observer.observe(canvas);
window.page = { takeState, takePatch, takeNotice }; // for test/grid/web, which has no grid of 500 peers
connect();
