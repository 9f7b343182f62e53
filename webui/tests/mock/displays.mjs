// The other screens of the mock clock.
import { framePng } from './png.mjs';

const UNTOLD = { mac: null, model: null, firmware: null, battery: null, rssi: null, lastContactSec: null };
const FORM = {
  width: 800,
  height: 480,
  depth: 1,
  rotate: 0,
  layout: 'auto',
  dark: null,
  content: 'clock',
  screens: [],
};
const FRESH = { ...FORM, intervalMin: 10, nextContactSec: null, log: [] };

/** A display that has introduced itself and waits. */
export function introduced(id) {
  return {
    ...FRESH,
    id,
    mac: `AB:CD:EF:${id.match(/../g).join(':')}`,
    name: '',
    state: 'waiting',
    model: 'og',
    firmware: '1.8.14',
    battery: { volts: 4.1, percent: 87, charging: null },
    rssi: -69,
    lastContactSec: 12,
    nextContactSec: 60,
    log: [{ at: 1764120000, level: 'error', message: 'no answer from the server' }],
  };
}

/** Answers what the page asks of displays; tells whether it did. */
export function displays(clock, { method, path, body, json, response }) {
  const found = /^\/api\/displays(?:\/([^./]+)(\.png)?)?$/.exec(path);
  if (!found) return false;
  const [, id, isPicture] = found;
  const display = clock.displays.find((some) => some.id === id);
  if (id && !display) json(404, { error: 'not found' });
  else if (isPicture) {
    response.writeHead(200, { 'Content-Type': 'image/png' });
    response.end(framePng(clock.data().join(''), display.width, display.height, display.dark === true));
  } else if (method === 'GET') json(200, { displays: clock.displays, max: 64 });
  else if (method === 'POST') {
    const made = { ...FRESH, ...UNTOLD, id: `00000${clock.displays.length}`, name: body.name, state: 'approved' };
    clock.displays.push(made);
    json(200, { ...made, token: 'kept-by-its-owner' });
  } else if (method === 'DELETE') {
    clock.displays = clock.displays.filter((some) => some !== display);
    response.writeHead(200).end();
  } else if (body.width > 3840) json(400, { error: 'width must be 200 to 3840' });
  else json(200, Object.assign(display, body));
  return true;
}
