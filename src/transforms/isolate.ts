import ivm from 'isolated-vm';
import { DRIVER_FILE, type Driver, driver, type UserTransform } from './driver.ts';
import type { Limits, StopCause } from './protocol.ts';

const SOURCE = `return (${driver})($0);`;
const FIND_TRANSFORM = 'typeof transform === "function" ? transform : undefined';
const STOPPED_BY_TIMEOUT = 'Script execution timed out.';
const SYNTAX_ERROR = /^(.*) \[(transform\.js:\d+:\d+)\]$/s;

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

/** One webhook's transform, defined in an isolate of its own. Only strings cross its border.
 *  Life: `createIsolate` compiles and runs the code; `call` any number of times; `dispose`. */
export interface Isolate {
  readonly code: string;
  uses: number;
  /** The JSON of a `Report`. @throws Stopped, CodeError */
  call(args: string, deadline: number): string | Promise<string>;
  dispose(): void;
}

/** `deadline`, here and in `call`, is of `performance.now()`. @throws Stopped, CodeError */
export function createIsolate(code: string, limits: Limits, deadline: number): Isolate {
  const isolate = new ivm.Isolate({ memoryLimit: limits.memoryLimitMb });
  try {
    const context = isolate.createContextSync();
    const inside: ivm.Reference<Driver> = context.evalClosureSync(SOURCE, [limits], {
      arguments: { copy: true },
      result: { reference: true },
      filename: DRIVER_FILE,
    });
    define(isolate, context, inside, code, deadline);
    return callable(isolate, inside, code);
  } catch (error) {
    isolate.dispose();
    throw error;
  }
}

function define(
  isolate: ivm.Isolate,
  context: ivm.Context,
  inside: ivm.Reference<Driver>,
  code: string,
  deadline: number,
) {
  let transform: ivm.Reference<UserTransform>;
  try {
    const script = isolate.compileScriptSync(code, { filename: 'transform.js' });
    script.runSync(context, { timeout: remaining(deadline) });
    // `const transform = …` is seen by every script of the context, but is no property of its global.
    transform = context.evalSync(FIND_TRANSFORM, { reference: true, timeout: remaining(deadline) });
  } catch (error) {
    throw stopOf(isolate, error) ?? codeError(error);
  }
  if (transform.typeof !== 'function') throw new CodeError('no function named "transform" is defined');
  inside.getSync('bind', { reference: true }).applySync(undefined, [transform.derefInto()]);
}

function callable(isolate: ivm.Isolate, inside: ivm.Reference<Driver>, code: string): Isolate {
  const call = inside.getSync('call', { reference: true });
  const collect = inside.getSync('collect', { reference: true });
  const wait = inside.getSync('wait', { reference: true });

  function callInside(args: string, deadline: number): string | Promise<string> {
    try {
      const text = call.applySync(undefined, [args], { timeout: remaining(deadline) });
      return text ?? collect.applySync(undefined, [], { timeout: remaining(deadline) }) ?? settled(deadline);
    } catch (error) {
      // The driver catches what a transform throws, so this is a promise that was rejected and left lying.
      throw stopOf(isolate, error) ?? codeError(error);
    }
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

  return { code, uses: 0, call: callInside, dispose: () => isolate.dispose() };
}

/** isolated-vm tells a stop from an error of the code by nothing but the message. A transform that throws this very
 *  message while it is being defined is taken for stopped: it fails either way. */
function stopOf(isolate: ivm.Isolate, error: unknown): Stopped | undefined {
  if (error instanceof Stopped) return error;
  if (isolate.isDisposed) return new Stopped('memory');
  return error instanceof Error && error.message === STOPPED_BY_TIMEOUT ? new Stopped('time') : undefined;
}

function codeError(error: unknown) {
  if (!(error instanceof Error)) return new CodeError(`it threw ${String(error)}`);
  const [, message = error.message, at] = SYNTAX_ERROR.exec(error.message) ?? [];
  return new CodeError(`${error.name}: ${message}`, at ? `    at ${at}` : error.stack);
}

function remaining(deadline: number) {
  return Math.max(1, Math.ceil(deadline - performance.now()));
}
