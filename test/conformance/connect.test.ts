import { expect } from 'chai';
import type { Message } from '../../src/functions/connect/codec.ts';
import { JSON_TEXT } from '../../src/functions/connect/formats.ts';
import * as messages from '../../src/functions/connect/messages.ts';
import { eachCase } from './cases.ts';
import { type ConnectCase, expanded, type TalkEntry, writeTexts } from './connect-talk.ts';
import { fill } from './match.ts';

const { KIND } = messages;
type Kind = keyof typeof KIND;

/** The message of each kind with a payload. */
const MESSAGES = {
  workerConnect: messages.WorkerConnectRequest,
  gatewayConnectionReady: messages.ConnectionReady,
  syncFailed: messages.SystemError,
  gatewayExecutorRequest: messages.ExecutorRequest,
  workerRequestAck: messages.RequestAck,
  workerRequestExtendLease: messages.ExtendLease,
  workerRequestExtendLeaseAck: messages.ExtendLeaseAck,
  workerReply: messages.Reply,
  workerReplyAck: messages.ReplyAck,
  workerCheckpoint: messages.Checkpoint,
  workerCheckpointAck: messages.CheckpointAck,
} as Partial<Record<Kind, Message<object>>>;

const IN_THE_APP = 'it is in the app';

describe('The service conforms: connect', () => {
  eachCase<ConnectCase>(
    'connect',
    {
      client: IN_THE_APP,
      functions: IN_THE_APP,
      program: IN_THE_APP,
      connect: IN_THE_APP,
      states: IN_THE_APP,
      error: IN_THE_APP,
      talk: true,
    },
    ({ talk }) => {
      const entries = talk.flatMap((entry) => expanded(fill(entry, { any: 'any' }), 'any'));
      for (const { gets, sends, call, steps, ...payload } of entries) {
        const kind = (gets ?? sends) as Kind;
        const whole = { ...payload, ...(call ? { requestPayload: call } : {}), ...(steps ? { body: steps } : {}) };
        if (kind in KIND) expectSame(kind, writeTexts(whole) as TalkEntry);
      }
    },
    ({ talk }) => talk.flatMap((entry) => expanded(entry, '')).some(({ gets, sends }) => gets ?? sends),
  );
});

/** The service reads the frame, and what it writes of it has all that the frame says. */
function expectSame(kind: Kind, payload: TalkEntry): void {
  const frame = JSON_TEXT.readFrame(Buffer.from(JSON.stringify({ kind, payload })), false);
  expect(frame.kind).to.equal(KIND[kind]);
  const message = MESSAGES[kind];
  const written = message ? JSON_TEXT.frame(frame.kind, message, frame.read(message)) : JSON_TEXT.frame(frame.kind);
  expect(JSON.parse(String(written)).payload ?? {}, kind).to.deep.include(payload);
}
