/** Holds the one event stream of all tabs of this page. */
import { Hub, type Wish } from './lib/shared';

const hub = new Hub();

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port) port.onmessage = ({ data }: MessageEvent<Wish>) => hub.hear(port, data);
});
