/** A step that the replayed code has reached. */
import type { Op, OpCode } from './op.ts';

/** The kind of a step determines its operation and the format of its memo. */
export type StepKind = 'run' | 'sleep' | 'wait' | 'signal' | 'invoke' | 'fetch' | 'infer';

/** A step as a tool describes it. */
export interface StepDescription {
  kind: StepKind;
  /** The ID in the code. */
  id: string;
  /** Name in the protocol: the event of a wait, the duration of a sleep. Default: the ID. */
  name?: string;
  opts?: Record<string, unknown>;
  /** Only for steps that run in the app. */
  run?: RunOfStep;
}

/** The code of a step that runs in the app. */
export type RunOfStep = (step: { hashedId: string; displayName: string }) => unknown;

export interface FoundStep {
  kind: StepKind;
  hashedId: string;
  /** The ID in the code, numbered if it repeats. */
  displayName: string;
  name: string;
  opts: Record<string, unknown>;
  run: RunOfStep | undefined;
  /** Calls a function in the asynchronous context of the code that found the step: with its `AsyncLocalStorage`s. */
  inContext<T>(fn: () => T): T;
  /** Whether the step is in a branch of a race. */
  race: boolean;
  delivered: boolean;
  resolve(data: unknown): void;
  reject(error: Error): void;
}

const REPORTED_AS: Record<StepKind, OpCode> = {
  run: 'StepPlanned',
  sleep: 'Sleep',
  wait: 'WaitForEvent',
  signal: 'WaitForSignal',
  invoke: 'InvokeFunction',
  fetch: 'Gateway',
  infer: 'AIGateway',
};

/** The operation of a step; by default of a step that has not run. */
export function opOf(step: FoundStep, op: OpCode = REPORTED_AS[step.kind]): Op {
  const { hashedId: id, name, displayName, opts } = step;
  return { id, op, name, displayName, opts };
}
