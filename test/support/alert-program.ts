/** A process that sends the messages of alerts once: node test/support/alert-program.ts <key prefix> <now, Unix milliseconds> */

import { readConfig } from '../../src/config.ts';
import { AlertSender } from '../../src/jobs/alerts/alert-sender.ts';
import { AlertSending } from '../../src/jobs/alerts/alert-sending.ts';
import { createLog } from '../../src/log.ts';
import { openStore } from './own-store.ts';

const [prefix, nowMs] = process.argv.slice(2);
const store = await openStore(prefix);
const { outbound } = readConfig({ MODE: 'dev' });
const alertSender = new AlertSender({ outbound, mail: undefined });
const sending = new AlertSending({ ...store, alertSender, publicUrl: undefined, log: createLog('silent', 'test') });
await sending.sendAll(Number(nowMs), new AbortController().signal);
