/** The reference for webhooks: their transform in an isolate, called directly from one thread, JSON in and JSON out, without HTTP, Redis
 *  or another process. Receives a number of seconds over IPC and replies with calls per second. */
import { KIND, WEBHOOK_REQUEST } from '../payloads.ts';
import { transform } from './transform.ts';

const CALLS = 100;

const raw = JSON.stringify(WEBHOOK_REQUEST);
const headers = { 'Content-Type': 'application/json', 'X-Kind': KIND['x-kind'] };

process.on('message', (seconds: number) => {
  const startedAt = performance.now();
  let calls = 0;
  while (performance.now() - startedAt < 1_000 * seconds) {
    for (let i = 0; i < CALLS; i++) {
      JSON.parse(transform(JSON.stringify([JSON.parse(raw), headers, {}, raw])));
    }
    calls += CALLS;
  }
  process.send?.((1_000 * calls) / (performance.now() - startedAt));
});
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
