/** Exactly once, with the app's own Postgres: events that commit with the app's writes (`outbox`), and what sends them (`relay`). For steps that do, see
 *  `step.transaction`. */
export { databaseOf } from './postgres/adapters.ts';
export type { BatchResult, Ended } from './postgres/batch.ts';
export type { Database, Isolation, Queries, Row, Session } from './postgres/database.ts';
export { type OutboxOptions, outbox } from './postgres/outbox.ts';
export {
  type Relay,
  type RelayOptions,
  type RelayStatus,
  relay,
  type SharedRelayOptions,
  startRelay,
} from './postgres/relay.ts';
export { type Sender, type SendFailure, type Sent, senderOf } from './postgres/sender.ts';
export { SCHEMA } from './postgres/statements.ts';
export type { TransactionOptions } from './postgres/step-transaction.ts';
export type { AnyPool, AnyTransaction, TransactionOf } from './postgres/types.ts';
