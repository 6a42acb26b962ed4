/** Started by scripts/chaos. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem, runMain } from '../scripts/lib/problem.ts';
import type { HostProgram } from '../test/support/program.ts';
import { FUNCTIONS, startApp } from './apps/apps.ts';
import { type Executions, listenForExecutions } from './apps/executions.ts';
import { startHostileApp } from './apps/hostile.ts';
import { OVER_LIMIT } from './apps/over-limit.ts';
import type { InjectedFaults } from './attack.ts';
import { checkArchive } from './checks/archive.ts';
import { checkBulk } from './checks/bulk.ts';
import { findKeysWithoutTtl } from './checks/keys.ts';
import { type Recovery, recover } from './checks/recovery.ts';
import { findRepeats } from './checks/repeats.ts';
import { checkSigned, type SignedFindings } from './checks/signed.ts';
import { BulkWork } from './load/bulk-work.ts';
import { Ledger } from './load/ledger.ts';
import { Sender } from './load/sender.ts';
import { SignedWebhook } from './load/signed-webhook.ts';
import { HELP, type Options, readOptions, SHORT_MINUTES } from './options.ts';
import { PostgresServer } from './postgres.ts';
import { Random } from './random.ts';
import { type Count, exceededLimits, type Results, table } from './results.ts';
import { Service, type ServiceMode } from './service.ts';
import { watchStarvation } from './starvation.ts';
import { redisCluster } from './targets/cluster.ts';
import { singleRedis } from './targets/single.ts';
import type { Target } from './targets/target.ts';
import { Timeline } from './timeline.ts';
import { record } from './update-docs.ts';

const TRANSFORM = `function transform(evt) { return { name: 'chaos/hook', id: evt.delivery, data: evt }; }`;
/** 10.8 s: longer than the workers of dead ones' jobs take. */
const HOT_HOURS = '0.003';
const STOP_MS = { short: 3_000, long: 10_000 };
const RECOVERY_MS = { short: 60_000, long: 180_000 };
const SHOWN_FINDINGS = 10;
const ENDS_WITHIN_SECONDS = 25;

await runMain(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  const timeline = new Timeline((line) => options.quiet || console.log(line));
  const results = await run(options, timeline);
  if (options.record) console.log(`Wrote ${record(results)}`);
  if (options.out) writeFileSync(options.out, `${JSON.stringify(results, undefined, 2)}\n`);
  console.log(`\n${table(results.counts)}\n`);
  for (const why of results.left_out) console.log(`Skipped: ${why}.`);
  const broken = exceededLimits(results);
  if (broken.length > 0) throw new Problem(report(broken, results, timeline));
});

function report(broken: readonly Count[], { command }: Results, timeline: Timeline): string {
  const findings = broken.map(({ name, findings = [] }) => {
    const shown = findings.slice(0, SHOWN_FINDINGS).map((finding) => `  ${finding}`);
    if (findings.length > shown.length) shown.push(`  … and ${findings.length - shown.length} more`);
    return [`${name}:`, ...shown].join('\n');
  });
  return [
    `Some results exceed their limits. Repeat with: ${command}`,
    ...findings,
    'Timeline of faults:',
    timeline.text(),
  ].join('\n\n');
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
    const executions = await listenForExecutions(timeline);
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
    await Promise.all(
      options.languages.map(async (language) => {
        const app: HostProgram = await startApp(language, serviceUrl, executions.url, mode);
        closing.push(() => app.stop());
      }),
    );
    const webhook = await service.post<{ url: string }>('/v1/webhooks', { name: 'chaos', transform: TRANSFORM });
    const signedWebhook = await SignedWebhook.create(service);

    const random = new Random(options.seed);
    const ledger = new Ledger();
    // A separate random sequence: response times must not change the faults.
    const path = new URL(webhook.url).pathname;
    const sender = new Sender(service, ledger, timeline, new Random(options.seed + 1), path, signedWebhook);
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
    const sending = Promise.all([sender.keepSending(options.rate), signedWebhook.keepRotating(() => sender.stopped)]);
    const stopMs = options.short ? STOP_MS.short : STOP_MS.long;
    const attacked = await target.inject({ service, sender, random, postgres, stopMs }, ledger, timeline, options);
    timeline.note('all faults are repaired');
    const mendedAt = performance.now();
    await sender.stop();
    await sending;
    const patienceMs = options.short ? RECOVERY_MS.short : RECOVERY_MS.long;
    const recovery = await recover(service, ledger.events.values(), (name) => expected(name, options), patienceMs);
    isRecovered = true;
    await cancelling;
    recovery.seconds = (performance.now() - mendedAt) / 1_000;
    timeline.note('every run has ended, or the recovery time is over');
    const inArchive = await checkArchive({
      service,
      postgres,
      primaries: () => target.primaries(),
      events: [...ledger.events.keys()],
      runs: recovery.runs,
      startedAt,
    });
    const wrongInBulk = await checkBulk(service, bulk, patienceMs);
    const signed = await checkSigned(service, signedWebhook, ledger);
    const primaries = await target.primaries();
    const kept = await findKeysWithoutTtl(primaries, target.partitions);
    const version = /redis_version:(\S+)/.exec((await primaries[0]?.info('server')) ?? '')?.[1] ?? '';
    await service.stop();
    return toResults({
      options,
      timeline,
      attacked,
      recovery,
      ledger,
      sender,
      executions,
      service,
      target,
      inArchive,
      signed,
      bulk,
      wrongInBulk,
      signedWebhook,
      kept,
      version,
    });
  } finally {
    await close();
  }
}

function expected(name: string, { languages }: Options): string[] {
  if (name === 'chaos/hostile') return ['hostile-hostile'];
  return languages.flatMap((language) => (FUNCTIONS[language]?.[name] ?? []).map((fn) => `chaos-${language}-${fn}`));
}

interface Facts {
  options: Options;
  timeline: Timeline;
  attacked: InjectedFaults;
  recovery: Recovery;
  ledger: Ledger;
  sender: Sender;
  executions: Executions;
  service: Service;
  target: Target;
  /** Results about lists and the archive. */
  inArchive: Count[];
  signed: SignedFindings;
  bulk: BulkWork;
  wrongInBulk: string[];
  signedWebhook: SignedWebhook;
  kept: string[];
  version: string;
}

function toResults(facts: Facts): Results {
  const { options, attacked, recovery, ledger, sender, executions, service, target, signed, kept } = facts;
  const { kills, terminations, unexpected } = service.ends;
  const repeats = findRepeats(executions.all, facts.timeline);
  const none = (name: string, findings: string[]): Count => ({ name, most: 0, figure: findings.length, findings });
  const counts: Count[] = [
    none('acknowledged events lost', recovery.lost),
    none('runs missing', recovery.missing),
    none('runs duplicated', recovery.doubled),
    none('runs stuck', recovery.stuck),
    none('runs failed unexpectedly', recovery.failed),
    ...facts.inArchive,
    none('IDs with two events', ledger.duplicated),
    none('deliveries of a provider without exactly one event', signed.notOnce),
    none('events from forged requests', signed.forged),
    none('bulk actions that missed, repeated or miscounted a run', facts.wrongInBulk),
    none('finished steps that ran again', repeats.afterFinished),
    none('steps that ran again without a crash', repeats.unexcused),
    none(
      'calls beyond a concurrency limit',
      executions.all.filter(({ step }) => step === OVER_LIMIT).map(({ runId }) => runId),
    ),
    none('keys without a TTL by mistake', kept),
    none('responses other than 200, 429 and 503', ledger.unexpected),
    none('responses 429 and 503 without Retry-After', ledger.withoutRetryAfter),
    none('unexpected or unclean exits', unexpected),
    none('requests failed in rolling deploys', sender.failedInDeploy),
    ...(options.withoutArchive ? [] : [none('requests failed while Postgres was away', sender.failedWithoutPostgres)]),
    ...target.counts(),
    {
      name: 'longest time from SIGTERM to exit',
      most: ENDS_WITHIN_SECONDS,
      figure: Math.max(0, ...terminations),
      unit: 's',
    },
    {
      name: 'recovery after the last fault',
      most: (options.short ? RECOVERY_MS.short : RECOVERY_MS.long) / 1_000,
      figure: recovery.seconds,
      unit: 's',
    },
  ];
  return {
    seed: options.seed,
    command: commandOf(options),
    at: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, node: process.version, redis: facts.version },
    minutes: facts.timeline.nowMs / 60_000,
    languages: options.languages,
    faults: attacked.faults,
    left_out: attacked.skipped,
    load: {
      'acknowledged events': ledger.events.size,
      'acknowledged requests': ledger.acknowledgements,
      'requests resent after an acknowledgement': ledger.repeated,
      'requests resent without an acknowledgement': ledger.resent,
      'acknowledged deliveries of a provider': facts.signedWebhook.acknowledged,
      'forged requests': facts.signedWebhook.forgeries,
      'rotations of the secret of a provider': facts.signedWebhook.rotations,
      'bulk actions': facts.bulk.actions.size,
      runs: recovery.runs.length,
      'steps run': repeats.executions,
      'steps repeated because of a crash': repeats.excused,
      'processes killed': kills,
      'processes terminated by SIGTERM': terminations.length,
      'requests in rolling deploys': sender.sentInDeploy,
      ...target.load(),
    },
    counts,
  };
}

/** Repeats the run. */
function commandOf({ cluster, withoutArchive, seed, short, minutes, kills }: Options): string {
  const length = short && minutes === SHORT_MINUTES ? '' : ` --minutes ${minutes}`;
  return [
    'scripts/chaos',
    cluster ? ' --cluster' : '',
    withoutArchive ? ' --without-archive' : '',
    ` --seed ${seed}`,
    short ? ' --short' : '',
    length,
    kills > 0 ? ` --kills ${kills}` : '',
  ].join('');
}
