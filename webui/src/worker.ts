/** Shared worker with the event stream of all tabs of this page. */
import { Hub, type TabMessage } from './lib/shared';

const hub = new Hub();

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port) port.onmessage = ({ data }: MessageEvent<TabMessage>) => hub.receive(port, data);
});
