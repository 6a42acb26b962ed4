/** Converts a case's client, functions and variables to this client's options. */
import { type Checkpoint, type ClientOptions, encryption, type FlowControl, type Middleware, Tidegate } from 'tidegate';
import { only } from '../../../../test/conformance/cases.ts';
import type { EncryptionCase } from '../../../../test/conformance/encryption.ts';
import type { TidegateFunction, Trigger } from '../../src/function-types.ts';
import { type Program, runProgram } from './program.ts';

export interface ClientCase {
  id: string;
  is_dev?: boolean;
  base_url?: string;
  event_key?: string;
  signing_key?: string;
  signing_key_fallback?: string;
  env?: string;
  max_bytes?: number;
  checkpoint?: boolean;
  app_version?: string;
  versioning?: 'latest' | 'pinned';
  encryption?: EncryptionCase;
}

export type CheckpointCase = boolean | { buffer?: number; max_runtime?: string };

type FlowName = Exclude<keyof FlowControl, 'cancelOn'>;

export interface FunctionCase extends Partial<Record<FlowName, unknown>> {
  id: string;
  name?: string;
  description?: string;
  group?: string;
  retries?: number;
  onExhausted?: 'fail' | 'pause';
  checkpoint?: CheckpointCase;
  versioning?: 'latest' | 'pinned';
  triggers: Trigger[];
  program?: Program;
  on_failure?: Program;
  cancel?: unknown;
}

const FLOW = [
  'concurrency',
  'throttle',
  'rateLimit',
  'debounce',
  'batchEvents',
  'priority',
  'singleton',
  'order',
  'idempotency',
  'timeouts',
] as const satisfies FlowName[];

/** Discards logs, which are not part of a case. */
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export function clientOf(given: ClientCase): Tidegate {
  const {
    id,
    is_dev,
    base_url,
    event_key,
    signing_key,
    signing_key_fallback,
    env,
    max_bytes,
    checkpoint,
    app_version,
    versioning,
    encryption: encrypts,
    ...rest
  } = given;
  only(rest, []);
  const options: ClientOptions = {
    id,
    isDev: is_dev,
    baseUrl: base_url,
    eventKey: event_key,
    signingKey: signing_key,
    signingKeyFallback: signing_key_fallback,
    env,
    maxBytes: max_bytes,
    checkpoint,
    appVersion: app_version,
    versioning,
    logger: QUIET,
    ...(encrypts && { middleware: [encryptionOf(encrypts)] }),
  };
  return new Tidegate(options);
}

export function encryptionOf({
  key,
  fallback_keys,
  event_field,
  version,
  strict,
  ...rest
}: EncryptionCase): Middleware {
  only(rest, []);
  return encryption({
    key,
    ...(fallback_keys && { fallbackKeys: fallback_keys }),
    ...(event_field !== undefined && { eventField: event_field }),
    ...(version !== undefined && { version: version as 1 | 2 }),
    ...(strict !== undefined && { strict }),
  });
}

export function functionOf(client: Tidegate, given: FunctionCase): TidegateFunction {
  only(given, [
    'id',
    'name',
    'description',
    'group',
    'retries',
    'onExhausted',
    'checkpoint',
    'versioning',
    'triggers',
    'program',
    'on_failure',
    'cancel',
    ...FLOW,
  ]);
  const {
    id,
    name,
    description,
    group,
    retries,
    onExhausted,
    checkpoint,
    versioning,
    program = [],
    on_failure,
    cancel,
    triggers,
    ...flow
  } = given;
  const [first] = triggers;
  return client.createFunction(
    {
      id,
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(group !== undefined && { group }),
      ...(retries !== undefined && { retries }),
      ...(onExhausted !== undefined && { onExhausted }),
      ...(checkpoint !== undefined && { checkpoint: checkpointOf(checkpoint) }),
      ...(versioning !== undefined && { versioning }),
      ...({ ...flow, ...(cancel !== undefined && { cancelOn: cancel }) } as FlowControl),
      triggers: first && triggers.length === 1 ? first : triggers,
      ...(on_failure && { onFailure: (context) => runProgram(on_failure, context) }),
    },
    (context) => runProgram(program, context),
  );
}

function checkpointOf(given: CheckpointCase): Checkpoint {
  if (typeof given === 'boolean') return given;
  const { buffer, max_runtime: maxRuntime, ...rest } = given;
  only(rest, []);
  return { buffer, maxRuntime };
}

export function setEnvironment(variables: Record<string, string>): void {
  Object.assign(process.env, variables);
}
