/** Functions of the what-if tests, for our TypeScript client and the official one. Each waits for an event after its first steps if its own
 *  event says so. A change makes it the function of a candidate. */
// biome-ignore lint/suspicious/noExplicitAny: the handlers' arguments have the types of either client
type Loose = any;

export const CHANGES = ['renamed', 'removed', 'inserted', 'output', 'throws', 'gone'] as const;
export type Change = (typeof CHANGES)[number];

export interface ShapeOptions {
  change: Change | undefined;
  /** Called by each step that runs. */
  onRun(): void;
}

/** The handler of function number n. */
export function handlerOf(n: number, { change, onRun }: ShapeOptions) {
  const shape = SHAPES[n % SHAPES.length] as (typeof SHAPES)[number];
  return async ({ event, step }: Loose): Promise<unknown> => {
    const run = (id: string, value: unknown) => {
      return step.run(id, () => {
        onRun();
        return value;
      });
    };
    const loaded = await run(change === 'renamed' ? 'load again' : 'load', { id: event.data.n, of: n });
    if (change === 'throws') throw new Error(`cannot work with ${loaded.id}`);
    if (change === 'inserted') await run('check', true);
    const result = await shape(step, run, loaded, change === 'removed');
    if (event.data.waits) await step.waitForEvent('approval', { event: 'what-if/approved', timeout: '30d' });
    await run('charge', event.data.n);
    return change === 'output' ? { result, more: true } : { result };
  };
}

type Run = (id: string, value: unknown) => Promise<Loose>;
type Shape = (step: Loose, run: Run, loaded: Loose, isShorter: boolean) => Promise<unknown>;

const SHAPES: readonly Shape[] = [
  async (_, run, loaded, isShorter) => {
    const first = await run('first', loaded.id);
    return isShorter ? first : first + (await run('second', 2));
  },
  async (_, run, loaded, isShorter) => {
    const both = await Promise.all([run('left', loaded.id), ...(isShorter ? [] : [run('right', 'r')])]);
    return both.length;
  },
  async (_, run, loaded, isShorter) => {
    const found = [];
    for (let i = 0; i < (isShorter ? 2 : 3); i++) found.push(await run('item', loaded.id + i));
    return found.length;
  },
  async (step, run, loaded, isShorter) => {
    await step.sleep('nap', '1ms');
    if (!isShorter) await run('log', loaded.id);
    return run('after', loaded.id);
  },
];
