// The real program: the one that `cargo build` or `cargo test` leaves, or the one that PAPERTICK_BIN names.
// Tests of it are skipped where it is not built, unless CI is true.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Cargo builds: under `target`, unless somebody says otherwise. */
function built() {
  try {
    const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, cwd: import.meta.dirname };
    const metadata = execFileSync('cargo', ['metadata', '--format-version', '1', '--no-deps'], options);
    return join(JSON.parse(metadata).target_directory, 'debug', 'papertick');
  } catch (error) {
    return `cargo: ${error.message}`;
  }
}

export const BIN = process.env.PAPERTICK_BIN ?? built();
export const skip = existsSync(BIN) ? false : `the program is not built: ${BIN}`;
if (skip && process.env.CI === 'true') throw new Error(skip);
