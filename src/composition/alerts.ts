/** Parts that evaluate the rules of alerts and send them, shared by web and worker. */
import { AlertRounds } from '../jobs/alerts/alert-rounds.ts';
import { AlertSender } from '../jobs/alerts/alert-sender.ts';
import { AlertSending } from '../jobs/alerts/alert-sending.ts';
import { measure } from '../jobs/alerts/measures.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';
import type { RunServices } from './runs.ts';

export interface AlertParts {
  alertSender: AlertSender;
  alertRounds: AlertRounds;
  alertSending: AlertSending;
}

export const ALERTS: Definitions<AlertParts, IngestionNeeds & IngestionParts & RunServices> = {
  alertSender: {
    build: ({ config: { outbound, mail } }) => new AlertSender({ outbound, mail }),
    close: (sender) => sender.close(),
  },
  alertRounds({ store, functions, functionLanes, queues, acceptor, config, archive, log }) {
    const measureDeps = { ...store, functions, functionLanes, queues, hotMs: archive?.hotMs };
    return new AlertRounds({
      ...store,
      measure: (rule, context) => measure(measureDeps, rule, context),
      functions,
      acceptor,
      publicUrl: config.publicUrl,
      log,
    });
  },
  alertSending({ store, alertSender, config, log }) {
    return new AlertSending({ ...store, alertSender, publicUrl: config.publicUrl, log });
  },
};
