/** A service whose alerts a test evaluates at times to come, as its own processes do every few seconds: no test waits for a window. */
import { expect } from 'chai';
import { AlertRounds } from '../../src/jobs/alerts/alert-rounds.ts';
import { measure } from '../../src/jobs/alerts/measures.ts';
import { FunctionLanes } from '../../src/jobs/flow-control/function-lanes.ts';
import { LaneOrders } from '../../src/jobs/flow-control/lane-orders.ts';
import { FunctionTables } from '../../src/jobs/functions/function-tables.ts';
import { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import { createIngestQueue, createRunQueue, createTimerQueue } from '../../src/jobs/queues/queues.ts';
import { createLog } from '../../src/log.ts';
import { CLEAR_MS } from '../../src/model/alerts/alert.ts';
import { type RuleId, ruleOf, settingsOfRule } from '../../src/model/alerts/rules.ts';
import { PRODUCTION } from '../../src/model/environment.ts';
import { type OwnStore, openStore } from './own-store.ts';
import { connectRedis } from './redis.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of it
type Json = any;

export interface WatchedService {
  store: OwnStore;
  /** Evaluates until the rule has an open alert. @param afterSeconds from now @returns the alert, as the API shows it */
  opens(rule: RuleId, afterSeconds?: number): Promise<Json>;
  /** Evaluates until it has none, and one of the past. */
  resolves(rule: RuleId, afterSeconds?: number): Promise<void>;
  close(): Promise<void>;
}

/** @param hotMs of a service with an archive */
export async function watch(service: Service, hotMs?: number): Promise<WatchedService> {
  const store = await openStore(service.prefix, service.env);
  const connection = connectRedis(service.env.REDIS_URL);
  const queues = new PartitionQueues(store.keys, ({ prefix }) => {
    const options = { connection, prefix };
    return { ingest: createIngestQueue(options), runs: createRunQueue(options), timers: createTimerQueue(options) };
  });
  const functions = new FunctionTables({ functions: store.functions, versions: store.appVersions });
  const functionLanes = new FunctionLanes({
    ...store,
    laneOrders: new LaneOrders({ functions, webhooks: store.webhooks }),
    laneEnds: {} as never,
  });
  const deps = { ...store, functions, functionLanes, queues, hotMs };
  const rounds = new AlertRounds({
    ...store,
    measure: (rule, context) => measure(deps, rule, context),
    functions,
    acceptor: { acceptWithId: async (_, id) => id },
    publicUrl: undefined,
    log: createLog('silent', 'test'),
  });
  const evaluate = (afterMs: number) => rounds.evaluateOne(PRODUCTION, Date.now() + afterMs);
  const ofRule = async (rule: RuleId, state: 'open' | 'resolved'): Promise<Json[]> => {
    const { body } = await service.get(`/v1/alerts?state=${state}&limit=100`);
    return body.data.filter((alert: Json) => alert.rule === rule);
  };
  const isMeasured = async (rule: RuleId, afterMs: number): Promise<boolean> => {
    const settings = settingsOfRule(rule, (await store.alertRules.all(PRODUCTION)).get(rule));
    const found = await measure(deps, rule, { env: PRODUCTION, settings, nowMs: Date.now() + afterMs });
    return found.some(({ value }) => value >= settings.threshold);
  };
  return {
    store,
    async opens(rule, afterSeconds = 0) {
      const { title, window, windowSeconds } = ruleOf(rule);
      const afterMs = afterSeconds * 1_000;
      await until(() => isMeasured(rule, afterMs), { describe: `${rule} is measured` });
      await evaluate(afterMs);
      if (window === 'for') await evaluate(afterMs + windowSeconds * 1_000);
      const [alert] = await ofRule(rule, 'open');
      expect(alert, rule).to.deep.include({ title, state: 'open' });
      return alert;
    },
    async resolves(rule, afterSeconds = 0) {
      const afterMs = afterSeconds * 1_000;
      await until(async () => !(await isMeasured(rule, afterMs)), { describe: `${rule} is no longer measured` });
      await evaluate(afterMs);
      await evaluate(afterMs + CLEAR_MS);
      expect(await ofRule(rule, 'open'), rule).to.deep.equal([]);
      expect(await ofRule(rule, 'resolved'), rule).to.have.length(1);
    },
    async close() {
      await queues.close();
      connection.disconnect();
      await store.close();
    },
  };
}
