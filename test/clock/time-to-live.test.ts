import { expect } from 'chai';
import { MACHINE_TIME_KEYS } from '../../src/jobs/dev-clock/time-to-live.ts';
import type { KeyDeclaration } from '../../src/store/keys/key-declaration.ts';
import { KEY_DECLARATIONS_BY_ROOM } from '../../src/store/redis/keyspace/keyspace.ts';

/** Keys of hours or less for which time passes when a test moves the clock, and why. */
const OF_THE_SERVICE: Readonly<Record<string, string>> = {
  apiRateLimit: 'counts the requests of a minute',
  deduplication: 'a window that tests end',
  expressionProblems: 'shows a problem of today',
  expressionSkips: 'shows a problem of today',
  functionSeries: 'counts of a time',
  idempotency: 'a window that tests end',
  invocationClaim: 'a window that tests end',
  lastDebounce: 'an ingest job is done before time passes',
  oneTimeToken: 'a link for a person',
  passkeyChallenge: 'nobody signs in in dev mode',
  pendingSignIn: 'nobody signs in in dev mode',
  queueMetrics: 'counts of a minute of the service',
  rateLimit: 'a window that tests end',
  requestedOrigins: 'its scores are times of the service too',
  restoredRun: 'a run has copied it before time passes',
  session: 'signed in for hours',
  setUpToken: 'a link for a person',
  signInThrottle: 'failed sign-ins of minutes',
  usedSignIn: 'nobody signs in in dev mode',
  webhookLogsListed: 'what it avoids is only repeated work',
};

const keys = Object.entries(
  Object.assign({}, ...Object.values(KEY_DECLARATIONS_BY_ROOM)) as Record<string, KeyDeclaration>,
);

/** A lease has a TTL of less than a day, or one that lasts while somebody renews it. */
const mayBeLease = ({ ttl }: KeyDeclaration) => {
  const text = ttl.replaceAll(/\+ \d+ \w+/g, '');
  const isOfData = /^(none|–|as |retention|deleted)/.test(text);
  return !isOfData && (/\b\d+ (s|min|h)\b/.test(text) || /renewed while|set by the holder/.test(text));
};

describe('When the clock of dev mode is moved', () => {
  it('each key that may be a lease keeps the time of the machine, or has a reason why time passes for it', () => {
    const machineTimeKeys = new Set(MACHINE_TIME_KEYS);
    const others = keys.filter(([, key]) => mayBeLease(key) && !machineTimeKeys.has(key)).map(([name]) => name);
    expect(others.sort(), 'add new ones to MACHINE_TIME_KEYS, or to this list').to.deep.equal(
      Object.keys(OF_THE_SERVICE),
    );
  });

  it('no key keeps the time of the machine because its name begins as that of another one', () => {
    const firstWord = ({ pattern }: KeyDeclaration) => pattern.split(':')[0];
    const words = new Set(MACHINE_TIME_KEYS.map(firstWord));
    const lasts = ({ ttl }: KeyDeclaration) => /^(none|–)/.test(ttl);
    const too = keys.filter(([, key]) => words.has(firstWord(key)) && !MACHINE_TIME_KEYS.includes(key) && !lasts(key));
    expect(too.map(([name]) => name)).to.deep.equal([]);
  });
});
