/** Detects registration fields that the service ignores. Newer SDKs send unknown fields, and hand-written apps misspell them; either way
 *  the app would expect behavior that never happens. */
import { closest, distance } from 'fastest-levenshtein';
import type { FLOW_FIELDS } from '../flow-control/given-options.ts';
import { describe, isJsonObject } from '../values/json.ts';

export interface UnsupportedField {
  /** Function ID; null for a field of the registration itself. */
  function: string | null;
  /** Path of the field: `triggers.0.debounce`. */
  field: string;
  message: string;
}

/** Reported to the app: the first fields, and the total number. */
export interface Unsupported {
  count: number;
  fields: UnsupportedField[];
}

/** Maximum number of fields kept per app. */
const FIELDS_MAX = 100;
const NAME_LENGTH = 100;
/** Longer names are not compared with known ones, all of which are shorter. */
const COMPARED_LENGTH = 40;

/** `true` accepts any content. A list has the shape of its entries. */
type Shape = true | { readonly [field: string]: Shape } | readonly [Shape];

const LIMIT = { limit: true, key: true, scope: true } as const;

const FLOW: Readonly<Record<(typeof FLOW_FIELDS)[number], Shape>> = {
  concurrency: { ...LIMIT, fn: [LIMIT], step: [LIMIT] },
  throttle: { limit: true, period: true, burst: true, key: true },
  rateLimit: { limit: true, period: true, key: true },
  debounce: { period: true, timeout: true, key: true },
  batchEvents: { maxSize: true, timeout: true, key: true, if: true },
  singleton: { mode: true, key: true },
  order: { name: true, key: true, by: true, window: true, onStale: true, onFailure: true },
  priority: { run: true },
  idempotency: true,
  timeouts: { start: true, finish: true },
};

const FUNCTION: Shape = {
  ...FLOW,
  // The official Go SDK spells it with a capital.
  Singleton: FLOW.singleton,
  id: true,
  name: true,
  description: true,
  group: true,
  triggers: [{ event: true, expression: true, cron: true, jitter: true, catchUp: true }],
  cancel: [{ event: true, if: true, timeout: true }],
  onExhausted: true,
  steps: true,
  // The official Go SDK repeats values of `steps` here, together with options that the app itself handles.
  retries: true,
  versioning: true,
  checkpoint: true,
};

const STEP: Shape = { id: true, name: true, runtime: { type: true, url: true }, retries: { attempts: true } };

/** Fields that the service uses, and fields in which SDKs describe themselves. */
const REGISTRATION: Shape = Object.fromEntries(
  [
    ...[
      'url',
      'appName',
      'appname',
      'sdk',
      'framework',
      'functions',
      'v',
      'deployType',
      // The official Python SDK's spelling.
      'deploy_type',
      'deployId',
      'hash',
      'headers',
      'env',
    ],
    ...['capabilities', 'appVersion', 'inspection', 'platform', 'useragent', 'idempotencyKey', 'featureObservations'],
  ].map((field) => [field, true]),
);

/** Collects the unsupported fields of all functions of a registration. */
export class UnsupportedFields {
  readonly #found: Unsupported = { count: 0, fields: [] };

  /** undefined if there are none. */
  get found(): Unsupported | undefined {
    return this.#found.count > 0 ? this.#found : undefined;
  }

  addRegistration(given: unknown): void {
    this.#addUnknown(null, given, REGISTRATION, '');
  }

  /** @param given the function as the app sent it */
  addFunction(id: string, given: Record<string, unknown>): void {
    this.#addUnknown(id, given, FUNCTION, '');
    const { concurrency, steps, triggers } = given;
    // A list of limits. A single limit and the two-list form are handled above.
    if (Array.isArray(concurrency)) this.#addUnknown(id, concurrency, [LIMIT], 'concurrency');
    if (isJsonObject(steps)) this.#addSteps(id, steps);
    if (Array.isArray(triggers))
      for (const [i, trigger] of triggers.entries()) this.#addTrigger(id, trigger, `triggers.${i}`);
  }

  #addSteps(id: string, { step, ...others }: Record<string, unknown>): void {
    this.#addUnknown(id, step, STEP, 'steps.step');
    for (const name of Object.keys(others)) {
      this.#add(id, `steps.${named(name)}`, 'the service calls the entry "step" alone');
    }
    const { runtime } = isJsonObject(step) ? step : {};
    const type = isJsonObject(runtime) ? runtime.type : undefined;
    if (hasValue(type) && type !== 'http' && type !== 'ws') {
      this.#add(
        id,
        'steps.step.runtime.type',
        `got ${describe(type)}: the service calls its URL over HTTP all the same`,
      );
    }
  }

  #addTrigger(id: string, trigger: unknown, path: string): void {
    if (!isJsonObject(trigger)) return;
    const { event, cron, expression, jitter, catchUp } = trigger;
    if (hasValue(expression) && !hasValue(event)) {
      this.#add(id, `${path}.expression`, 'a schedule has no event that an expression could read: it starts every run');
    }
    if (hasValue(jitter) && !hasValue(cron)) this.#add(id, `${path}.jitter`, 'only a trigger with "cron" has a jitter');
    if (hasValue(catchUp) && !hasValue(cron)) this.#add(id, `${path}.catchUp`, 'only a trigger with "cron" has ticks');
  }

  #addUnknown(id: string | null, given: unknown, shape: Shape, path: string): void {
    if (shape === true) return;
    if (isList(shape)) {
      if (!Array.isArray(given)) return;
      for (const [i, element] of given.entries()) this.#addUnknown(id, element, shape[0], joined(path, String(i)));
      return;
    }
    if (!isJsonObject(given)) return;
    for (const [name, value] of Object.entries(given)) {
      const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (known !== undefined) this.#addUnknown(id, value, known, joined(path, name));
      else if (hasValue(value)) this.#add(id, joined(path, named(name)), unknownField(name, shape));
    }
  }

  #add(id: string | null, field: string, message: string): void {
    const { fields } = this.#found;
    if (fields.length < FIELDS_MAX) fields.push({ function: id, field, message });
    this.#found.count++;
  }
}

/** One line for people that names the first fields. */
export function describeUnsupported({ count, fields }: Unsupported): string {
  const [first] = fields;
  if (!first) return `${count} fields`;
  const where = first.function === null ? 'of the app' : `of the function "${first.function}"`;
  return `the field "${first.field}" ${where}: ${first.message}${count > 1 ? `, and ${count - 1} more` : ''}`;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

/** Some SDKs send null, empty or zero values for options that are not set. */
function hasValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== false;
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function named(name: string): string {
  return name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH)}…` : name;
}

function unknownField(name: string, shape: { readonly [field: string]: Shape }): string {
  const ignored = 'the service does not have this option, and ignores it';
  if (name.length > COMPARED_LENGTH) return ignored;
  const candidate = closest(name, Object.keys(shape));
  return distance(name, candidate) <= 2 ? `${ignored}; did you mean "${candidate}"?` : ignored;
}
