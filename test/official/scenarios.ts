/** Functions of every app with an official SDK, and their expected results: function <fn> runs for the event <app>/<fn>. */
import { expect } from 'chai';
import type { Loose, Outside } from './outside.ts';

export interface Scenario {
  title: string;
  fn: string;
  /** Data of the triggering event. */
  data?: object;
  /** Actions during the run. */
  during?(outside: Outside, eventId: string): Promise<void>;
  /** Expected output of the run, or a check of it. */
  output: object | ((output: Loose, outside: Outside) => Promise<void>);
}

/** The sent events have triggered `receipt`. */
const received =
  (...data: object[]) =>
  async ({ ids }: Loose, outside: Outside) => {
    const outputs = await Promise.all(ids.map((id: string) => outside.output(id)));
    expect(outputs).to.deep.equal(data.map((got) => ({ got })));
  };

export const SCENARIOS: Scenario[] = [
  { title: 'is given the event', fn: 'receipt', data: { n: 3 }, output: { got: { n: 3 } } },
  { title: 'runs steps, and sleeps between them', fn: 'chain', data: { n: 3 }, output: { result: 7 } },
  { title: 'runs steps side by side', fn: 'branches', output: { sum: 3 } },
  { title: 'is called again when it throws', fn: 'stumbles', output: { attempt: 2 } },
  { title: 'has a step tried again', fn: 'flaky', output: { attempt: 2 } },
  { title: 'catches the error of a step that has failed permanently', fn: 'caught', output: { caught: 'broken' } },
  { title: 'sends an event by a step', fn: 'sends', data: { n: 3 }, output: received({ n: 3 }) },
  { title: 'sends events by its client', fn: 'relays', output: received({ n: 1 }, { n: 2 }) },
  {
    title: 'waits for an event that meets its expression',
    fn: 'waits',
    data: { n: 3 },
    async during(outside, eventId) {
      await outside.waiting(eventId);
      await outside.send('answer', { n: 4 });
      await outside.send('answer', { n: 3, by: 'me' });
    },
    output: { answer: { n: 3, by: 'me' } },
  },
  { title: 'takes its time', fn: 'slow', data: { n: 1 }, output: { slept: 1 } },
  { title: 'waits in vain', fn: 'waits-in-vain', output: { answer: null } },
  {
    title: 'invokes another function',
    fn: 'invokes',
    data: { n: 3 },
    async output({ invoked: { got } }) {
      const { _inngest: invocation, ...data } = got;
      expect(data).to.deep.equal({ n: 3 });
      expect(invocation.source_fn_id).to.match(/-invokes$/);
    },
  },
  { title: 'fetches memos that are too large for a call', fn: 'bulky', output: { length: 6_000_000 } },
];

/** `hopeless` fails permanently; its failure handler sends <app>/handled with the error's message and the data of the event. */
export async function failsForGood(outside: Outside): Promise<void> {
  const run = await outside.endedRun(await outside.send('hopeless', { n: 3 }));
  expect(run.status).to.equal('Failed');
  expect(run.error.message).to.include('hopeless indeed');
  const { message, data } = await outside.eventData('handled');
  expect(message).to.include('hopeless indeed');
  expect(data).to.deep.equal({ n: 3 });
}
