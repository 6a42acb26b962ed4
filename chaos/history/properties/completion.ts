/** Completion: each acknowledged event is there, has one run of each function that it triggers, unless flow control may skip it and says so,
 *  and every run ends as its function does. */
import type { Decision, Send, StoredEvent, StoredRun } from '../entry.ts';
import type { History } from '../history.ts';
import type { Violation } from '../violation.ts';

export interface ExpectedFunction {
  functionId: string;
  /** The reasons for which flow control may start no run of its own for an event. */
  skips: readonly string[];
}

export interface Expectations {
  functionsOf(eventName: string): readonly ExpectedFunction[];
  /** Statuses of ended runs beside Completed. */
  mayEnd(functionId: string, status: string): boolean;
}

export const FINDINGS = ['lost', 'missing', 'doubled', 'stuck', 'failed'] as const;
export type Findings = Record<(typeof FINDINGS)[number], Violation[]>;

/** An acknowledged event, and what the service has of it. */
export interface EventState {
  eventId: string;
  name: string;
  /** undefined: it is not found by its ID. */
  stored: StoredEvent | undefined;
  runs: readonly StoredRun[];
}

export function checkCompletion(history: History, expectations: Expectations): Findings {
  const stored = new Map(history.events.map((event) => [event.eventId, event]));
  const runs = new Map<string, StoredRun[]>();
  for (const run of history.runs) for (const id of run.eventIds) runs.set(id, [...(runs.get(id) ?? []), run]);
  const all: Findings = { lost: [], missing: [], doubled: [], stuck: [], failed: [] };
  for (const [eventId, send] of acknowledged(history)) {
    const state = { eventId, name: send.name, stored: stored.get(eventId), runs: runs.get(eventId) ?? [] };
    const found = findingsOf(state, expectations, send);
    for (const kind of FINDINGS) all[kind].push(...found[kind]);
  }
  for (const run of history.runs) {
    all.stuck.push(...stuck(run));
    all.failed.push(...failed(run, expectations));
  }
  return all;
}

function acknowledged({ sends }: History): Map<string, Send> {
  const first = new Map<string, Send>();
  for (const send of sends) for (const id of send.eventIds ?? []) if (!first.has(id)) first.set(id, send);
  return first;
}

/** What is wrong with an event, and with how many runs it has. */
function findingsOf(state: EventState, { functionsOf }: Expectations, send?: Send): Findings {
  const { eventId, name, stored, runs } = state;
  const findings: Findings = { lost: [], missing: [], doubled: [], stuck: [], failed: [] };
  const proof = send ? [send] : [];
  if (!stored) return { ...findings, lost: [{ what: `${name} ${eventId}`, proof }] };
  for (const { functionId, skips } of functionsOf(name)) {
    const ofFunction = runs.filter((run) => run.functionId === functionId && !run.retryOf && !run.replayId);
    const decision = stored.decisions?.find((one) => one.functionId === functionId);
    if (ofFunction.length > 1)
      findings.doubled.push({
        what: `${name} ${eventId}: ${ofFunction.length} runs of ${functionId}`,
        proof: [...proof, ...ofFunction],
      });
    if (ofFunction.length > 0 || isSkipped(decision, skips)) continue;
    const because = decision ? ` (${decision.outcome}: ${decision.reason})` : '';
    findings.missing.push({ what: `${name} ${eventId}: no run of ${functionId}${because}`, proof: [...proof, stored] });
  }
  return findings;
}

/** Whether there is nothing to wait for: all of its runs are there and have ended. */
export function isSettled(state: EventState, expectations: Expectations): boolean {
  const { lost, missing } = findingsOf(state, expectations);
  return lost.length + missing.length === 0 && state.runs.every((run) => stuck(run).length === 0);
}

function isSkipped(decision: Decision | undefined, skips: readonly string[]): boolean {
  return (
    decision !== undefined &&
    ['skipped', 'merged'].includes(decision.outcome) &&
    decision.reason !== null &&
    skips.includes(decision.reason)
  );
}

function stuck(run: StoredRun): Violation[] {
  const { runId, functionId, status } = run;
  if (status !== 'Queued' && status !== 'Running') return [];
  return [{ what: `run ${runId} of ${functionId} is ${status}`, proof: [run] }];
}

function failed(run: StoredRun, { mayEnd }: Expectations): Violation[] {
  const { runId, functionId, status, error } = run;
  if (['Queued', 'Running', 'Completed'].includes(status) || mayEnd(functionId, status)) return [];
  return [{ what: `run ${runId} of ${functionId} is ${status} (${error})`, proof: [run] }];
}
