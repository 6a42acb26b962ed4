/** A step that the replayed code has reached. */
import type { Op, OpCode } from './op.ts';

/** What kind of step it is decides how it is reported and how its memo is read. */
export type StepKind = 'run' | 'sendEvent' | 'sleep' | 'wait' | 'invoke';

/** A step as a tool describes it. */
export interface StepDescription {
  kind: StepKind;
  /** The ID in the code. */
  id: string;
  /** On the wire: the event of a wait, the length of a sleep. Default: the ID. */
  name?: string;
  opts?: Record<string, unknown>;
  /** Only of steps that run in the app; gets the hashed ID. */
  run?: (hashedId: string) => unknown;
}

export interface FoundStep {
  kind: StepKind;
  hashedId: string;
  /** The ID in the code, numbered when it repeats. */
  displayName: string;
  name: string;
  opts: Record<string, unknown>;
  run: ((hashedId: string) => unknown) | undefined;
  delivered: boolean;
  resolve(data: unknown): void;
  reject(error: Error): void;
}

const REPORTED_AS: Record<StepKind, OpCode> = {
  run: 'StepPlanned',
  sendEvent: 'StepPlanned',
  sleep: 'Sleep',
  wait: 'WaitForEvent',
  invoke: 'InvokeFunction',
};

/** The op of a step; of one that has not been run, unless told otherwise. */
export function opOf(step: FoundStep, op: OpCode = REPORTED_AS[step.kind]): Op {
  const { hashedId: id, name, displayName, opts } = step;
  return { id, op, name, displayName, opts };
}
