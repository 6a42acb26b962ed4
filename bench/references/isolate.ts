/** The reference for webhooks: their transform in an isolate, called directly from one thread, JSON in and JSON out, without HTTP, Redis
 *  or another process. Receives a number of seconds over IPC and replies with calls per second. */
import ivm from 'isolated-vm';
import { KIND, TRANSFORM, WEBHOOK_REQUEST } from '../payloads.ts';

const CALLS = 100;
const MEMORY_MB = 64;

const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
const context = isolate.createContextSync();
const source = `${TRANSFORM}\nreturn (json) => { const [evt, headers] = JSON.parse(json); return JSON.stringify(transform(evt, headers)); };`;
const call: ivm.Reference<(json: string) => string> = context.evalClosureSync(source, [], {
  result: { reference: true },
});
const raw = JSON.stringify(WEBHOOK_REQUEST);
const headers = { 'Content-Type': 'application/json', 'X-Kind': KIND['x-kind'] };

process.on('message', (seconds: number) => {
  const startedAt = performance.now();
  let calls = 0;
  while (performance.now() - startedAt < 1_000 * seconds) {
    for (let i = 0; i < CALLS; i++) {
      const answer = call.applySync(undefined, [JSON.stringify([JSON.parse(raw), headers, {}, raw])]);
      JSON.parse(answer);
    }
    calls += CALLS;
  }
  process.send?.((1_000 * calls) / (performance.now() - startedAt));
});
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
