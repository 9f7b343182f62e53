/** Names of screens. */
import { t } from './words';
import type { ScreenEntry } from './types';

/** The screen that counts satoshis for one unit of a currency. */
export const SATS_PER_UNIT = 10;

/** Name and currency of a screen; the currency is empty if the name contains it. */
export function screenWords(
  { id, name }: Pick<ScreenEntry, 'id' | 'name'>,
  currency: string,
): { name: string; currency: string } {
  if (id !== SATS_PER_UNIT || currency === '') return { name: t(name), currency };
  return currency === 'USD'
    ? { name: t(name), currency: '' }
    : { name: t('Sats per {currency}', { currency }), currency: '' };
}

/** The name of a screen on a clock with these currencies. */
export function nameOfScreen(screen: ScreenEntry, currencies: readonly string[]): string {
  return screenWords(screen, currencies.includes('USD') ? 'USD' : currencies.join('/')).name;
}
