/** Problems of the network and the panels, as sentences. */
import { n, t } from './words';
import type { Status } from './documents.gen';

const PANEL_FAULTS: Record<string, string> = {
  'busy-stuck': n('it never became ready again'),
  'started-busy': n('it was not ready for a new picture'),
  'not-refreshed': n('it did not take the new one'),
  slow: n('it refreshed too slowly'),
  bus: n('it could not be reached'),
};

const LINK_FAILURES: Record<string, string> = {
  lost: n('the connection was lost'),
  no_ap_found: n('no network of that name is in reach'),
  auth_fail: n('the password is wrong'),
  assoc_fail: n('the network refused the clock'),
  handshake_timeout: n('the network aborted the handshake'),
  connection_fail: n('no connection could be made'),
  timeout: n('the network took too long'),
};

/** All problems, the most severe first. */
export function troubles(status: Status): string[] {
  const found: string[] = [];
  const lost = linkTrouble(status);
  if (lost) found.push(lost);
  for (const { panel, fault, failures } of status.panelFaults ?? []) {
    const why = PANEL_FAULTS[fault] ?? fault;
    const text = t('Panel {number} shows an older picture: {why}.', { number: panel + 1, why: t(why) });
    found.push(text + tries(failures));
  }
  return found;
}

function linkTrouble({ link }: Status): string | null {
  if (!link || (link.state !== 'disconnected' && link.state !== 'connecting')) return null;
  const name = link.network === 'radio' && link.ssid ? `“${link.ssid}”` : t('its network');
  if (link.state === 'connecting' && !link.failure) return null;
  const why = link.failure ? `: ${t(LINK_FAILURES[link.failure] ?? link.failure)}` : '';
  return t('The clock has lost {network}. Its values are not updated; it keeps trying.', { network: name + why });
}

/** A sentence about the retries; empty if there were none. */
function tries(failures = 0): string {
  if (failures === 0) return '';
  return ` ${t('Failed attempts: {count}. The clock tries again by itself.', { count: failures })}`;
}
