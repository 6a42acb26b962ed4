/** The process that may be killed at any time. It has an empty environment, no handles but the channel to its parent, no file but
 *  its own code (Node.js's permission model), no user's rights where the service has root's, and knows nothing but the code
 *  and the requests it is sent.
 *  Life: start the threads, give up its rights, say `ready`, take orders in turn, die with the channel. */
import { fileURLToPath } from 'node:url';
import { BroadcastChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import {
  type FromChild,
  GONE,
  type Limits,
  type Order,
  type Reply,
  type Task,
  type TransformResult,
} from '../protocol.ts';

const limits: Limits = JSON.parse(process.argv[2] ?? '');
const codes = new Map<number, Pick<Task, 'id' | 'code'>>();
let replies: Reply[] = [];

/** Short beside the time that a transform needs to fill memory in ways that V8 does not count. */
const TELL_BYTES_MS = 50;
const TELL_BYTES_STEP = 4 * 1_048_576;
const NOBODY = 65_534;

process.on('disconnect', () => die('SIGKILL'));
// Of what runs here: the parent tells it from a death that comes from outside by the signal.
process.on('uncaughtException', (error) => {
  console.error(error);
  die('SIGABRT');
});
// A signal to the whole group is the parent's to act on: it may still have requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
if (!process.connected) die('SIGKILL');

const gone = new BroadcastChannel(GONE);
const pool = new Piscina<Task | null, TransformResult[]>({
  filename: fileURLToPath(new URL('./thread.ts', import.meta.url)),
  name: 'perform',
  minThreads: limits.threads,
  maxThreads: limits.threads,
  workerData: limits,
  recordTiming: false,
});
await Promise.all(Array.from({ length: limits.threads }, warmUp));
giveUpRights();
let bytesTold = 0;
setInterval(tellBytes, TELL_BYTES_MS).unref();
tellBytes();
process.on('message', (orders: Order[]) => orders.forEach(obey));
process.send?.('ready' satisfies FromChild);

function obey(order: Order) {
  if (order.order === 'learn') codes.set(order.slot, order);
  else if (order.order === 'forget') codes.delete(order.slot);
  else if (order.order === 'evict') evict(order.id);
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
function die(signal: NodeJS.Signals) {
  process.kill(process.pid, signal);
}

/** A task for each thread, so that one which sleeps wakes and hears of it; one that is busy does before its next task. */
function evict(id: string) {
  gone.postMessage(id);
  for (let thread = 0; thread < limits.threads; thread += 1) void pool.run(null);
}

function tellBytes() {
  const bytes = process.memoryUsage.rss();
  if (Math.abs(bytes - bytesTold) < TELL_BYTES_STEP) return;
  bytesTold = bytes;
  process.send?.({ bytes } satisfies FromChild);
}

/** With root's rights, whoever broke out of V8 could read the environment of the parent, and with it all its secrets. */
function giveUpRights() {
  if (process.getuid?.() !== 0) return;
  try {
    process.setgroups?.([]);
    process.setgid?.(NOBODY);
    process.setuid?.(NOBODY);
  } catch (error) {
    // A container that maps no such user.
    console.error('the child for transforms keeps the rights of root:', error);
  }
}
