/** What ails the clock, in words for people: what its panels and lights cannot tell by themselves. */
import type { Status } from './types';

const PANEL_FAULTS: Record<string, string> = {
  'busy-stuck': 'it never became ready again',
  'started-busy': 'it was not ready for a new picture',
  'not-refreshed': 'it did not take the new one',
  bus: 'it could not be reached',
};

const LINK_FAILURES: Record<string, string> = {
  lost: 'the connection was lost',
  no_ap_found: 'no network of that name is in reach',
  auth_fail: 'the password is wrong',
  assoc_fail: 'the network refused the clock',
  handshake_timeout: 'the network broke the handshake off',
  connection_fail: 'no connection came about',
  timeout: 'the network took too long',
};

/** All troubles of a clock, the gravest first; none of a sound one. */
export function troubles(status: Status): string[] {
  const found: string[] = [];
  if (status.safeMode)
    found.push(`Safe mode: ${sentence(status.safeMode)} The clock runs without data until the next restart.`);
  const lost = linkTrouble(status);
  if (lost) found.push(lost);
  for (const { panel, fault, failures } of status.panelFaults ?? []) {
    const why = PANEL_FAULTS[fault] ?? fault;
    found.push(`Panel ${panel + 1} shows an older picture: ${why}.${tries(failures)}`);
  }
  return found;
}

function linkTrouble({ link }: Status): string | null {
  if (!link || (link.state !== 'disconnected' && link.state !== 'connecting')) return null;
  const name = link.network === 'radio' && link.ssid ? `“${link.ssid}”` : 'its network';
  if (link.state === 'connecting' && !link.failure) return null;
  const why = link.failure ? `: ${LINK_FAILURES[link.failure] ?? link.failure}` : '';
  return `The clock has lost ${name}${why}. Its values stand still; it goes on trying.`;
}

/** That the clock does something about it, if it counts its tries. */
function tries(failures = 0): string {
  if (failures === 0) return '';
  const count = failures === 1 ? 'It failed once' : `It failed ${failures} times`;
  return ` ${count} and is tried again by itself.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
