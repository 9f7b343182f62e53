// A mock clock for tests, with the endpoints that the page uses.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { displays } from './displays.mjs';
import { framePng, panelPng } from './png.mjs';
import { like, recorded } from './recorded.mjs';
import { defaultSettings, GET_ONLY, patchError, REBOOT } from './settings.mjs';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};
/** Shorter documents are sent uncompressed, bytes. */
const COMPRESSED_FROM = 1024;
/** Layouts of a picture. */
const LAYOUTS = ['auto', 'figure', 'board', 'cells', 'row', 'two-rows', 'column'];
/** Paths of views; the same document is served for all of them. */
const VIEW = /^\/((settings|care)(\/.*)?)?$/;

export class MockClock {
  /** With `size` one panel of that width and height shows everything. */
  constructor({ panels = 7, frontlight = true, bench = true, size } = {}) {
    this.panels = panels;
    this.size = size;
    this.hasFrontlight = frontlight;
    this.bench = bench;
    this.settings = { ...defaultSettings(panels, frontlight), hasOnePanel: size !== undefined };
    this.booted = structuredClone(this.settings);
    this.current = 0;
    this.currency = 'USD';
    this.running = true;
    this.custom = null;
    this.stale = false;
    this.phrase = recorded.events.status.phrase;
    /** Members that replace those of the status. */
    this.statusOverrides = {};
    this.password = '';
    /** Names of displays that wait for approval. */
    this.waiting = [];
    this.showsPassword = false;
    this.height = 900123;
    this.leds = Array.from({ length: 4 }, () => '#000000');
    this.front = { on: false, brightness: 2048 };
    this.lux = 120;
    this.link = 'up';
    this.buttons = new Set();
    this.presses = [];
    this.faults = {};
    this.displays = [];
    /** Prices of a day. */
    this.history = [];
    this.log = [];
    this.streams = new Set();
    this.version = 0;
    this.server = createServer((request, response) => void this.#serve(request, response));
  }

  async listen(port = 0) {
    await new Promise((done) => this.server.listen(port, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this.url;
  }

  /** Closes every connection and stops listening; `comeBack` uses the same port. */
  async goAway({ closing = false } = {}) {
    this.port = this.server.address().port;
    for (const stream of this.streams) {
      if (closing) stream.write('data: closing\n\n');
      stream.end();
    }
    // Closes connections of this server only: a new one may already be listening.
    const { server } = this;
    const closed = new Promise((done) => server.close(done));
    setTimeout(() => server.closeAllConnections(), 50);
    await closed;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  async comeBack() {
    this.server = createServer((request, response) => void this.#serve(request, response));
    await new Promise((done) => this.server.listen(this.port, '127.0.0.1', done));
  }

  async #restart() {
    if (!this.server.listening) return;
    this.booted = structuredClone(this.settings);
    await this.goAway({ closing: true });
    await this.comeBack();
  }

  data(shown) {
    if (this.custom && shown === undefined) return this.custom;
    const id = shown ?? this.current;
    const screen = this.settings.screens.find((entry) => entry.id === id);
    const values = {
      0: ['BLOCK/HEIGHT', String(this.height)],
      3: ['20/11', '14:05'],
      20: [`BTC/${this.currency}`, '$98765'],
      6: ['FEE/RATE', '4.21', 'sat/vB'],
    };
    const [label, value, unit] = values[id] ?? [screen.name.toUpperCase().split(' ').slice(0, 2).join('/'), '1234'];
    const room = this.panels - 1 - (unit ? 1 : 0);
    return [label, ...value.padStart(room, ' ').slice(-room), ...(unit ? [unit] : [])];
  }

  status() {
    const { dnd } = this.settings;
    const pad = (number) => String(number).padStart(2, '0');
    const status = like(recorded.events.status, {
      displaysWaiting: this.waiting,
      currentScreen: this.current,
      numScreens: this.panels,
      timerRunning: this.running,
      espUptime: Math.floor(process.uptime()) + 5000,
      epdInverted: this.settings.invertedColor,
      connectionStatus: like(recorded.events.status.connectionStatus, {
        price: this.link === 'up',
        blocks: this.link === 'up',
        V2: this.link === 'up',
      }),
      currency: [10, 20, 30].includes(this.current) ? this.currency : '',
      data: this.data(),
      dnd: like(recorded.events.status.dnd, {
        enabled: dnd.enabled,
        dndTimeEnabled: dnd.dndTimeEnabled,
        startTime: `${pad(dnd.startHour)}:${pad(dnd.startMinute)}`,
        endTime: `${dnd.endHour}:${pad(dnd.endMinute)}`,
        active: dnd.enabled,
      }),
      lightLevel: this.lux,
      frontlight: like(recorded.events.status.frontlight, {
        on: this.front.on,
        duties: Array(this.panels).fill(this.front.on ? this.front.brightness : 0),
        targetDuty: this.front.on ? this.front.brightness : 0,
        configuredBrightness: this.front.brightness,
      }),
      ledsMuted: this.settings.disableLeds ? 'disableLeds' : dnd.enabled ? 'dnd' : null,
      leds: this.leds.map((hex) =>
        like(recorded.events.status.leds[0], {
          red: parseInt(hex.slice(1, 3), 16),
          green: parseInt(hex.slice(3, 5), 16),
          blue: parseInt(hex.slice(5, 7), 16),
          hex,
        }),
      ),
      stale: this.stale,
      phrase: this.phrase,
      settingsTag: this.settingsTag(),
      restartFor: [...REBOOT].filter((key) => key in this.settings && this.settings[key] !== this.booted[key]),
      sources: { relay: this.link === 'up' ? this.source('relay') : { ...this.source('pool'), ageSec: 3 } },
      panels: Array.from({ length: this.size ? 1 : this.panels }, () => recorded.events.status.panels[0]),
      mode: this.custom ? 'custom' : 'rotation',
      link: like(recorded.events.status.link, { network: 'radio', ssid: 'Home' }),
      ...this.statusOverrides,
    });
    if (!this.hasFrontlight) {
      for (const name of ['lightLevel', 'frontlight', 'flStatus']) delete status[name];
    }
    return status;
  }

  /** A source as recorded from the program. */
  source(name) {
    return structuredClone(recorded.events.status.sources[name]);
  }

  settingsDocument() {
    const { secrets, ...open } = this.settings;
    return {
      ...open,
      timerRunning: this.running,
      lightLevel: this.lux,
      ...Object.fromEntries(Object.entries(secrets).map(([key, value]) => [`${key}Set`, value !== ''])),
    };
  }

  settingsTag() {
    const { lightLevel: _lux, timerRunning: _running, ...rest } = this.settingsDocument();
    return `"${createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 16)}"`;
  }

  /** Sends a change to every page; `full` if the panels were refreshed in full. */
  changed(before, full = false) {
    const after = this.data();
    const panels = after.flatMap((cell, index) => (full || cell !== before?.[index] ? [index] : []));
    this.send('status', this.status());
    this.send('bench', this.simState());
    if (panels.length > 0) this.repainted(this.size ? [0] : panels, full ? 'full' : 'partial');
  }

  /** Sends an event about repainted panels to every page. */
  repainted(panels, refresh) {
    const [one] = recorded.events.panels.panels;
    this.send(
      'panels',
      like(recorded.events.panels, {
        generation: (this.version += 1),
        panels: panels.map((panel) => like(one, { panel, refresh })),
      }),
    );
  }

  send(name, value) {
    if (name === 'bench' && !this.bench) return;
    for (const stream of this.streams) stream.write(`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  async #serve(request, response) {
    const url = new URL(request.url, 'http://clock');
    let body = '';
    for await (const piece of request) body += piece;
    const isImage = request.url.startsWith('/upload/');
    const path = url.pathname;
    const key = `${request.method} ${path}`;
    if (request.method !== 'GET')
      this.log.push({
        key,
        search: url.search,
        body: body && !isImage ? JSON.parse(body) : undefined,
        headers: request.headers,
      });
    const json = (status, value, headers = {}) => {
      const plain = JSON.stringify(value);
      const sent = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers };
      const { coding, vary, tagBegins } = recorded.compressed;
      if (plain.length >= COMPRESSED_FROM) sent.Vary = vary;
      if (plain.length < COMPRESSED_FROM || !request.headers['accept-encoding']?.includes(coding))
        return void response.writeHead(status, sent).end(plain);
      if (sent.ETag) sent.ETag = tagBegins + sent.ETag;
      response.writeHead(status, { ...sent, 'Content-Encoding': coding }).end(gzipSync(plain));
    };
    // A simulated clock that created a password shows its panels without one.
    if (this.showsPassword && key === 'GET /api/panels.png') return this.#glass(response);
    if (this.password && /^\/(api|events|sim)/.test(path)) {
      const expected = `Basic ${Buffer.from(`papertick:${this.password}`).toString('base64')}`;
      if (request.headers.authorization !== expected) {
        const challenge = request.headers['x-sign-in'] ? 'Form' : 'Basic';
        return json(401, { error: 'unauthorized' }, { 'WWW-Authenticate': `${challenge} realm="papertick"` });
      }
    }
    const panel = /^GET \/api\/panels\/(\d+)\.png$/.exec(key);
    if (panel) return this.#panel(Number(panel[1]), request, response);
    if (key === 'GET /api/panels.png') return this.#glass(response);
    if (key === 'GET /api/frame.png') return this.#frame(url.searchParams, request, json, response);
    if (key === 'POST /api/frame.png' && this.refuse) return json(400, { error: this.refuse });
    if (key === 'POST /api/frame.png')
      return this.#frame(url.searchParams, request, json, response, JSON.parse(body).boardScreens);
    if (key === 'GET /glass') return this.#glassPage(url.searchParams, response);
    if (key === 'GET /api/qr.png') {
      response.writeHead(200, { 'Content-Type': 'image/png' });
      return void response.end(framePng('QR', 33, 33, false));
    }
    const what = {
      method: request.method,
      path,
      body: body && !isImage ? JSON.parse(body) : undefined,
      json,
      response,
    };
    if (displays(this, what)) return undefined;
    if (key === 'GET /events') return this.#events(response);
    if (key === 'GET /api/status') return json(200, this.status());
    if (key === 'GET /api/history') {
      this.log.push({ key, search: url.search });
      return json(200, { values: this.history, times: this.history.map((_, step) => 1_764_000_000 + 600 * step) });
    }
    if (key === 'GET /api/settings') return json(200, this.settingsDocument(), { ETag: this.settingsTag() });
    if (key === 'PATCH /api/settings') return this.#patch(JSON.parse(body), request, json, response);
    if (key === 'POST /api/preview.png') {
      if (this.undrawable) return void json(400, { error: 'bad body' });
      response.writeHead(200, { 'Content-Type': 'image/png', 'Cache-Control': 'no-store' });
      return void response.end(panelPng(this.data()[0].trim(), JSON.parse(body).invertedColor ?? false));
    }
    if (key === 'POST /api/show/preview.png') {
      this.previewed = JSON.parse(body);
      response.writeHead(200, { 'Content-Type': 'image/png', 'Cache-Control': 'no-store' });
      return void response.end(panelPng(this.previewed[0], this.settings.invertedColor));
    }
    if (this.#care(key, body, json, response)) return undefined;
    if (path.startsWith('/sim/')) return this.#sim(key, body ? JSON.parse(body) : {}, json, response);
    if (request.method === 'POST') return this.#act(path, body ? JSON.parse(body) : undefined, json, response);
    return this.#file(path, response);
  }

  /** Handles requests of the care view with recorded responses; returns false for other requests. */
  #care(key, body, json, response) {
    const { exported, imported, log, firmware, release } = recorded.care;
    const acts = {
      'GET /api/settings/export': () => json(200, exported),
      'POST /api/settings/import': () => {
        const { dryRun, except } = JSON.parse(body);
        if (dryRun) return json(200, imported);
        const before = this.data();
        for (const { name, new: fresh } of imported.changes) if (!except.includes(name)) this.settings[name] = fresh;
        this.changed(before);
        return json(200, like(imported, { applied: true }));
      },
      'GET /api/log': () => json(200, like(log, { lines: this.lines ?? log.lines })),
      'GET /api/system/status': () =>
        json(200, { firmware: this.firmware ?? like(firmware, { keys: 1 }), release: this.release ?? release }),
      'GET /api/coredump': () =>
        this.dump ? response.writeHead(200).end(this.dump) : json(404, { error: 'no coredump' }),
      'HEAD /api/coredump': () => response.writeHead(this.dump ? 200 : 404).end(),
      'DELETE /api/coredump': () => response.writeHead(200).end(),
    };
    const upload = () =>
      body.startsWith('good')
        ? json(200, { result: 'ok', bytes: body.length })
        : json(500, { error: 'ESP_ERR_OTA_VALIDATE_FAILED', msg: 'this is no image' });
    const act = key.startsWith('POST /upload/') ? upload : acts[key];
    act?.();
    return act !== undefined;
  }

  #glass(response) {
    response.writeHead(200, { 'Content-Type': 'image/png', 'Cache-Control': 'no-cache' });
    response.end(panelPng(this.data().join(''), this.settings.invertedColor));
  }

  /** A picture of any size. */
  #frame(query, request, json, response, board = this.settings.boardScreens) {
    const screen = query.get('screen');
    if (screen !== null && !this.settings.screens.some(({ id }) => id === Number(screen)))
      return json(400, { error: 'unknown screen id' });
    const dark = query.has('dark') ? query.get('dark') !== 'false' : this.settings.invertedColor;
    const layout = query.get('layout') ?? 'auto';
    if (!LAYOUTS.includes(layout)) return json(400, { error: `layout must be one of ${LAYOUTS.join(', ')}` });
    const tiles = layout === 'board' ? board : [];
    // A tile is at least this wide.
    const fitting = Math.min(tiles.length, Math.floor(Number(query.get('width') ?? 800) / 60));
    const shown = this.data(screen === null ? undefined : Number(screen)).join('');
    const text = tiles.length > 0 ? tiles.slice(0, fitting).join(' ') : shown;
    const png = framePng(text, Number(query.get('width') ?? 800), Number(query.get('height') ?? 480), dark);
    const etag = `"${createHash('sha256').update(png).digest('hex').slice(0, 16)}"`;
    const notModified = request.headers['if-none-match'] === etag;
    this.log.push({ key: 'GET frame', search: `?${query}`, text, notModified });
    if (notModified) return void response.writeHead(304, { ETag: etag }).end();
    response.writeHead(200, {
      'Content-Type': 'image/png',
      'Cache-Control': 'no-cache',
      ETag: etag,
      ...(tiles.length > 0 && { 'Papertick-Tiles': `${fitting} of ${tiles.length}` }),
    });
    response.end(png);
  }

  /** The full screen page; without `live` a single picture, which a header reloads. */
  async #glassPage(query, response) {
    const page = (await readFile(join(DIST, 'glass.html'))).toString();
    const isLive = query.has('live');
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': recorded.policy,
      ...(!isLive && { Refresh: '300' }),
    });
    const picture = '<img src="api/frame.png?width=800&amp;height=480" width="800" height="480" alt="The clock">';
    response.end(isLive ? page : page.replace('<!--still-->', picture));
  }

  #panel(index, request, response) {
    const cell = this.size ? this.data().join('') : this.data()[index];
    if (cell === undefined) return void response.writeHead(404).end();
    const png = this.size
      ? framePng(cell, ...this.size, this.settings.invertedColor)
      : panelPng(cell.trim(), this.settings.invertedColor);
    const etag = `"${createHash('sha256').update(png).digest('hex').slice(0, 16)}"`;
    this.log.push({ key: `GET panel ${index}`, notModified: request.headers['if-none-match'] === etag });
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { ETag: etag }).end();
    response.writeHead(200, { 'Content-Type': 'image/png', 'Cache-Control': 'no-cache', ETag: etag });
    response.end(png);
  }

  #events(response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    response.write(`event: welcome\ndata: {}\n\nevent: status\ndata: ${JSON.stringify(this.status())}\n\n`);
    if (this.bench) response.write(`event: bench\ndata: ${JSON.stringify(this.simState())}\n\n`);
    this.streams.add(response);
    const ping = setInterval(() => response.write(': ping\n\n'), 5000);
    response.on('close', () => {
      clearInterval(ping);
      this.streams.delete(response);
    });
  }

  #patch(patch, request, json, response) {
    const match = request.headers['if-match'];
    if (match && match !== this.settingsTag()) return json(412, { error: 'precondition failed' });
    const error = this.refuse ?? patchError(patch, this.settings);
    if (this.hint) response.setHeader('Papertick-Reason', encodeURIComponent(this.hint));
    if (error) return json(400, { error });
    const before = this.data();
    let reboot = false;
    for (const [name, value] of Object.entries(patch)) {
      if (GET_ONLY.has(name)) continue;
      if (name === 'timePerScreen') this.settings.timerSeconds = Math.min(3600, Math.trunc(value * 60));
      else if (name === 'dnd') Object.assign(this.settings.dnd, value);
      else if (name === 'screens') this.#screens(value);
      else if (name in this.settings.secrets) this.settings.secrets[name] = value;
      else if (name in this.settings) this.settings[name] = value;
      if (REBOOT.has(name)) reboot = true;
    }
    this.changed(before, 'invertedColor' in patch);
    if (reboot) return json(200, recorded.patch.restart);
    response.writeHead(200, { ETag: this.settingsTag() }).end();
  }

  #screens(list) {
    for (const entry of list) {
      const screen = this.settings.screens.find(({ id }) => id === entry.id);
      if (typeof entry.enabled === 'boolean') screen.enabled = entry.enabled;
      if (typeof entry.order === 'number') screen.order = entry.order;
    }
    this.settings.screens.sort((one, other) => one.order - other.order);
  }

  #act(path, body, json, response) {
    const before = this.data();
    const ids = this.settings.screens.map(({ id }) => id);
    const step = (by) => {
      if (this.custom) this.custom = null;
      else this.current = ids[(ids.indexOf(this.current) + by + ids.length) % ids.length];
    };
    const acts = {
      '/api/screen/next': () => step(1),
      '/api/screen/previous': () => step(-1),
      '/api/action/pause': () => (this.running = false),
      '/api/action/timer_restart': () => (this.running = true),
      '/api/full_refresh': () => {},
      '/api/clean_panels': () => {},
      '/api/identify': () => {},
      '/api/action/simulate_zap': () => {},
      '/api/show/screen': () => {
        this.custom = null;
        this.current = body.s;
      },
      '/api/show/currency': () => {
        this.currency = body.c;
        if (![10, 20, 30].includes(this.current)) this.current = 20;
      },
      '/api/show/text': () =>
        (this.custom = Array.from({ length: this.panels }, (_, index) => [...body.t][index] ?? ' ')),
      '/api/show/custom': () => (this.custom = Array.from({ length: this.panels }, (_, index) => body[index] ?? '')),
      '/api/lights/effect': () => {},
      '/api/restart_datasources': () => {},
      '/api/factory_reset': () => (this.erased = body.confirm),
      '/api/action/clear_pool_logos': () => {},
      '/api/firmware/auto_update': () => {
        // A search is over when the release has an age.
        setTimeout(() => (this.release = { ...recorded.care.release, ageSec: 0 }), 1_500);
      },
      '/api/lights/set': () => (this.leds = body.map(({ hex }) => hex)),
      '/api/lights/off': () => this.leds.fill('#000000'),
      '/api/dnd/enable': () => (this.settings.dnd.enabled = true),
      '/api/dnd/disable': () => (this.settings.dnd.enabled = false),
      '/api/frontlight/on': () => (this.front.on = true),
      '/api/frontlight/off': () => (this.front.on = false),
      '/api/frontlight/flash': () => {},
      '/api/frontlight/brightness': () => (this.front.brightness = body.b),
      '/api/restart': () => void setTimeout(() => void this.#restart(), 100),
    };
    if (!acts[path]) return json(404, { error: 'not found' });
    acts[path]();
    response.writeHead(200).end();
    this.changed(before, path === '/api/full_refresh');
  }

  #sim(key, body, json, response) {
    if (!this.bench) return json(404, { error: 'not found' });
    if (key === 'GET /sim/state') return json(200, this.simState());
    if (key === 'POST /sim/buttons') return this.#press(body, response);
    const acts = {
      'POST /sim/lux': () => (this.lux = body.lux),
      'POST /sim/wifi': () => (this.link = body.link),
      'POST /sim/power': () => {},
      'POST /sim/market': () => {
        if (body.event.startsWith('relay-')) this.demoRelay = body.event === 'relay-back' ? 'there' : 'gone';
      },
      'POST /sim/panel': () => (this.faults[body.panel] = body.fault),
    };
    if (!acts[key]) return json(404, { error: 'not found' });
    const before = this.data();
    acts[key]();
    response.writeHead(200).end();
    this.changed(before);
  }

  /** Sends the state of the bench to every page. */
  benchChanged() {
    this.send('bench', this.simState());
  }

  /** Holds buttons down until the time is over or the client closes the request. */
  #press({ press, ms }, response) {
    const since = Date.now();
    let isDown = true;
    for (const button of press) this.buttons.add(button);
    this.benchChanged();
    const release = () => {
      if (!isDown) return;
      isDown = false;
      clearTimeout(timer);
      for (const button of press) this.buttons.delete(button);
      this.benchChanged();
      this.presses.push({ press, ms: Math.min(ms, Date.now() - since) });
      if (!response.closed) response.writeHead(200).end();
    };
    const timer = setTimeout(release, ms);
    response.once('close', release);
  }

  simState() {
    const duty = this.front.on ? this.front.brightness : 0;
    return like(recorded.bench, {
      demo_relay: this.demoRelay ?? null,
      panels: Array.from({ length: this.size ? 1 : this.panels }, (_, index) =>
        like(recorded.bench.panels[0], { full: 1, partial: 3, fault: this.faults[index] ?? 'none' }),
      ),
      leds: this.liveLeds ?? this.leds,
      frontlight: this.hasFrontlight ? Array(this.panels).fill(duty) : [],
      buttons: [...this.buttons],
      lux: this.hasFrontlight ? this.lux : null,
      link: this.link,
    });
  }

  async #file(path, response) {
    const name = VIEW.test(path) ? 'index.html' : normalize(path).replace(/^\/+/, '');
    try {
      let content = await readFile(join(DIST, name));
      // As the clock does: the base of a nested address points back to the root.
      const depth = path.split('/').length - 2;
      if (name === 'index.html' && depth > 0) {
        content = content.toString().replace('<base href="./"', `<base href="${'../'.repeat(depth)}"`);
      }
      response.writeHead(200, {
        'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
        'Content-Security-Policy': recorded.policy,
      });
      response.end(content);
    } catch {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found');
    }
  }
}
