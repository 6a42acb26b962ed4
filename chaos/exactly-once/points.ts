/** The points at which an app with a Postgres of its own kills itself: before or after each statement, send and answer. */

interface AtStatement {
  statement: RegExp;
  when: 'before' | 'after';
}

const at = (statement: RegExp, when: 'before' | 'after'): AtStatement => ({ statement, when });

const AT_STATEMENTS = {
  'outbox: begun': at(/^insert into orders/, 'before'),
  'outbox: order written': at(/^insert into orders/, 'after'),
  'outbox: event written': at(/insert into tidegate_outbox/, 'after'),
  'outbox: commit asked for': at(/^commit/, 'before'),
  'outbox: committed': at(/^commit/, 'after'),
  'outbox: before the claim': at(/^with locked/, 'before'),
  'outbox: claimed': at(/^with locked/, 'after'),
  'outbox: before the deletion': at(/^delete from tidegate_outbox/, 'before'),
  'outbox: deleted': at(/^delete from tidegate_outbox/, 'after'),
  'transaction: before the step is claimed': at(/insert into tidegate_steps/, 'before'),
  'transaction: step claimed': at(/insert into tidegate_steps/, 'after'),
  'transaction: booking written': at(/^insert into bookings/, 'after'),
  // Together with the commit.
  'transaction: result written': at(/^update tidegate_steps/, 'after'),
};
const OTHERS = ['outbox: before the send', 'outbox: sent', 'transaction: answered'] as const;

export type Point = keyof typeof AT_STATEMENTS | (typeof OTHERS)[number];

/** @param features `outbox`, `transaction` */
export function pointsOf(features: readonly string[]): Point[] {
  const all = [...Object.keys(AT_STATEMENTS), ...OTHERS] as Point[];
  return all.filter((point) => features.includes(point.split(':')[0] as string));
}

/** @param after passes the point so many times before */
export function dieAt(point: Point | undefined, after: number) {
  let left = after;
  const pass = (here: boolean) => {
    if (here && left-- === 0) process.kill(process.pid, 'SIGKILL');
  };
  const statement = point && point in AT_STATEMENTS ? AT_STATEMENTS[point as keyof typeof AT_STATEMENTS] : undefined;
  return {
    // biome-ignore lint/suspicious/noExplicitAny: pg's overloads
    atStatementsOf(prototype: { query: (...args: any[]) => any }): void {
      const { query } = prototype;
      if (!statement) return;
      // biome-ignore lint/suspicious/noExplicitAny: pg's overloads
      prototype.query = async function (this: unknown, ...args: any[]) {
        const isHere = statement.statement.test(String(args[0]?.text ?? args[0]));
        pass(isHere && statement.when === 'before');
        const result = await query.apply(this, args);
        pass(isHere && statement.when === 'after');
        return result;
      };
    },
    aroundSends(send: typeof fetch): typeof fetch {
      return async (input, init) => {
        const isSend = new URL(String(input)).pathname.startsWith('/e/');
        pass(isSend && point === 'outbox: before the send');
        const response = await send(input, init);
        pass(isSend && point === 'outbox: sent');
        return response;
      };
    },
    answered: () => pass(point === 'transaction: answered'),
  };
}
