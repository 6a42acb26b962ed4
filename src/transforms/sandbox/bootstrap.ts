import type { Limits } from '../protocol.ts';
import type { HostCall } from './web-api/host-calls.ts';

export type UserTransform = (evt: unknown, headers: unknown, queryParams: unknown, raw: unknown) => unknown;

/** The user's code in a wrapper: runs it, and returns the function it defined. */
export type UserCode = () => UserTransform | undefined;

/** File name of the bootstrap in a stack; the user's file is `transform.js`. */
export const BOOTSTRAP_FILE = 'bootstrap';

/** The result of `call` when an earlier request left the isolate unusable. */
export const SPOILED = 'spoiled';

const MESSAGE_CHARS = 1_000;
const STACK_CHARS = 2_000;

export type BootstrapLimits = Pick<Limits, 'logLines' | 'logChars' | 'outputChars'> & {
  messageChars: number;
  stackChars: number;
  spoiled: string;
};

export function bootstrapLimits({ logLines, logChars, outputChars }: Limits): BootstrapLimits {
  return {
    logLines,
    logChars,
    outputChars,
    messageChars: MESSAGE_CHARS,
    stackChars: STACK_CHARS,
    spoiled: SPOILED,
  };
}

/** Runs *inside* the isolate, between the service and a transform. The isolate receives it as source text, so it can only use its arguments and
 *  the language. It runs before the user's code and captures the built-ins it needs; later it calls no method that the user's code could have
 *  replaced. It returns the JSON of an `IsolateReport`. Each request runs the user's code from its first line, so that no variable survives from
 *  one request to the next.
 *  @param harden null for code that changes built-ins on purpose: its isolate serves one request
 *  @param addWebApi null for code that does not use the web API
 *  @param host undefined without the web API; no other function may get access to the host */
export function bootstrapCode(
  limits: BootstrapLimits,
  harden: ((hidden: object[]) => () => boolean) | null,
  addWebApi: ((host: HostCall) => object[]) | null,
  host: HostCall,
) {
  const { parse, stringify } = JSON;
  const { apply, construct } = Reflect;
  const { slice, indexOf } = String.prototype;
  const scope = globalThis;
  const text = String;
  const ErrorClass = Error;

  let userCode: UserCode;
  const noTransform = {};
  let pending: Promise<void> | undefined;
  let settled: string | undefined;
  let logs = '';
  let lines = 0;
  let chars = 0;
  let full = false;

  removeUncountedMemory();
  (globalThis as { console: unknown }).console = {
    log: (...parts: unknown[]) => capture('log', parts),
    info: (...parts: unknown[]) => capture('info', parts),
    warn: (...parts: unknown[]) => capture('warn', parts),
    error: (...parts: unknown[]) => capture('error', parts),
    debug: (...parts: unknown[]) => capture('debug', parts),
  };

  const hidden = addWebApi?.(host) ?? [];
  const restore = harden?.(hidden) ?? (() => true);

  return {
    bind(code: UserCode) {
      userCode = code;
    },

    /** Only defines the function. */
    check(): string {
      try {
        define();
        return report('"returned":null');
      } catch (error) {
        return failure(error);
      }
    },

    /** undefined: the transform returned a promise; `collect` and `wait` return its result. */
    call(raw: string, json: string, bodyJson?: string): string | undefined {
      if (!restore()) return limits.spoiled;
      const others = parse(json);
      pending = settled = undefined;
      logs = '';
      lines = chars = 0;
      full = false;
      try {
        const transform = define();
        const body = bodyJson === undefined ? bodyIn(raw) : parse(bodyJson);
        const result = transform(body, others[0], others[1], others[2] ?? raw);
        if (!isThenable(result)) return success(result);
        pending = settle(result);
        return undefined;
      } catch (error) {
        return failure(error);
      }
    },

    /** The result of the promise, or undefined while it is pending. The isolate has no timers: a promise that microtasks alone can
     *  settle is settled before the host calls this. */
    collect: () => settled,

    async wait() {
      await pending;
      return settled;
    },
  };

  function define(): UserTransform {
    const transform = apply(userCode, scope, []);
    if (transform === undefined) throw noTransform;
    return transform;
  }

  function bodyIn(raw: string): unknown {
    try {
      return parse(raw);
    } catch {
      return {};
    }
  }

  async function settle(result: unknown) {
    try {
      settled = success(await result);
    } catch (error) {
      settled = failure(error);
    }
  }

  function success(result: unknown): string {
    if (result === null) return report('"returned":null');
    if (typeof result !== 'object') return invalidResult(kindOf(result));
    let json: string | undefined;
    try {
      json = stringify(result);
    } catch (error) {
      return invalidResult(`an object that is not JSON (${show(error)})`);
    }
    if (json?.[0] !== '{' && json?.[0] !== '[') return invalidResult('an object that is not an object in JSON');
    if (json.length > limits.outputChars) return invalidResult(`${json.length} characters of JSON`, limits.outputChars);
    return report(`"returned":${json}`);
  }

  function invalidResult(got: string, limit?: number) {
    const expected = limit ? `at most ${limit} are allowed` : 'expected an event, a list of events or null';
    const message = `it returned ${truncate(got, limits.messageChars)}; ${expected}`;
    return report(`"error":{"message":${stringify(message)},"stack":""}`);
  }

  function failure(error: unknown) {
    let message = 'it threw something that cannot be shown';
    let stack = '';
    try {
      if (error === noTransform) message = 'no function named "transform" is defined';
      else message = error instanceof ErrorClass ? show(error) : `it threw ${show(error)}`;
      if (error instanceof ErrorClass) stack = framesOf(text(error.stack));
    } catch {}
    const { messageChars, stackChars } = limits;
    return report(
      `"error":{"message":${stringify(truncate(message, messageChars))},"stack":${stringify(truncate(stack, stackChars))}}`,
    );
  }

  /** The frames of a stack, without the message before them, which can have any length. */
  function framesOf(stack: string): string {
    const start = apply(indexOf, stack, ['\n    at ']);
    return start < 0 ? '' : apply(slice, stack, [start]);
  }

  /** Concatenates text: an object would pass through a `toJSON` that the user may have added to Object.prototype. */
  function report(body: string) {
    const json = `{${body},"logs":[${logs}]}`;
    logs = '';
    lines = chars = 0;
    full = false;
    return json;
  }

  function capture(level: string, parts: unknown[]) {
    if (full) return;
    let line = '';
    for (let i = 0; i < parts.length; i += 1) line += (i > 0 ? ' ' : '') + show(parts[i]);
    full = lines === limits.logLines || chars + line.length > limits.logChars;
    if (lines < limits.logLines) append(level, truncate(line, limits.logChars - chars));
    if (full)
      append('warn', `(truncated: logs have at most ${limits.logLines} lines and ${limits.logChars} characters)`);
    lines += 1;
    chars += line.length;
  }

  function append(level: string, line: string) {
    logs += `${logs && ','}{"level":"${level}","text":${stringify(line)}}`;
  }

  function show(value: unknown): string {
    if (typeof value === 'string') return value;
    try {
      if (typeof value !== 'object' || value instanceof ErrorClass) return text(value);
      return stringify(value) ?? text(value);
    } catch {
      try {
        return text(value);
      } catch {
        return '(something that cannot be shown)';
      }
    }
  }

  function truncate(line: string, length: number): string {
    return line.length > length ? apply(slice, line, [0, length]) : line;
  }

  function kindOf(value: unknown) {
    if (value === undefined) return 'undefined';
    return `a ${typeof value}`;
  }

  function isThenable(value: unknown): value is PromiseLike<unknown> {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
  }

  /** V8 does not count the memory of WebAssembly and growable buffers against the isolate's limit. */
  function removeUncountedMemory() {
    const scope = globalThis as unknown as Record<string, { prototype: object }>;
    delete scope.WebAssembly;
    for (const name of ['ArrayBuffer', 'SharedArrayBuffer']) {
      const Plain = scope[name] as unknown as new (length: number) => object;
      const Fixed = new Proxy(Plain, {
        construct: (target, args, newTarget) => construct(target, [args[0]], newTarget),
      });
      Object.defineProperty(Plain.prototype, 'constructor', { value: Fixed });
      Object.defineProperty(scope, name, { value: Fixed });
    }
  }
}

export type Bootstrap = ReturnType<typeof bootstrapCode>;
