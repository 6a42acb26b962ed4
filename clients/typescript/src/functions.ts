/** Defines functions: validates the configuration, and turns `onFailure` into a function. */
import { type Checkpoint, checkCheckpoint } from './checkpoint.ts';
import { isCron } from './cron.ts';
import { FLOW_NAMES } from './flow.ts';
import { checkCatchUp, checkFlow, checkJitter, checkOnExhausted } from './flow-check.ts';
import type {
  AnyFailureHandler,
  AnyFunctionConfig,
  AnyHandler,
  FailureEvent,
  FunctionContext,
  TidegateFunction,
  Trigger,
} from './function-types.ts';
import { checkMiddleware } from './middleware/chain.ts';
import type { AnyMiddleware } from './middleware/types.ts';
import { refuseUnknown } from './options.ts';
import { checkVersioning, type Versioning } from './versioning.ts';
import { reviveError } from './wire-error.ts';

const DEFAULT_RETRIES = 4;
/** Limit of the service. */
const MAX_RETRIES = 20;
/** Limit of the service. */
const MAX_TRIGGERS = 10;
const OPTIONS = [
  'id',
  'name',
  'retries',
  'onExhausted',
  'triggers',
  'onFailure',
  'description',
  'group',
  'middleware',
  'checkpoint',
  'versioning',
  ...FLOW_NAMES,
];

/** The part of a client that its functions keep. */
export interface FunctionOwner {
  id: string;
  middleware: readonly AnyMiddleware[];
  versioning?: Versioning | undefined;
}

/** @throws TypeError if the configuration is invalid */
export function defineFunction(app: FunctionOwner, config: AnyFunctionConfig, handler: AnyHandler): TidegateFunction {
  checkArguments(config, handler);
  const {
    id,
    name = id,
    description,
    group,
    retries = DEFAULT_RETRIES,
    onExhausted,
    checkpoint,
    versioning = app.versioning,
    triggers: given,
    onFailure,
    middleware,
    ...flow
  } = config;
  if (!id) throw new TypeError('A function needs an id');
  if (!Number.isInteger(retries) || retries < 0 || retries > MAX_RETRIES) {
    throw new TypeError(`Function "${id}": retries must be a whole number from 0 to ${MAX_RETRIES}, got ${retries}`);
  }
  checkOnExhausted(id, onExhausted);
  checkCheckpoint(`Function "${id}"`, checkpoint);
  checkVersioning(`Function "${id}"`, versioning);
  checkText(id, { description, group });
  checkFlow(id, flow);
  if (given === undefined) {
    throw new TypeError(
      `Function "${id}" has no triggers; write triggers: [] for one that only other functions invoke`,
    );
  }
  const triggers = [given].flat();
  if (triggers.length > MAX_TRIGGERS) {
    throw new TypeError(`Function "${id}": triggers must be at most ${MAX_TRIGGERS}, got ${triggers.length}`);
  }
  for (const trigger of triggers) checkTrigger(id, trigger);
  const all = [...app.middleware, ...checkMiddleware(`Function "${id}"`, middleware)];
  const fn = {
    appId: app.id,
    id,
    name,
    description,
    group,
    retries,
    onExhausted,
    checkpoint,
    versioning,
    triggers,
    flow,
    handler,
    middleware: all,
  };
  return Object.freeze({ ...fn, onFailure: onFailure && failureFunction(fn, onFailure) });
}

/** `onFailure` becomes a function, triggered by the service's `function.failed` event. */
function failureFunction(
  of: {
    appId: string;
    id: string;
    name: string;
    checkpoint: Checkpoint | undefined;
    versioning: Versioning | undefined;
    middleware: readonly AnyMiddleware[];
  },
  onFailure: AnyFailureHandler,
) {
  const condition = `event.data.function_id == '${of.appId}-${of.id}'`;
  const config = {
    id: `${of.id}-failure`,
    name: `${of.name} (failure)`,
    checkpoint: of.checkpoint,
    versioning: of.versioning,
    triggers: { event: 'inngest/function.failed', if: condition },
  };
  const app = { id: of.appId, middleware: of.middleware };
  return defineFunction(app, config, (context: FunctionContext<FailureEvent>) =>
    onFailure({ ...context, error: reviveError(context.event.data.error) }),
  );
}

/** In other versions and SDKs, the trigger is a separate argument. */
const HOW = `createFunction takes (config, handler), and the triggers are part of the config: \
createFunction({ id: "a", triggers: { event: "order/paid" } }, handler)`;

function checkArguments(config: unknown, handler: unknown): void {
  if (typeof config !== 'object' || config === null) throw new TypeError(`${HOW}; got ${typeof config} for the config`);
  if (typeof handler !== 'function') throw new TypeError(`${HOW}; got ${typeof handler} for the handler`);
  refuseUnknown(`Function "${(config as { id?: unknown }).id}"`, config, OPTIONS);
}

/** @throws TypeError */
export function refuseMoreArguments(more: readonly unknown[]): void {
  if (more.length > 0) throw new TypeError(`${HOW}; got ${2 + more.length} arguments`);
}

function checkText(id: string, fields: Record<string, unknown>): void {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || typeof value === 'string') continue;
    throw new TypeError(`Function "${id}": ${field} must be a text, got ${JSON.stringify(value)}`);
  }
}

/** Types allow unknown fields here, and a misspelled `if` would run the function for every event. */
function checkTrigger(id: string, trigger: Trigger): void {
  const fields = Object.keys(trigger ?? {})
    .sort()
    .join();
  if (!/^(event(,if)?|(catchUp,)?cron(,jitter)?)$/.test(fields)) {
    throw new TypeError(
      `Function "${id}": a trigger has event and perhaps if, or cron and perhaps jitter and catchUp; got ${JSON.stringify(trigger)}`,
    );
  }
  if ('cron' in trigger && !isCron(trigger.cron)) {
    throw new TypeError(
      `Function "${id}": cron must be a schedule such as "0 9 * * 1" (minute, hour, day, month, weekday), got "${trigger.cron}"`,
    );
  }
  if ('cron' in trigger) {
    checkJitter(id, trigger.jitter);
    checkCatchUp(id, trigger.catchUp);
  }
  if ('event' in trigger && (typeof trigger.event !== 'string' || trigger.event === '')) {
    throw new TypeError(
      `Function "${id}": a trigger's event must be the name of an event, got ${JSON.stringify(trigger)}`,
    );
  }
}
