import { expect } from 'chai';
import type { Database } from '../../src/archive/database.ts';
import { OutboxRows } from '../../src/archive/outbox-rows.ts';
import { readTopic } from '../conformance/cases.ts';

const { cases } = readTopic<{ title: string; name: string; sql: string }>('postgres');
const ofClients = (name: string) => cases.find((testCase) => testCase.name === name)?.sql ?? '';
/** Up to the names of results, and how it is set in type. */
const plain = (sql: string) =>
  sql
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ as ("?)oldest_?seconds\1/g, '');

/** What the work asks of Postgres. */
async function statementOf(work: (rows: OutboxRows) => Promise<unknown>): Promise<string> {
  let asked = '';
  const query = async (text: string) => {
    asked = text;
    return [];
  };
  await work(new OutboxRows({ query } as unknown as Database));
  return plain(asked);
}

describe("The worker's relay shares rows with those of the clients:", () => {
  it('its claim is theirs in states, order by key, leases, and what it records before the send, and differs in what it reads', async () => {
    const [own, theirs] = [await statementOf((rows) => rows.claim('', 1, 1)), plain(ofClients('outbox_claim'))];
    const change = (claim: string) => claim.slice(0, claim.lastIndexOf(' returning claimed.position'));
    expect(change(theirs)).to.match(/where state = 'waiting'.* set leased_until = .* sends = claimed\.sends \|\| /);
    expect(change(own)).to.equal(change(theirs));
  });

  it('it asks for the lock that the relay of an app has', async () => {
    const asked = await statementOf((rows) => rows.hasRelayOfApp());
    expect(asked.replace('_xact_lock_shared(', '_lock(')).to.equal(plain(ofClients('relay_lock')));
  });

  for (const [name, work] of Object.entries({
    outbox_delete: (rows: OutboxRows) => rows.delete([1]),
    relay_take_over: (rows: OutboxRows) => rows.takeOver(),
    outbox_release: (rows: OutboxRows) => rows.release([1]),
    outbox_status: (rows: OutboxRows) => rows.counts(),
    steps_delete: (rows: OutboxRows) => rows.deleteSteps(['run'], 30),
  })) {
    it(`${name} is theirs`, async () => {
      expect(await statementOf(work)).to.equal(plain(ofClients(name)));
    });
  }
});
