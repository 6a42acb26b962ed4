/** Not a test that runs: `tsc` checks it, and each @ts-expect-error line fails it unless the next line is an error. */
import { inject, type Middleware, referenceFunction, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { testFunction } from 'tidegate/test';
import { z } from 'zod';

interface Db {
  find(id: string): string;
}
const db: Db = { find: (id) => id };

interface Events {
  'order/paid': { data: { orderId: string } };
}

/** Compiles only if both types are the same. */
function same<A, B>(_proof: [A] extends [B] ? ([B] extends [A] ? true : false) : false): void {}

const triggers = { event: 'order/paid' } as const;

export function injecting() {
  const client = new Tidegate({ id: 'shop', middleware: [inject({ db }), inject({ version: 1 as number })] });
  const fn = client.createFunction({ id: 'a', triggers }, ({ event, db, version }) => {
    same<typeof db, Db>(true);
    same<typeof version, number>(true);
    return db.find(event.data.orderId);
  });
  serve({ client, functions: [fn] });
  testFunction(fn).then(({ result }) => same<typeof result, string | undefined>(true));
  // @ts-expect-error: nothing adds it
  client.createFunction({ id: 'a', triggers }, ({ cache }) => cache);

  const user: Middleware<{ user: { name: string } }> = {
    name: 'user',
    onRun(call, next) {
      call.add({ user: { name: call.runId } });
      // @ts-expect-error: it adds a name
      call.add({ user: { id: 7 } });
      return next();
    },
  };
  client.createFunction(
    { id: 'a', triggers, middleware: [user], onFailure: ({ user, db, error }) => [user.name, db, error.message] },
    ({ user, db }) => {
      same<typeof user, { name: string }>(true);
      same<typeof db, Db>(true);
    },
  );
  // @ts-expect-error: only the function above has it
  client.createFunction({ id: 'a', triggers }, ({ user }) => user);
  client.createFunction(
    { id: 'a', triggers, middleware: [{ name: 'inline', onStep: (step, next) => [step.name, next()] }] },
    ({ event, db }) => {
      same<typeof db, Db>(true);
      return event.data;
    },
  );
  // @ts-expect-error: a middleware has a name
  new Tidegate({ id: 'shop', middleware: [{ onRun: (_: unknown, next: () => unknown) => next() }] });
}

export function withEvents() {
  const declared = new Tidegate<Events, { db: Db }>({ id: 'shop', middleware: [inject({ db })] });
  declared.createFunction({ id: 'a', triggers }, ({ event, db }) => {
    same<typeof db, Db>(true);
    same<typeof event.data, { orderId: string }>(true);
  });
  const plain = new Tidegate<Events>({ id: 'shop', middleware: [inject({ db })] });
  // @ts-expect-error: the second type argument tells what is added
  plain.createFunction({ id: 'a', triggers }, ({ db }) => db);
  const schemas = { 'order/paid': z.object({ orderId: z.string() }) };
  const checked = new Tidegate({ id: 'shop', schemas, middleware: [inject({ db })] });
  checked.createFunction({ id: 'a', triggers }, ({ event, db, step }) => {
    same<typeof db, Db>(true);
    same<typeof event.data.orderId, string>(true);
    return step.run('find', (id: string, times: number) => db.find(id).repeat(times), event.data.orderId, 2);
  });
  checked.createFunction({ id: 'a', triggers }, ({ step }) => {
    // @ts-expect-error: the argument is a number
    step.run('a', (n: number) => n, 'one');
    // @ts-expect-error: the argument is missing
    step.run('a', (n: number) => n);
  });
}

export function referring() {
  const loose = referenceFunction({ appId: 'crm', functionId: 'enrich' });
  const typed = referenceFunction({
    appId: 'crm',
    functionId: 'enrich',
    schemas: { data: z.object({ email: z.string() }), output: z.object({ score: z.number() }) },
  });
  new Tidegate({ id: 'shop' }).createFunction({ id: 'a', triggers }, async ({ step }) => {
    (await step.invoke('a', { function: loose, data: { anything: 1 } })).goes.here;
    const { score } = await step.invoke('b', { function: typed, data: { email: 'ada@example.com' } });
    same<typeof score, number>(true);
    // @ts-expect-error: email is a text
    step.invoke('c', { function: typed, data: { email: 7 } });
  });
  // @ts-expect-error: the function's ID is missing
  referenceFunction({ appId: 'crm' });
}
