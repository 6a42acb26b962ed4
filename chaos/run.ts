/** Started by scripts/chaos. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem, runMain } from '../scripts/lib/problem.ts';
import type { AppProcess } from './apps/app-process.ts';
import { createDestinations, expectationsOf, startApp } from './apps/apps.ts';
import { listenForExecutions } from './apps/executions.ts';
import { startHostileApp } from './apps/hostile.ts';
import { functionIdOf, TICKING } from './apps/limits.ts';
import { checkArchive } from './checks/archive.ts';
import { countOffloaded } from './checks/archived.ts';
import { checkBulk } from './checks/bulk.ts';
import { untilOnlyPermanentKeys } from './checks/keys.ts';
import { recover } from './checks/recovery.ts';
import { checkSigned } from './checks/signed.ts';
import { takeSnapshot } from './checks/snapshot.ts';
import { exactlyOnce, isExactlyOnce } from './exactly-once/run.ts';
import { checkHistory } from './history/check.ts';
import { History } from './history/history.ts';
import { modelOf } from './history/model.ts';
import { Recorder } from './history/recorder.ts';
import { BulkWork } from './load/bulk-work.ts';
import { ControlWork } from './load/control-work.ts';
import { Ledger } from './load/ledger.ts';
import { Requests, SHORT_KINDS } from './load/requests.ts';
import { Sender } from './load/sender.ts';
import { SignedWebhook } from './load/signed-webhook.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { PostgresServer } from './postgres.ts';
import { Random } from './random.ts';
import { type Count, exceededLimits, type Results, table } from './results.ts';
import { CALL_TIMEOUT_SECONDS, FIRST_WEBHOOK_MS, Service, type ServiceMode, STALLED_AFTER_SECONDS } from './service.ts';
import { watchStarvation } from './starvation.ts';
import { RECOVERY_MS, toResults } from './summary.ts';
import { redisCluster } from './targets/cluster.ts';
import { singleRedis } from './targets/single.ts';
import { Timeline } from './timeline.ts';
import { record } from './update-docs.ts';

const TRANSFORM = `function transform(evt) { return { name: 'chaos/hook', id: evt.id, data: evt }; }`;
/** 10.8 s: longer than the workers of dead ones' jobs take. */
const HOT_HOURS = '0.003';
const STOP_MS = { short: 3_000, long: 10_000 };
const SHOWN_FINDINGS = 10;
const REPEAT_TIMES = {
  callTimeoutMs: CALL_TIMEOUT_SECONDS * 1_000,
  stalledAfterMs: STALLED_AFTER_SECONDS * 1_000,
  isBuffered: (functionId: string) => functionId.endsWith('-buffered'),
};

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  if (options.check) return checkAgain(options.check, options);
  const timeline = new Timeline((line) => options.quiet || console.log(line));
  const results = await (isExactlyOnce(options) ? exactlyOnce : run)(options, timeline);
  if (options.record) console.log(`Wrote ${record(results)}`);
  if (options.out) writeFileSync(options.out, `${JSON.stringify(results, undefined, 2)}\n`);
  console.log(`\n${table(results.counts)}\n`);
  for (const why of results.left_out) console.log(`Skipped: ${why}.`);
  const broken = exceededLimits(results);
  if (broken.length > 0) throw new Problem(report(broken, results, timeline));
});

/** A history that --history kept, of apps in the same languages. */
function checkAgain(file: string, { languages }: Options): void {
  const { counts } = checkHistory(History.read(file), modelOf(expectationsOf(languages), REPEAT_TIMES));
  console.log(table(counts));
  const broken = exceededLimits({ counts });
  if (broken.length > 0) throw new Problem(showFindings(broken));
}

function report(broken: readonly Count[], { command }: Results, timeline: Timeline): string {
  return [
    `Some results exceed their limits. Repeat with: ${command}`,
    showFindings(broken),
    'Timeline of faults:',
    timeline.text(),
  ].join('\n\n');
}

function showFindings(broken: readonly Count[]): string {
  const findings = broken.map(({ name, findings = [] }) => {
    const shown = findings.slice(0, SHOWN_FINDINGS).map((finding) => `  ${finding}`);
    if (findings.length > shown.length) shown.push(`  … and ${findings.length - shown.length} more`);
    return [`${name}:`, ...shown].join('\n');
  });
  return findings.join('\n\n');
}

async function run(options: Options, timeline: Timeline): Promise<Results> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-chaos-'));
  if (options.logs) mkdirSync(options.logs, { recursive: true });
  const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  const close = async () => {
    for (let end = closing.pop(); end; end = closing.pop()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => close().then(() => process.exit(130)));
  try {
    const target = await (options.cluster ? redisCluster(dir, options) : singleRedis(dir, options));
    closing.push(() => target.close());
    const postgres = options.withoutArchive ? undefined : await PostgresServer.start();
    closing.push(() => postgres?.close());
    const recorder = new Recorder(timeline);
    const isScheduled = (functionId: string) => functionId === functionIdOf(TICKING.id);
    const executions = await listenForExecutions(timeline, recorder, isScheduled);
    closing.push(() => executions.close());
    // Only dev mode archives what is younger than an hour.
    const mode: ServiceMode = postgres ? 'dev' : 'production';
    const archive = postgres && { DATABASE_URL: postgres.url, HOT_HOURS };
    const service = new Service({ MODE: mode, ...target.settings, ...archive }, options.logs);
    closing.push(() => service.stop());
    const startedAt = Date.now();
    await service.start();
    const hostile = await startHostileApp();
    closing.push(() => hostile.close());
    const [serviceUrl = ''] = service.ready;
    await hostile.register(serviceUrl);
    const apps = await Promise.all(
      options.languages.map(async (language) => {
        const app: AppProcess = await startApp(language, service, executions.url, mode);
        closing.push(() => app.stop());
        return app;
      }),
    );
    const input = { name: 'chaos', transform: TRANSFORM };
    const webhook = await service.post<{ id: string; url: string }>('/v1/webhooks', input, FIRST_WEBHOOK_MS);
    await createDestinations(service, executions.url, webhook.id);
    const signedWebhook = await SignedWebhook.create(service);

    const random = new Random(options.seed);
    const ledger = new Ledger();
    // A separate random sequence: response times must not change the faults.
    const parts = { service, recorder, signedWebhook, random: new Random(options.seed + 1) };
    const requests = new Requests({ ...parts, webhookPath: new URL(webhook.url).pathname });
    const sender = new Sender({ ...parts, ledger, requests });
    closing.push(watchStarvation(timeline, () => service.workers));
    timeline.note('sending starts');
    const bulk = new BulkWork(service);
    let isRecovered = false;
    closing.push(() => {
      isRecovered = true;
    });
    const cancelling = bulk.keepWorking(
      () => !sender.stopped,
      () => isRecovered,
    );
    const control = new ControlWork(service, recorder);
    const resuming = control.keepResuming(() => isRecovered);
    const sending = Promise.all([
      sender.keepSending(options.rate, options.send ?? (options.short ? SHORT_KINDS : undefined)),
      signedWebhook.keepRotating(() => sender.stopped),
      control.keepWorking(() => sender.stopped),
    ]);
    const stopMs = options.short ? STOP_MS.short : STOP_MS.long;
    const attacked = await target.inject(
      { service, sender, apps, executions, random, postgres, stopMs },
      ledger,
      timeline,
      options,
    );
    timeline.note('all faults are repaired');
    const mendedMs = timeline.nowMs;
    await sender.stop();
    await sending;
    await control.stopSchedules();
    const patienceMs = options.short ? RECOVERY_MS.short : RECOVERY_MS.long;
    const expectations = expectationsOf(options.languages);
    const recovery = await recover(service, timeline, ledger.events.values(), expectations, {
      startedAt,
      patienceMs,
    });
    isRecovered = true;
    await Promise.all([cancelling, resuming]);
    const recoverySeconds = (timeline.nowMs - mendedMs - timeline.starvedSince(mendedMs)) / 1_000;
    timeline.note('every run has ended, or the recovery time is over');
    const history = recorder.history(await takeSnapshot(service, timeline, recovery));
    if (options.history) history.write(options.history);
    const model = modelOf(expectations, REPEAT_TIMES);
    const inArchive = await checkArchive({
      service,
      postgres,
      primaries: () => target.primaries(),
      events: [...ledger.events.keys()],
      runs: recovery.runs.map(({ runId }) => runId),
      startedAt,
      leftKeysFile: options.logs && join(options.logs, 'left-keys.txt'),
    });
    const offloaded = postgres && (await countOffloaded(postgres));
    const wrongInBulk = await checkBulk(service, bulk, patienceMs);
    const signed = await checkSigned(service, signedWebhook, ledger);
    const primaries = await target.primaries();
    const kept = await untilOnlyPermanentKeys(primaries, target.partitions);
    const version = /redis_version:(\S+)/.exec((await primaries[0]?.info('server')) ?? '')?.[1] ?? '';
    await service.stop();
    return toResults({
      ...{ options, timeline, attacked, recoverySeconds, ledger, sender, service, target, inArchive, signed },
      ...{ offloaded, bulk, wrongInBulk, control, signedWebhook, kept, version, history },
      checked: checkHistory(history, model),
    });
  } finally {
    await close();
  }
}
