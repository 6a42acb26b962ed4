/** The child process, which the parent may kill at any time. It has an empty environment, no handles except the channel to its parent, no files
 *  except its own code (Node.js's permission model), and drops root's privileges. It receives only code and requests. Life cycle: start the
 *  threads, drop privileges, send `ready`, execute commands in order, exit with the channel. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BroadcastChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import {
  type ChildMessage,
  type Command,
  EVICTIONS,
  type Limits,
  type Reply,
  type Task,
  type TransformResult,
} from '../protocol.ts';

const limits: Limits = JSON.parse(process.argv[2] ?? '');
const loaded = new Map<number, Pick<Task, 'id' | 'code'>>();
let replies: Reply[] = [];

/** Time between memory checks: short compared with the time that a transform needs to fill memory in ways that V8 does not count. */
const MEMORY_CHECK_MS = 50;
const MEMORY_STEP_BYTES = 4 * 1_048_576;
const UID_NOBODY = 65_534;

process.on('disconnect', () => endBySignal('SIGKILL'));
// A fault of this process. The signal lets the parent distinguish it from a kill from outside.
process.on('uncaughtException', (error) => {
  console.error(error);
  endBySignal('SIGABRT');
});
// The parent handles signals to the whole process group: it may still have requests to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
if (!process.connected) endBySignal('SIGKILL');

const evictions = new BroadcastChannel(EVICTIONS);
const threads = new Piscina<Task | null, TransformResult[]>({
  filename: fileURLToPath(new URL(`./thread${extname(import.meta.filename)}`, import.meta.url)),
  name: 'runBatch',
  minThreads: limits.threads,
  maxThreads: limits.threads,
  workerData: limits,
  recordTiming: false,
});
await Promise.all(Array.from({ length: limits.threads }, warmUp));
dropPrivileges();
let bytesSent = 0;
setInterval(sendMemory, MEMORY_CHECK_MS).unref();
sendMemory();
process.on('message', (commands: Command[]) => commands.forEach(execute));
process.send?.('ready' satisfies ChildMessage);

function execute(command: Command) {
  if (command.type === 'load') loaded.set(command.handle, command);
  else if (command.type === 'unload') loaded.delete(command.handle);
  else if (command.type === 'evict') evict(command.id);
  else void run(command);
}

async function run({ batch, handle, args, aheadMs }: Command & { type: 'run' }) {
  const transform = loaded.get(handle);
  if (transform === undefined) throw new Error(`code handle ${handle} was not loaded`);
  const results = await threads.run({ id: transform.id, code: transform.code, args, aheadMs });
  if (replies.push({ batch, results }) === 1) setImmediate(flush);
}

function flush() {
  process.send?.(replies satisfies ChildMessage);
  replies = [];
}

/** Proves that a thread works before a request depends on it. */
async function warmUp() {
  await threads.run({ id: '', code: 'function transform() {}', args: null, aheadMs: 0 });
}

/** Replaces `process.exit`, which waits for the threads: they may be in an endless loop. */
function endBySignal(signal: NodeJS.Signals) {
  process.kill(process.pid, signal);
}

/** Runs an empty task in each thread, so that a sleeping thread wakes up and reads the channel; a busy one reads it before its next task. */
function evict(id: string) {
  evictions.postMessage(id);
  for (let thread = 0; thread < limits.threads; thread += 1) void threads.run(null);
}

function sendMemory() {
  const bytes = process.memoryUsage.rss();
  if (Math.abs(bytes - bytesSent) < MEMORY_STEP_BYTES) return;
  bytesSent = bytes;
  process.send?.({ bytes } satisfies ChildMessage);
}

/** With root's privileges, code that escaped from V8 could read the environment of the parent, and all secrets in it. */
function dropPrivileges() {
  if (process.getuid?.() !== 0) return;
  try {
    process.setgroups?.([]);
    process.setgid?.(UID_NOBODY);
    process.setuid?.(UID_NOBODY);
  } catch (error) {
    // The container has no mapping for this user.
    console.error('the process for transforms keeps root privileges:', error);
  }
}
