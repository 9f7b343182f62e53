// The remote displays of the mock clock.
import { framePng } from './png.mjs';
import { like, recorded } from './recorded.mjs';

/** A display that registered itself and waits for approval. */
export function introduced(id) {
  return like(recorded.displays.waiting, { id });
}

/** Handles requests about displays; returns false for other requests. */
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
    const { token, ...made } = like(recorded.displays.added, body);
    clock.displays.push(made);
    json(200, { ...made, token });
  } else if (method === 'DELETE') {
    clock.displays = clock.displays.filter((some) => some !== display);
    response.writeHead(200).end();
  } else if (body.width > 3840) json(400, { error: 'width must be a whole number from 200 to 3840' });
  else json(200, Object.assign(display, like(display, body)));
  return true;
}
