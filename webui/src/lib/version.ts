/** Checks whether the page and the program have matching versions. */
import type { Manifest } from './documents.gen';
import { t } from './words';

/** The three numbers at the start of a version; undefined if there are none. */
export function numbers(version: unknown): [number, number, number] | undefined {
  const found = typeof version === 'string' ? /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) : null;
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : undefined;
}

/** True if one version precedes another; false if either is unknown. */
export function older(one: unknown, other: unknown): boolean {
  const left = numbers(one);
  const right = numbers(other);
  if (!left || !right) return false;
  const differs = left.findIndex((number, place) => number !== right[place]);
  return differs >= 0 && left[differs]! < right[differs]!;
}

/** A sentence about the mismatch; empty if the versions match. */
export function misfit(manifest: Manifest | null, firmware: unknown, bundle: unknown): string {
  if (manifest && older(firmware, manifest.minFirmware)) {
    return t('This page needs version {least} of the clock or a newer one; it has {version}.', {
      least: manifest.minFirmware!,
      version: String(firmware),
    });
  }
  const program = numbers(firmware);
  const page = numbers(bundle);
  if (program && page && program.join('.') !== page.join('.')) {
    return t('The clock has version {program}, its page {page}. Install both of the same version.', {
      program: program.join('.'),
      page: page.join('.'),
    });
  }
  return '';
}
