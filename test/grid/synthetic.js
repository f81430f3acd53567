// SPDX-License-Identifier: BSD-3-Clause
// synthetic.js -- a made-up state for p2pd's page, in the page itself: how it looks with a grid that nobody has here.
window.synthetic = (count, ranks, lanes) => {
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    const hex = (n) => Array.from({ length: n }, () => Math.floor(random() * 16).toString(16)).join('');
    const birds = ['alder', 'birch', 'cedar', 'elm', 'fir', 'hazel', 'larch', 'maple', 'oak', 'pine', 'rowan', 'willow', 'yew'];
    const sites = ['north', 'south', 'tower', 'annex'];
    const peers = {};
    const ids = [];
    for (let i = 0; i < count; i++) {
        const id = hex(40), site = i % 4, slots = [2, 4, 4, 8, 16][Math.floor(random() * 5)];
        const closed = i > 0 && random() < 0.12;
        const free = i === 0 ? slots - 2 : random() < 0.35 ? 0 : Math.floor(random() * (slots + 1));
        ids.push(id);
        const turn = site * 1.6 + random() * 0.9, far = i === 0 ? 0 : [220, 900, 2500, 9000][site] * (0.75 + random() * 0.5);
        peers[id] = { name: birds[i % 13] + (count > 13 ? 1 + Math.floor(i / 13) : ''), id, open: !closed, state: closed ? ['lends nothing now: its owner uses it', 'lends nothing at this time of the day', 'lends nothing now: paused by its owner'][i % 3] : 'lends',
            slots, slots_free: closed ? 0 : free, rtt_us: Math.round(far), load: Math.round((slots - free) * 10 + random() * 8) / 10, cores: slots, memory: slots * 4294967296, disk: 2e11,
            os: 'linux', arch: i % 9 ? 'x86_64' : 'aarch64', libc: 'glibc 2.36', ompi: '4.1.4', site: sites[site], labels: i % 5 ? [] : ['gpu'], address: '10.0.' + site + '.' + (i % 250) + ':7410', encrypt: false, vanished: 0, watched_minutes: 9000, groups: [], confinement: [], owner: hex(40), speed: 10000, bandwidth: 1000,
            place: { x_us: Math.round(far * Math.cos(turn)), y_us: Math.round(far * Math.sin(turn)), height_us: 60 },
            policy: { only_when_idle: i % 3 === 1, idle_minutes: 10, chosen: i % 11 === 5, hours: i % 7 === 3 ? 'mon-fri 19:00-07:00' : '', owner_returns: i % 3 === 1 ? 'suspend' : 'nothing' } };
    }
    const processes = {};
    const lost = (rank, lane) => lane === 1 && rank % 16 === 5;
    for (let rank = 0; rank < ranks; rank++) for (let lane = 0; lane < lanes; lane++) {
        const id = ids[(rank + lane * 71) % count];
        processes[rank + '.' + lane] = { rank, lane, state: lost(rank, lane) ? 'lost' : 'runs', peer: peers[id].name, peer_id: id, leads: lane === 0 };
    }
    const now = Date.now(), own = peers[ids[0]];
    const job = { job: 'mpirun-4711', state: 'runs', program: '/home/ada/relax', ranks, lanes, pid: 4711, began_ms: now - 912000, processes, lost: Object.values(processes).filter((p) => p.state === 'lost').length };
    const where = processes['5.1'] ? processes['5.1'].peer : own.name;
    const around = ids.map((id) => id).sort();
    const at = around.indexOf(ids[0]), next = (n) => ({ id: around[(at + n + count) % count], address: peers[around[(at + n + count) % count]].address });
    return { token: '', state: {
        desktop: { ...own, version: '0.2.0', pid: 1, policy: { open: own.open, state: 'lends', until: 0, suspended: false, leases: 1 }, ring: { predecessor: next(-1), successors: [1, 2, 3, 4, 5, 6, 7, 8].map(next) } },
        peers, members: { 1: { name: 'aspen', id: '1', state: 'away', seen: now / 1000 - 86400 * 3 } },
        jobs: { 'mpirun-4711': job },
        grid: Object.fromEntries(ids.slice(1, 1 + Math.min(400, count / 4)).map((id, i) => [id + '-mpirun-' + i, { job: 'mpirun-' + i, from: peers[id].name, from_id: id, own: false, user: ['grace', 'alan', 'edsger'][i % 3], state: i % 8 === 7 ? 'waits' : 'runs', program: i % 3 ? '' : '/home/grace/fold', ranks: 4 + i % 13, lanes: 1 + i % 3, slots: 8, peers: 2 + i % 5, lost: i % 10 === 4 ? 1 : 0, since_ms: now - 60000 * i, place: i % 8 === 7 ? 1 + Math.floor(i / 8) : 0, free: 2 }])),
        lent: { 1: { user: 'grace', from: peers[ids[1]].name, program: 'raxml', slots: 2, pid: 99, guest: true, since_ms: now - 3600000 } },
        transfers: { 1: { list: '1', way: 'gives', peers: 6, have: 4.1e9, all: 9.7e8, about: '' }, 2: { list: '2', way: 'gets', peers: 1, have: 6.6e7, all: 1.5e8, about: 'grace at ' + peers[ids[1]].name + ': /home/grace/trees' } },
        totals: { began_ms: now - 864e5, walked_ms: now, silent: 1, launched: 12, jobs: 4, peers_lost: 2, processes_lost: 6, fetched: 3.2e9, given: 1.1e10 },
        log: [ { event: 'news', time_ms: now - 3600000, text: 'grace of ' + peers[ids[1]].name + ' runs raxml here, on 2 slots' },
               { event: 'peer_lost', time_ms: now - 42000, peer: where, text: where + ': its host fell silent' },
               { event: 'process_lost', time_ms: now - 42000, peer: where, job: 'mpirun-4711', rank: 5, lane: 1, left: lanes - 1, text: 'mpirun-4711 lost rank 5, lane 1 on ' + where + '; ' + (lanes - 1) + ' left' } ],
        history: [ { what: 'lent', began_ms: now - 9e6, took_ms: 4400000, from: peers[ids[1]].name, user: 'grace', program: '/usr/bin/raxml', slots: 2, outcome: 'done' },
                   { what: 'job', job: 'mpirun-3001', began_ms: now - 864e5, took_ms: 5712000, program: '/home/ada/relax', ranks: 64, lanes: 2, lost: 2, status: 0, outcome: 'done' },
                   { what: 'job', job: 'mpirun-2912', began_ms: now - 2 * 864e5, took_ms: 31000, program: '/home/ada/relax', ranks: 16, lanes: 1, lost: 0, status: 1, outcome: 'failed' } ] } };
};
window.EventSource = class { addEventListener() {} };
