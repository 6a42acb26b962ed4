/** Runs a function body that a case defines in JSON (programs in clients/conformance/README.md) with this client's step tools. */
import { NonRetriableError, RetryAfterError, referenceFunction, StepError } from 'tidegate';
import { only } from '../../../../test/conformance/cases.ts';
import type { FunctionContext } from '../../src/function-types.ts';

// biome-ignore lint/suspicious/noExplicitAny: a statement is JSON, identified by its first field
export type Statement = Record<string, any>;
export type Program = Statement[];

type Variables = Record<string, unknown>;

/** The result of a `return`; undefined: the program ran to its last statement. */
type Return = { value: unknown } | undefined;

/** The parts of the context that a program uses. */
type Tools = Pick<FunctionContext, 'step' | 'logger'>;

export async function runProgram(program: Program, context: FunctionContext & { error?: Error }): Promise<unknown> {
  const { event, attempt, maxAttempts, runId, error } = context;
  const variables: Variables = { event, attempt, max_attempts: maxAttempts, run_id: runId };
  if (error) variables.error = describe(error);
  return (await run(program, variables, context))?.value ?? null;
}

async function run(program: Program, variables: Variables, tools: Tools): Promise<Return> {
  for (const statement of program) {
    const end = await execute(statement, variables, tools);
    if (end) return end;
  }
  return undefined;
}

async function execute(statement: Statement, variables: Variables, tools: Tools): Promise<Return> {
  const value = (given: unknown) => resolve(given, variables);
  if ('return' in statement) {
    only(statement, ['return']);
    return { value: value(statement.return) };
  }
  if ('throw' in statement) {
    only(statement, ['throw']);
    throw errorOf(statement.throw);
  }
  if ('try' in statement) {
    only(statement, ['try', 'catch']);
    try {
      return await run(statement.try, variables, tools);
    } catch (error) {
      return run(statement.catch, Object.assign(variables, { error: describe(error as Error) }), tools);
    }
  }
  if ('when' in statement) {
    only(statement, ['when', 'then', 'else']);
    const chosen = (value({ $: statement.when }) ?? null) === null ? statement.else : statement.then;
    return run(chosen ?? [], variables, tools);
  }
  if ('log' in statement) {
    log(statement, tools);
    return undefined;
  }
  const result = (await toolOf(statement, variables, tools)) ?? null;
  if (statement.as) variables[statement.as] = result;
  return undefined;
}

function log(statement: Statement, { logger }: Pick<Tools, 'logger'>): void {
  only(statement, ['log', 'message', 'fields', 'times']);
  const { log: level, message, fields, times = 1 } = statement;
  const args = fields ? [withLongTexts(message), withLongTexts(fields)] : [withLongTexts(message)];
  for (let n = 0; n < times; n++) logger[level as keyof typeof logger](...args);
}

/** `{"of": "x", "length": 10000}`, at any depth. */
function withLongTexts(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(withLongTexts);
  if (given === null || typeof given !== 'object') return given;
  if ('of' in given && 'length' in given) return String(given.of).repeat(Number(given.length));
  return Object.fromEntries(Object.entries(given).map(([key, entry]) => [key, withLongTexts(entry)]));
}

function toolOf(statement: Statement, variables: Variables, tools: Tools): Promise<unknown> {
  const { step } = tools;
  const value = (given: unknown) => resolve(given, variables);
  const reads = (...fields: string[]) => only(statement, [...fields, 'as']);
  const [kind] = Object.keys(statement);
  switch (kind) {
    case 'run':
      reads('run', 'gives', 'throws', 'logs');
      return step.run(statement.run, () => {
        for (const line of statement.logs ?? []) log(line, tools);
        if (statement.throws) throw errorOf(statement.throws);
        return value(statement.gives);
      });
    case 'sleep':
      reads('sleep', 'for');
      return step.sleep(statement.sleep, statement.for);
    case 'sleep_until':
      reads('sleep_until', 'until');
      return step.sleepUntil(statement.sleep_until, statement.until);
    case 'send_event':
      reads('send_event', 'events');
      return step.sendEvent(statement.send_event, value(statement.events) as never);
    case 'wait_for_event': {
      reads('wait_for_event', 'event', 'timeout', 'if');
      const { wait_for_event: id, event, timeout, if: condition } = statement;
      return step.waitForEvent(id, { event, timeout, ...(condition && { if: condition }) });
    }
    case 'invoke': {
      reads('invoke', 'function', 'data', 'timeout');
      const { invoke: id, function: fn, data, timeout } = statement;
      return step.invoke(id, {
        function: typeof fn === 'string' ? fn : referenceFunction({ appId: fn.app, functionId: fn.id }),
        ...(data && { data: value(data) as object }),
        ...(timeout && { timeout }),
      });
    }
    case 'wait_for_signal': {
      reads('wait_for_signal', 'signal', 'timeout', 'conflict');
      const { wait_for_signal: id, signal, timeout, conflict } = statement;
      return step.waitForSignal(id, { signal, timeout, ...(conflict && { conflict }) });
    }
    case 'send_signal':
      reads('send_signal', 'signal', 'data');
      return step.sendSignal(statement.send_signal, { signal: statement.signal, data: value(statement.data) });
    case 'fetch': {
      reads('fetch', 'url', 'method', 'headers', 'body');
      const { fetch: id, url, as, ...options } = statement;
      return step.fetch(id, url, options);
    }
    case 'infer': {
      reads('infer', 'url', 'format', 'auth_key', 'headers', 'body');
      const { infer: id, url, format, auth_key: authKey, headers, body } = statement;
      return step.infer(id, { url, format, body, ...(authKey && { authKey }), ...(headers && { headers }) });
    }
    case 'race':
      reads('race');
      return step.race(
        statement.race.map(
          (branch: Program) => async () => (await run(branch, { ...variables }, tools))?.value ?? null,
        ) as (() => Promise<unknown>)[],
      );
    case 'parallel':
      reads('parallel');
      return Promise.all(
        statement.parallel.map(async (branch: Program) => (await run(branch, { ...variables }, tools))?.value ?? null),
      );
    default:
      throw new Error(`A program has a statement that is not known here: ${kind}`);
  }
}

/** Replaces `{"$": "x.data.total"}` by the value of the variable, at any depth. */
function resolve(given: unknown, variables: Variables): unknown {
  if (Array.isArray(given)) return given.map((entry) => resolve(entry, variables));
  if (given === null || typeof given !== 'object') return given;
  if ('$' in given) return lookUp(String(given.$), variables);
  return Object.fromEntries(Object.entries(given).map(([key, entry]) => [key, resolve(entry, variables)]));
}

function lookUp(path: string, variables: Variables): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null)?.[key], variables);
}

interface ThrownError {
  kind: string;
  message: string;
  after_ms?: number;
  cause?: ThrownError;
  data?: unknown;
  code?: string | number;
}

function errorOf(given: ThrownError): Error {
  only(given, ['kind', 'message', 'after_ms', 'cause', 'data', 'code']);
  const { kind, message, after_ms = 0, cause, ...rest } = given;
  const details = { ...('data' in rest && { data: rest.data }), ...(rest.code !== undefined && { code: rest.code }) };
  const options = { ...(cause && { cause: errorOf(cause) }), ...details };
  if (kind === 'plain') return Object.assign(new Error(message, options), details);
  if (kind === 'non-retriable') return new NonRetriableError(message, options);
  if (kind === 'retry-after') return new RetryAfterError(message, after_ms, options);
  throw new Error(`A program throws an error of a kind that is not known here: ${kind}`);
}

/** The cause of a StepError is the error of the step itself. */
function describe(error: Error): object {
  const { name, message, cause, data, code } = error as Error & Record<string, unknown>;
  const own = error instanceof StepError ? (cause as Error).cause : cause;
  return {
    name,
    message,
    ...(own instanceof Error && { cause: describe(own) }),
    ...(data !== undefined && { data }),
    ...(code !== undefined && { code }),
  };
}
