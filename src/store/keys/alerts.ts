/** Keys of the alerts room. */
import { hash, zset } from './key-declaration.ts';

export const ALERT_KEYS = {
  alertBook: hash(
    'alert-book:<env>',
    '`book`: alerts that are open or may open soon, and what each channel has to send, as JSON.',
    { owner: 'alerts/alert-books.ts', ttl: '30 days, renewed', size: '20 alerts per rule, 40 changes per channel' },
  ),
  pastAlerts: zset('past-alerts:<env>', 'Resolved alerts, as JSON, by end (ms).', {
    owner: 'alerts/alert-books.ts',
    ttl: '30 days, renewed and trimmed',
    size: '500 entries',
  }),
  alertRules: hash('alert-rules:<env>', 'Rule → what people changed of it, as JSON.', {
    owner: 'alerts/alert-rules.ts',
    ttl: 'none',
    size: '1 field per changed rule',
  }),
  alertChannels: hash('alert-channels:<env>', 'Name → alert channel, as JSON, its secrets encrypted.', {
    owner: 'alerts/alert-channels.ts',
    ttl: 'none',
    size: '20 fields',
  }),
};
