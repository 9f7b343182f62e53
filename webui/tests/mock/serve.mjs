// Runs the mock clock by hand: `npm run mock -- 8080`.
import { MockClock } from './clock.mjs';

const clock = new MockClock({ panels: 7 });
console.log(`mock clock at ${await clock.listen(Number(process.argv[2] ?? 8080))}`);
