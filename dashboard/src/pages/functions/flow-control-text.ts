/** Flow control in words, from the configuration as the app registered it. Invalid options have no effect and are left out. */

/** Words and expressions in turn, words first. */
type Text = string[];

export interface Rule {
  name: string;
  text: Text;
}

type Fields = Record<string, unknown>;

export function flowControlOf(config: Fields): Rule[] {
  const timeouts = fieldsOf(config.timeouts);
  const rules: [name: string, text: Text | undefined][] = [
    ...concurrencyOf(config.concurrency),
    ['Throttle', throttle(fieldsOf(config.throttle))],
    ['Rate limit', rateLimit(fieldsOf(config.rateLimit))],
    ['Debounce', debounce(fieldsOf(config.debounce))],
    ['Batch', batch(fieldsOf(config.batchEvents))],
    // The official Go SDK spells it with a capital.
    ['Singleton', singleton(fieldsOf(config.singleton ?? config.Singleton))],
    ['Order', order(fieldsOf(config.order))],
    ['Priority', expression(fieldsOf(config.priority).run, 'Seconds by which a run starts earlier: ')],
    ['Idempotency', expression(config.idempotency, 'One run in 24 hours for each ')],
    ['Start timeout', duration(timeouts.start, (time) => `A run that has not started after ${time} is cancelled`)],
    [
      'Finish timeout',
      duration(timeouts.finish, (time) => `A run that has not ended ${time} after its start is cancelled`),
    ],
  ];
  return rules.flatMap(([name, text]) => (text ? [{ name, text }] : []));
}

/** A number, a limit, a list of limits, or lists for runs (`fn`) and for calls (`step`). */
function concurrencyOf(given: unknown): [string, Text | undefined][] {
  if (typeof given === 'number') return concurrencyOf([{ limit: given }]);
  if (Array.isArray(given)) return given.map((limit) => ['Concurrency', concurrency(fieldsOf(limit), 'call')]);
  const groups = fieldsOf(given);
  if (!('fn' in groups || 'step' in groups)) return concurrencyOf([groups]);
  const ofRuns = listOf(groups.fn).map((limit): [string, Text | undefined] => [
    'Concurrency of runs',
    concurrency(fieldsOf(limit), 'run'),
  ]);
  return [...ofRuns, ...concurrencyOf(listOf(groups.step))];
}

function concurrency({ limit, key, scope }: Fields, what: 'call' | 'run'): Text | undefined {
  if (!isAmount(limit)) return undefined;
  const shared = {
    env: ', shared by functions of the environment',
    account: ', shared by functions of all environments',
  };
  return withKey(`At most ${amount(limit, what)} at the same time${shared[lower(scope) as 'env'] ?? ''}`, key);
}

function throttle({ limit, period, burst, key }: Fields): Text | undefined {
  if (!isAmount(limit) || !isText(period)) return undefined;
  const more = isAmount(burst) ? `, and at once ${burst.toLocaleString('en-US')} more` : '';
  return withKey(`Starts ${amount(limit, 'run')} in ${period}${more}; others wait`, key);
}

function rateLimit({ limit, period, key }: Fields): Text | undefined {
  if (!isAmount(limit) || !isText(period)) return undefined;
  return withKey(`At most ${amount(limit, 'run')} in ${period}; other events are skipped`, key);
}

function debounce({ period, timeout, key }: Fields): Text | undefined {
  if (!isText(period)) return undefined;
  const most = isText(timeout) ? `, at most ${timeout} after the first` : '';
  return withKey(`Runs on the last event once none has come for ${period}${most}`, key);
}

function batch({ maxSize, timeout, key, if: condition }: Fields): Text | undefined {
  if (!isAmount(maxSize) || !isText(timeout)) return undefined;
  const text = withKey(`One run for up to ${amount(maxSize, 'event')}, at the latest ${timeout} after the first`, key);
  if (!isText(condition)) return text;
  const words = '; an event runs alone unless ';
  return text.length === 1 ? [text[0] + words, condition] : [...text, words, condition];
}

function singleton({ mode, key }: Fields): Text | undefined {
  if (lower(mode) === 'skip') return withKey('One run at a time; meanwhile other events are skipped', key);
  if (lower(mode) === 'cancel') return withKey('One run at a time; a new run cancels the other', key);
  return undefined;
}

function order({ key, by, window, onStale }: Fields): Text | undefined {
  if (!isText(key)) return undefined;
  const waits = isText(window) ? `, each lane after ${window}` : '';
  const stale = lower(onStale) === 'skip' ? '; stale ones are skipped' : '';
  const words = `Events run one after another${waits}${stale}; for each `;
  return isText(by) ? [words, key, ', in the order of ', by] : [words, key];
}

function expression(given: unknown, words: string): Text | undefined {
  return isText(given) ? [words, given] : undefined;
}

function duration(given: unknown, words: (time: string) => string): Text | undefined {
  return isText(given) ? [words(given)] : undefined;
}

function withKey(words: string, key: unknown): Text {
  return isText(key) ? [`${words}; for each `, key] : [words];
}

function amount(count: number, what: 'call' | 'run' | 'event'): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

const isAmount = (given: unknown): given is number => typeof given === 'number' && given > 0;
const isText = (given: unknown): given is string => typeof given === 'string' && given !== '';
const lower = (given: unknown): string => String(given ?? '').toLowerCase();
const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : []);

function fieldsOf(given: unknown): Fields {
  return typeof given === 'object' && given !== null ? (given as Fields) : {};
}
