// Path of the real program: the debug build of Cargo, or PAPERTICK_BIN.
// Tests with it are skipped if it is not built, unless CI is true.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Path of the debug build in the target folder of Cargo. */
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
