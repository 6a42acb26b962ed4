import ivm from 'isolated-vm';
import type { Arguments, Limits, StopCause } from '../protocol.ts';
import { BOOTSTRAP_FILE, type Bootstrap, bootstrapCode, bootstrapLimits, SPOILED, type UserCode } from './bootstrap.ts';
import { harden } from './harden.ts';
import { shiftDate } from './shift-date.ts';
import { createHostCalls, type HostCalls } from './web-api/host-calls.ts';
import { webApiSource } from './web-api/web-api.ts';

const FILE = { filename: 'transform.js' };
/** Prefix and suffix are on lines of their own, so that error columns match the user's code. */
const PREFIX = '(function () {\n';
const SUFFIX = '\n;return typeof transform === "function" ? transform : undefined;\n})';
/** Matches code that adds to a built-in or to its own class: no cheap check distinguishes the two. Every repetition is bounded, because the
 *  code is untrusted. */
const CHANGES_PROTOTYPES =
  /\bprototype\s{0,9}(\.\s{0,9}[\w$]{1,99}|\[[^\]]{0,99}\])\s{0,9}=[^=]|\bassign\s{0,9}\(\s{0,9}[\w$.]{1,99}\.prototype\b|defineProperty|__proto__/;
const BOOTSTRAP = `(${bootstrapCode})`;
const HARDEN = `${harden}`;
const STOPPED_BY_TIMEOUT = 'Script execution timed out.';
const SYNTAX_ERROR = /^(.*) \[(transform\.js:\d+:\d+)\]$/s;
const MESSAGE_CHARS = 1_000;
const STACK_CHARS = 2_000;

/** A limit stopped the transform. Its isolate is unusable. */
export class Stopped extends Error {
  override readonly cause: StopCause;
  constructor(cause: StopCause) {
    super(`stopped: ${cause}`);
    this.cause = cause;
  }
}

/** The user's code is at fault. `stack` has the user's line, if V8 knows it. */
export class CodeError extends Error {
  constructor(message: string, stack = '') {
    super(message);
    this.stack = stack;
  }
}

/** One webhook's transform, compiled in an isolate of its own. Only strings cross its boundary.
 *  Life cycle: `createIsolate` compiles the code; `call` runs all of it, any number of times; `dispose`. */
export interface Isolate {
  readonly code: string;
  readonly aheadMs: number;
  readonly maxUses: number;
  uses: number;
  /** The JSON of an `IsolateReport`; undefined: an earlier request left the isolate unusable. @throws Stopped, CodeError */
  call(args: Arguments, deadline: number): string | undefined | Promise<string | undefined>;
  /** Only defines the function. @throws Stopped, CodeError */
  check(deadline: number): string;
  /** Memory of the process that the isolate uses. */
  bytes(): number;
  dispose(): void;
}

/** @param aheadMs by how much its time is ahead of the machine
 *  @throws Stopped, CodeError */
export function createIsolate(code: string, limits: Limits, aheadMs: number): Isolate {
  const isolate = new ivm.Isolate({ memoryLimit: limits.memoryLimitMb });
  try {
    // Compiles the code without the wrapper first: code that is not a complete script could close the wrapping function.
    const script = compile(isolate, code);
    script.release();
    const reusable = !CHANGES_PROTOTYPES.test(code);
    const context = isolate.createContextSync();
    if (aheadMs !== 0) context.evalClosureSync(`(${shiftDate})($0)`, [aheadMs]);
    const webApi = webApiSource(code);
    const hostCalls = webApi === 'null' ? undefined : createHostCalls(() => stopInCall(isolate));
    const source = `return ${BOOTSTRAP}($0, ${reusable ? HARDEN : 'null'}, ${webApi}, $1);`;
    const bootstrap: ivm.Reference<Bootstrap> = context.evalClosureSync(
      source,
      [bootstrapLimits(limits), hostCalls && new ivm.Callback(hostCalls.call)],
      { arguments: { copy: true }, result: { reference: true }, filename: BOOTSTRAP_FILE },
    );
    const wrapped = compile(isolate, PREFIX + code + SUFFIX, -1);
    const userCode: ivm.Reference<UserCode> = wrapped.runSync(context, { reference: true });
    bootstrap.getSync('bind', { reference: true }).applySync(undefined, [userCode.derefInto()]);
    return withBootstrap({
      isolate,
      bootstrap,
      hostCalls,
      code,
      aheadMs,
      maxUses: reusable ? limits.usesPerIsolate : 1,
    });
  } catch (error) {
    const reason = stopOf(isolate, error) ?? error;
    if (!isolate.isDisposed) isolate.dispose();
    throw reason;
  }
}

function compile(isolate: ivm.Isolate, code: string, lineOffset = 0) {
  try {
    return isolate.compileScriptSync(code, { ...FILE, lineOffset });
  } catch (error) {
    throw stopOf(isolate, error) ?? codeError(error);
  }
}

interface Parts {
  isolate: ivm.Isolate;
  bootstrap: ivm.Reference<Bootstrap>;
  /** undefined: the code does not call the host */
  hostCalls: HostCalls | undefined;
  code: string;
  aheadMs: number;
  maxUses: number;
}

function withBootstrap({ isolate, bootstrap, hostCalls, code, aheadMs, maxUses }: Parts): Isolate {
  const call = bootstrap.getSync('call', { reference: true });
  const collect = bootstrap.getSync('collect', { reference: true });
  const wait = bootstrap.getSync('wait', { reference: true });

  function translateErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // The bootstrap catches errors of the transform, so this is an unhandled rejection.
      throw stopOf(isolate, error) ?? codeError(error);
    }
  }

  function callSync(args: Arguments, deadline: number) {
    if (hostCalls) hostCalls.deadline = deadline;
    return translateErrors(() => {
      const text = call.applySync(undefined, args, { timeout: remaining(deadline) });
      if (text === SPOILED) return undefined;
      return text ?? collect.applySync(undefined, [], { timeout: remaining(deadline) }) ?? settled(deadline);
    });
  }

  /** 30 times slower than `collect`: for promises that may never settle. */
  async function settled(deadline: number): Promise<string> {
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Stopped('time')), remaining(deadline));
    try {
      return await Promise.race([
        wait.apply(undefined, [], { result: { promise: true } }) as Promise<string>,
        timedOut,
      ]);
    } catch (error) {
      throw stopOf(isolate, error) ?? codeError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    code,
    aheadMs,
    maxUses,
    uses: 0,
    call: callSync,
    check: (deadline) => {
      const check = bootstrap.getSync('check', { reference: true });
      if (hostCalls) hostCalls.deadline = deadline;
      return translateErrors(() => check.applySync(undefined, [], { timeout: remaining(deadline) }));
    },
    bytes() {
      if (isolate.isDisposed) return Number.POSITIVE_INFINITY;
      const { total_heap_size, malloced_memory, externally_allocated_size } = isolate.getHeapStatisticsSync();
      return total_heap_size + malloced_memory + externally_allocated_size;
    },
    dispose: () => {
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}

/** Isolates that a call of the host ended because their time was up. */
const overdue = new WeakSet<ivm.Isolate>();

function stopInCall(isolate: ivm.Isolate) {
  overdue.add(isolate);
  isolate.dispose();
}

/** isolated-vm distinguishes a timeout from an error of the code only by the message. A transform that throws this exact message
 *  while it is defined counts as stopped: it fails either way. */
function stopOf(isolate: ivm.Isolate, error: unknown): Stopped | undefined {
  if (error instanceof Stopped) return error;
  if (isolate.isDisposed) return new Stopped(overdue.has(isolate) ? 'time' : 'memory');
  return error instanceof Error && error.message === STOPPED_BY_TIMEOUT ? new Stopped('time') : undefined;
}

function codeError(error: unknown) {
  if (!(error instanceof Error)) return new CodeError(`it threw ${String(error)}`.slice(0, MESSAGE_CHARS));
  const [, message = error.message, at] = SYNTAX_ERROR.exec(error.message) ?? [];
  const stack = at ? `    at ${at}` : (error.stack ?? '').slice((error.stack ?? '').indexOf('\n    at '));
  return new CodeError(`${error.name}: ${message}`.slice(0, MESSAGE_CHARS), stack.slice(0, STACK_CHARS));
}

function remaining(deadline: number) {
  return Math.max(1, Math.ceil(deadline - performance.now()));
}
