/** A campaign of weeks, by the clock of dev mode, and scaled down in real time: the same happens in the same order. */
import { expect } from 'chai';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { advanceClock } from 'tidegate/test';
import { type App, startApp } from '../runs/steps/sdk-adapters.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const DAY_MS = 86_400_000;

/** A unit of time: a day, or the two seconds that stand for it. */
interface Scale {
  unitMs: number;
  /** Ticks at the start of each unit. */
  cron: string;
}

const DAYS: Scale = { unitMs: DAY_MS, cron: 'TZ=UTC 0 0 * * *' };
const SECONDS: Scale = { unitMs: 2_000, cron: '*/2 * * * * *' };
const UNITS = 12.5;

interface Note {
  what: string;
  /** Of the event that the function is called with, Unix milliseconds: only ticks have one that the service sets. */
  ts: number;
}

describe('A campaign', () => {
  const services: Service[] = [];
  const apps: App[] = [];
  after(async () => {
    for (const app of apps) await app.close();
    for (const service of services) await service.stop();
  });

  /** Three people join, one after the other; each gets mails days apart, and one pays. Each mail is counted in a digest, one and a half units after the last one. */
  async function start({ unitMs, cron }: Scale): Promise<{ service: Service; notes: Note[] }> {
    const service = await startService({ processes: true });
    services.push(service);
    const client = new Tidegate({ id: 'campaign', isDev: true, baseUrl: service.url });
    const notes: Note[] = [];
    const units = (count: number) => `${Math.round(count * unitMs)}ms`;
    const note = (what: string, ts: number) => void notes.push({ what, ts });
    const enroll = client.createFunction(
      { id: 'enroll', triggers: [{ event: 'user/joined' }] },
      async ({ event, step }) => {
        const { id } = event.data as { id: string };
        const mail = (kind: string) =>
          step.run(kind, () => {
            note(`${kind} to ${id}`, event.ts);
            return kind;
          });
        await mail('welcome');
        await step.sendEvent('mailed', { name: 'user/mailed', data: { id } });
        await step.sleep('first', units(1));
        await mail('reminder');
        await step.sendEvent('mailed again', { name: 'user/mailed', data: { id } });
        const paid = await step.waitForEvent('payment', {
          event: 'user/paid',
          timeout: units(3),
          if: 'event.data.id == async.data.id',
        });
        if (paid) return mail('thanks');
        await mail('last offer');
        await step.sleep('cool down', units(2.3));
        return mail('goodbye');
      },
    );
    const digest = client.createFunction(
      { id: 'digest', triggers: [{ event: 'user/mailed' }], debounce: { period: units(1.5) } },
      async ({ event }) => note(`digest after ${(event.data as { id: string }).id}`, event.ts),
    );
    const report = client.createFunction({ id: 'report', triggers: [{ cron }] }, async ({ event }) =>
      note('report', event.ts),
    );
    apps.push(await startApp(serve({ client, functions: [enroll, digest, report] })));
    return { service, notes };
  }

  /** What happens at which units after the first report. Nothing that follows happens at nearly the same time. */
  const JOURNEY: [unit: number, name: string, id: string][] = [
    [0.4, 'user/joined', 'ada'],
    [1.7, 'user/joined', 'bob'],
    [4.7, 'user/paid', 'bob'],
    [5.3, 'user/joined', 'eve'],
  ];

  /** @param goTo lets time pass until so many units after the first report */
  async function play(
    { service, notes }: { service: Service; notes: Note[] },
    { unitMs }: Scale,
    goTo: (units: number) => Promise<unknown>,
  ): Promise<string[]> {
    for (const [unit, name, id] of JOURNEY) {
      await goTo(unit);
      const { body } = await service.post(service.eventPath, { name, data: { id } });
      await service.stored(body.ids[0]);
    }
    await goTo(UNITS);
    const first = notes.findIndex(({ what }) => what === 'report');
    const begin = notes[first]?.ts as number;
    return notes.slice(first).map(({ what, ts }) => (what === 'report' ? `report ${(ts - begin) / unitMs}` : what));
  }

  const TIMELINE = [
    ...['report 0', 'welcome to ada', 'report 1', 'reminder to ada', 'welcome to bob', 'report 2', 'reminder to bob'],
    ...['report 3', 'report 4', 'digest after bob', 'last offer to ada', 'thanks to bob', 'report 5', 'welcome to eve'],
    ...['report 6', 'reminder to eve', 'goodbye to ada', 'report 7', 'digest after eve', 'report 8', 'report 9'],
    ...['last offer to eve', 'report 10', 'report 11', 'goodbye to eve', 'report 12'],
  ];

  /** The notes of each person, of the digests and of the reports. */
  const ofEach = (notes: readonly string[]) => Map.groupBy(notes, (note) => /^(report|digest)|\w+$/.exec(note)?.[0]);

  it('of a month takes seconds by the clock, and happens as the same in real time, scaled down', async () => {
    const real = await start(SECONDS);
    await until(() => real.notes.length > 0, { describe: 'the first report' });
    const begin = real.notes[0]?.ts as number;
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const happened = await play(real, SECONDS, (units) => wait(begin + units * SECONDS.unitMs - Date.now()));

    const moved = await start(DAYS);
    const { url } = moved.service;
    // The first tick after the start is midnight.
    const { data } = (await moved.service.get('/v1/dev/clock')).body;
    const midnight = Math.ceil(Date.parse(data.now) / DAY_MS) * DAY_MS;
    const beganAt = performance.now();
    const simulated = await play(moved, DAYS, (units) => advanceClock(url, new Date(midnight + units * DAY_MS)));
    const { waiting } = await advanceClock(url, new Date(midnight + 30 * DAY_MS));
    console.log(
      `      a month by the clock: ${Math.round(performance.now() - beganAt)} ms, ${moved.notes.length} calls`,
    );

    // In real time a busy machine is late, so only what follows from each other has an order.
    expect(ofEach(simulated)).to.deep.equal(ofEach(happened));
    expect(simulated).to.deep.equal(TIMELINE);
    expect(moved.notes.filter(({ what }) => what === 'report')).to.have.length(31);
    expect(waiting).to.equal(0);
  });
});
