/** The process that may be killed at any time. It has an empty environment, no handles but the channel to its parent,
 *  and knows nothing but the code and the requests it is sent.
 *  Life: start the threads, say `ready`, take orders in turn, die with the channel. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { FromChild, Limits, Order, Reply, Task, Verdict } from './protocol.ts';

const limits: Limits = JSON.parse(process.argv[2] ?? '');
const codes = new Map<number, Pick<Task, 'id' | 'code'>>();
let replies: Reply[] = [];

process.on('disconnect', die);
process.on('uncaughtException', (error) => {
  console.error(error);
  die();
});
// A signal to the whole group is the parent's to act on: it may still have requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
if (!process.connected) die();
volunteerForTheOutOfMemoryKiller();

const pool = new Piscina<Task, Verdict[]>({
  filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
  name: 'perform',
  minThreads: limits.threads,
  maxThreads: limits.threads,
  workerData: limits,
  recordTiming: false,
});
await Promise.all(Array.from({ length: limits.threads }, warmUp));
process.on('message', (orders: Order[]) => orders.forEach(obey));
process.send?.('ready' satisfies FromChild);

function obey(order: Order) {
  if (order.order === 'learn') codes.set(order.slot, order);
  else if (order.order === 'forget') codes.delete(order.slot);
  else void perform(order);
}

async function perform({ batch, slot, args }: Order & { order: 'perform' }) {
  const known = codes.get(slot);
  if (known === undefined) throw new Error(`slot ${slot} was not learned`);
  const verdicts = await pool.run({ id: known.id, code: known.code, args });
  if (replies.push({ batch, verdicts }) === 1) setImmediate(flush);
}

function flush() {
  process.send?.(replies satisfies FromChild);
  replies = [];
}

/** Proves that a thread can do its work before a request depends on it. */
async function warmUp() {
  await pool.run({ id: '', code: 'function transform() {}', args: null });
}

/** Not `process.exit`: it waits for the threads, and they may be in a loop. */
function die() {
  process.kill(process.pid, 'SIGKILL');
}

/** On Linux, a machine short of memory then takes this process and not its parent. */
function volunteerForTheOutOfMemoryKiller() {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {}
}
