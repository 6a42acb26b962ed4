import { expect } from 'chai';
import type { HistoryEntry, RunWithHistory } from '../../dashboard/src/api/types.ts';
import type { TimelineRowData } from '../../dashboard/src/pages/runs/timeline-row-data.ts';
import { rowsOf } from '../../dashboard/src/pages/runs/timeline-rows.ts';

const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

function at(ms: number): string {
  return new Date(START_MS + ms).toISOString();
}

/** @param times of its start and its end, and of its queueing; milliseconds after the run's */
function entry(fields: Partial<HistoryEntry>, [startMs, endMs, queuedMs]: [number, number, number?]): HistoryEntry {
  return {
    kind: 'attempt',
    step_id: null,
    name: null,
    op: null,
    attempt: 0,
    status: 'Completed',
    queued_at: queuedMs === undefined ? null : at(queuedMs),
    started_at: at(startMs),
    ended_at: at(endMs),
    until: null,
    waits_for: null,
    if: null,
    invoked: null,
    error: null,
    timed_out: false,
    group: null,
    run_id: null,
    event_id: null,
    event_ids: [],
    events_sent: null,
    request: null,
    ...fields,
  };
}

const step = (id: string, fields: Partial<HistoryEntry>, times: [number, number, number?]) =>
  entry({ kind: 'step', step_id: id, name: id, op: 'StepRun', ...fields }, times);

const error = (message: string) => ({ name: 'Error', message });
const failed = (message = 'no') => ({ status: 'Failed', error: error(message) }) as const;
const pending = { status: 'Waiting', ended_at: null, attempt: null } as const;

function runWith(history: HistoryEntry[], fields: Partial<RunWithHistory> = {}): RunWithHistory {
  const run = { run_id: 'r', status: 'Running', queued_at: at(0), run_started_at: at(1), ended_at: null };
  return { ...run, next_try_at: null, waiting: null, attempt: 0, history, ...fields } as RunWithHistory;
}

const ENDED = { status: 'Completed', ended_at: at(1_000) } as const;

const brief = ({ name, status }: TimelineRowData) => `${name}: ${status}`;
const shown = (rows: TimelineRowData[]) => rows.filter(({ isCall }) => !isCall).map(brief);

describe('The timeline of a run', () => {
  it('has one row for a step, with its attempts inside, each queued since the previous one', () => {
    const rows = rowsOf(
      runWith(
        [
          entry({}, [10, 20, 5]),
          step('charge', { op: 'StepError', ...failed() }, [10, 20, 5]),
          entry({ attempt: 1 }, [50, 60, 5]),
          step('charge', { attempt: 1 }, [50, 60, 5]),
          entry({}, [70, 80, 65]),
        ],
        ENDED,
      ),
    );
    expect(shown(rows)).to.deep.equal(['charge: Completed']);
    const [{ attempts, startedMs, endedMs, queuedMs }] = rows as [TimelineRowData];
    expect(attempts.map(({ number, status }) => [number, status])).to.deep.equal([
      [0, 'Failed'],
      [1, 'Completed'],
    ]);
    expect(attempts.map((attempt) => (attempt.queuedMs ?? 0) - START_MS)).to.deep.equal([5, 20]);
    expect([queuedMs, startedMs, endedMs].map((ms) => (ms ?? 0) - START_MS)).to.deep.equal([5, 10, 60]);
  });

  it('merges the call of a planned step with its result', () => {
    const planned = { step_id: 'charge', name: 'charge' };
    const rows = rowsOf(
      runWith(
        [
          entry({}, [1, 2, 0]),
          entry(planned, [10, 20, 5]),
          step('charge', { op: 'StepError', ...failed() }, [10, 20, 5]),
          entry({ ...planned, ...failed('crashed'), attempt: 1 }, [30, 40, 5]),
          entry({ ...planned, attempt: 2 }, [50, 60, 5]),
          step('charge', { attempt: 2 }, [50, 60, 5]),
        ],
        ENDED,
      ),
    );
    expect(shown(rows)).to.deep.equal(['charge: Completed']);
    const charge = rows.find(({ stepId }) => stepId === 'charge');
    expect(charge?.attempts.map(({ status, error }) => [status, error?.message])).to.deep.equal([
      ['Failed', 'no'],
      ['Failed', 'crashed'],
      ['Completed', undefined],
    ]);
    expect(rows.filter(({ isCall }) => isCall).map(brief)).to.deep.equal(['Call: Completed']);
  });

  it('lists steps that were planned together one after another, and brackets no single step', () => {
    const rows = rowsOf(
      runWith(
        [
          step('b', { group: 0 }, [20, 30]),
          step('between', {}, [15, 25]),
          step('a', { group: 0 }, [10, 40]),
          step('alone', { group: 2 }, [50, 60]),
        ],
        ENDED,
      ),
    );
    expect(rows.map(({ name, group }) => [name, group])).to.deep.equal([
      ['a', 0],
      ['b', 0],
      ['between', null],
      ['alone', null],
    ]);
  });

  it('shows the attempts of a run without steps plainly, and only the last one as the failure', () => {
    const history = [entry(failed(), [10, 20]), entry({ ...failed(), attempt: 1 }, [30, 40])];
    const ended = rowsOf(runWith(history, { status: 'Failed', ended_at: at(40) }));
    expect(shown(ended)).to.deep.equal(['Attempt 1: Retried', 'Attempt 2: Failed']);
    const retried = rowsOf(runWith(history.slice(0, 1), { next_try_at: at(30) }));
    expect(shown(retried)).to.deep.equal(['Attempt 1: Retried', 'Next attempt: Retrying']);
  });

  it('keeps a failed call of the function beside the steps, with its retries', () => {
    const history = [step('a', {}, [1, 2]), entry(failed(), [10, 20]), entry({ ...failed(), attempt: 1 }, [30, 40])];
    const waiting = rowsOf(runWith(history, { next_try_at: at(90) }));
    expect(shown(waiting)).to.deep.equal(['a: Completed', 'Function: Retrying']);
    expect(waiting.at(-1)?.untilMs).to.equal(START_MS + 90);
    const went = rowsOf(runWith([...history, entry({ attempt: 2 }, [50, 60])], ENDED));
    expect(shown(went)).to.deep.equal(['a: Completed', 'Function: Completed']);
    expect(went.at(-1)?.attempts).to.have.length(3);
    const ended = rowsOf(runWith(history, { status: 'Failed', ended_at: at(40) }));
    expect(shown(ended)).to.deep.equal(['a: Completed', 'Function: Failed']);
  });

  it('names the failed step, not the function that failed with its error', () => {
    const refused = step('refund', { op: 'StepFailed', ...failed('card refused') }, [10, 20, 5]);
    const history = [entry({}, [10, 20, 5]), refused, entry(failed('card refused'), [30, 40, 25])];
    const rows = rowsOf(runWith(history, { status: 'Failed', ended_at: at(40) }));
    expect(shown(rows)).to.deep.equal(['refund: Failed']);
    expect(rows.find(({ isCall }) => isCall)?.name).to.equal('Function');
  });

  it('says whether a failed step is retried, runs again, or was given up', () => {
    const history = [entry({}, [10, 20, 5]), step('a', { op: 'StepError', ...failed() }, [10, 20, 5])];
    expect(shown(rowsOf(runWith(history, { next_try_at: at(90) })))).to.deep.equal(['a: Retrying']);
    expect(shown(rowsOf(runWith(history)))).to.deep.equal(['a: Running']);
    const caught = [...history, entry({}, [30, 40, 25])];
    expect(shown(rowsOf(runWith(caught, ENDED)))).to.deep.equal(['a: Failed']);
    const planned = [
      entry({ step_id: 'a', ...failed() }, [10, 20, 5]),
      step('a', { ...pending, op: 'StepPlanned' }, [5, 0]),
    ];
    expect(shown(rowsOf(runWith(planned, { next_try_at: at(90) })))).to.deep.equal(['a: Retrying']);
  });

  it('shows the state of a run without an open step', () => {
    expect(shown(rowsOf(runWith([], { status: 'Queued', run_started_at: null })))).to.deep.equal(['Function: Queued']);
    expect(shown(rowsOf(runWith([step('a', {}, [1, 2])])))).to.deep.equal(['a: Completed', 'Function: Running']);
    const waits = step('wait', { ...pending, op: 'WaitForEvent', waits_for: 'x' }, [5, 0]);
    expect(shown(rowsOf(runWith([waits])))).to.deep.equal(['wait: Waiting']);
  });

  it('shows the failed requests of a step as its attempts, with links', () => {
    const request = { method: 'POST', origin: 'https://ai.example', status: 503 };
    const rows = rowsOf(
      runWith(
        [
          entry({ step_id: 'ask', name: 'ask', op: 'AIGateway', ...failed(), request }, [10, 20, 5]),
          step('ask', { op: 'AIGateway', attempt: null, request: { ...request, status: 200 } }, [5, 60]),
          step('tell', { event_ids: ['e1', 'e2'], events_sent: 30 }, [70, 80]),
          step('ship', { op: 'InvokeFunction', attempt: null, run_id: 'r2' }, [80, 90]),
        ],
        ENDED,
      ),
    );
    const [ask, tell, ship] = rows as [TimelineRowData, TimelineRowData, TimelineRowData];
    expect([ask.kind, ask.status, ask.request?.status]).to.deep.equal(['requested', 'Completed', 200]);
    expect(ask.attempts.map(({ httpStatus }) => httpStatus)).to.deep.equal([503]);
    expect([tell.eventIds, tell.eventsSent, ship.runId]).to.deep.equal([['e1', 'e2'], 30, 'r2']);
  });

  it('gives a step the same key while the run continues', () => {
    const history = [step('a', { ...pending, op: 'StepPlanned' }, [5, 0])];
    const before = rowsOf(runWith(history)).map(({ key }) => key);
    const after = rowsOf(runWith([entry({ step_id: 'a' }, [10, 20]), step('a', {}, [10, 20])], ENDED));
    expect(after.map(({ key }) => key)).to.deep.equal(before);
  });
});
