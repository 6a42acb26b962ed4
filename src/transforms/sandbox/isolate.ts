import ivm from 'isolated-vm';
import type { Limits, StopCause } from '../protocol.ts';
import { BOOTSTRAP_FILE, type Bootstrap, bootstrapCode, bootstrapLimits, SPOILED, type UserCode } from './bootstrap.ts';
import { harden } from './harden.ts';

const SOURCE = `return (${bootstrapCode})($0, $1 ? ${harden} : null);`;
const FILE = { filename: 'transform.js' };
/** On lines of its own, so that the columns of errors are those of the code. */
const BEFORE = '(function () {\n';
const AFTER = '\n;return typeof transform === "function" ? transform : undefined;\n})';
/** Adds to a built-in, or to a class of its own: told apart by nothing cheap. Every repetition is bounded: the code is a stranger's. */
const CHANGES_PROTOTYPES =
  /\bprototype\s{0,9}(\.\s{0,9}[\w$]{1,99}|\[[^\]]{0,99}\])\s{0,9}=[^=]|\bassign\s{0,9}\(\s{0,9}[\w$.]{1,99}\.prototype\b|defineProperty|__proto__/;
const STOPPED_BY_TIMEOUT = 'Script execution timed out.';
const SYNTAX_ERROR = /^(.*) \[(transform\.js:\d+:\d+)\]$/s;
const FAULT_CHARS = 1_000;
const STACK_CHARS = 2_000;

/** The transform was ended from outside. Its isolate is of no more use. */
export class Stopped extends Error {
  readonly by: StopCause;
  constructor(by: StopCause) {
    super(`stopped: ${by}`);
    this.by = by;
  }
}

/** The user's code is at fault. `stack` holds the user's line, where V8 knows it. */
export class CodeError extends Error {
  constructor(message: string, stack = '') {
    super(message);
    this.stack = stack;
  }
}

/** One webhook's transform, compiled in an isolate of its own. Only strings cross its border.
 *  Life: `createIsolate` compiles the code; `call` runs all of it, any number of times; `dispose`. */
export interface Isolate {
  readonly code: string;
  /** Requests that it may serve. */
  readonly lasts: number;
  uses: number;
  /** The JSON of a `Report`; undefined: an earlier request left the isolate of no use. @throws Stopped, CodeError */
  call(args: string, deadline: number): string | undefined | Promise<string | undefined>;
  /** The same for the definition alone. @throws Stopped, CodeError */
  check(deadline: number): string;
  /** What it holds of the process's memory. */
  bytes(): number;
  dispose(): void;
}

/** `deadline` is of `performance.now()`. @throws Stopped, CodeError */
export function createIsolate(code: string, limits: Limits): Isolate {
  const isolate = new ivm.Isolate({ memoryLimit: limits.memoryLimitMb });
  try {
    // First as it is: what is no script cannot close the function that it is wrapped in.
    const script = compiled(isolate, code);
    script.release();
    const shared = !CHANGES_PROTOTYPES.test(code);
    const context = isolate.createContextSync();
    const inside: ivm.Reference<Bootstrap> = context.evalClosureSync(SOURCE, [bootstrapLimits(limits), shared], {
      arguments: { copy: true },
      result: { reference: true },
      filename: BOOTSTRAP_FILE,
    });
    const wrapped = compiled(isolate, BEFORE + code + AFTER, -1);
    const run: ivm.Reference<UserCode> = wrapped.runSync(context, { reference: true });
    inside.getSync('bind', { reference: true }).applySync(undefined, [run.derefInto()]);
    return callable(isolate, inside, code, shared ? limits.usesPerIsolate : 1);
  } catch (error) {
    const reason = stopOf(isolate, error) ?? error;
    if (!isolate.isDisposed) isolate.dispose();
    throw reason;
  }
}

function compiled(isolate: ivm.Isolate, code: string, lineOffset = 0) {
  try {
    return isolate.compileScriptSync(code, { ...FILE, lineOffset });
  } catch (error) {
    throw stopOf(isolate, error) ?? codeError(error);
  }
}

function callable(isolate: ivm.Isolate, inside: ivm.Reference<Bootstrap>, code: string, lasts: number): Isolate {
  const call = inside.getSync('call', { reference: true });
  const collect = inside.getSync('collect', { reference: true });
  const wait = inside.getSync('wait', { reference: true });

  function within<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // The driver catches what a transform throws, so this is a promise that was rejected and left lying.
      throw stopOf(isolate, error) ?? codeError(error);
    }
  }

  function callInside(args: string, deadline: number) {
    return within(() => {
      const text = call.applySync(undefined, [args], { timeout: remaining(deadline) });
      if (text === SPOILED) return undefined;
      return text ?? collect.applySync(undefined, [], { timeout: remaining(deadline) }) ?? settled(deadline);
    });
  }

  /** The slow way, 30 times slower than `collect`: for a promise that may never settle. */
  async function settled(deadline: number): Promise<string> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Stopped('time')), remaining(deadline));
    try {
      return await Promise.race([wait.apply(undefined, [], { result: { promise: true } }) as Promise<string>, late]);
    } catch (error) {
      throw stopOf(isolate, error) ?? codeError(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    code,
    lasts,
    uses: 0,
    call: callInside,
    check: (deadline) => {
      const check = inside.getSync('check', { reference: true });
      return within(() => check.applySync(undefined, [], { timeout: remaining(deadline) }));
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

/** isolated-vm tells a stop from an error of the code by nothing but the message. A transform that throws this very
 *  message while it is being defined is taken for stopped: it fails either way. */
function stopOf(isolate: ivm.Isolate, error: unknown): Stopped | undefined {
  if (error instanceof Stopped) return error;
  if (isolate.isDisposed) return new Stopped('memory');
  return error instanceof Error && error.message === STOPPED_BY_TIMEOUT ? new Stopped('time') : undefined;
}

function codeError(error: unknown) {
  if (!(error instanceof Error)) return new CodeError(`it threw ${String(error)}`.slice(0, FAULT_CHARS));
  const [, message = error.message, at] = SYNTAX_ERROR.exec(error.message) ?? [];
  const stack = at ? `    at ${at}` : (error.stack ?? '').slice((error.stack ?? '').indexOf('\n    at '));
  return new CodeError(`${error.name}: ${message}`.slice(0, FAULT_CHARS), stack.slice(0, STACK_CHARS));
}

function remaining(deadline: number) {
  return Math.max(1, Math.ceil(deadline - performance.now()));
}
