/** The messages between the gateway and apps that connect to it (docs/protocol.md#connect). Fields and kinds have the numbers of the protocol;
 *  fields that the service neither reads nor writes are left out. */
import { bool, bytes, int32, int64, type MessageOf, message, nested, optional, repeated, string } from './codec.ts';

/** Kinds of a frame. */
export const KIND = {
  gatewayHello: 0,
  workerConnect: 1,
  gatewayConnectionReady: 2,
  gatewayExecutorRequest: 3,
  workerReady: 4,
  workerRequestAck: 5,
  workerReply: 6,
  workerReplyAck: 7,
  workerPause: 8,
  workerHeartbeat: 9,
  gatewayHeartbeat: 10,
  gatewayClosing: 11,
  workerRequestExtendLease: 12,
  workerRequestExtendLeaseAck: 13,
  syncFailed: 14,
  // Kinds of this service alone, beyond the numbers that the official SDKs may use.
  workerCheckpoint: 100,
  workerCheckpointAck: 101,
} as const;

const APPS_MAX = 50;
const GATEWAYS_MAX = 100;

/** Every frame in protobuf. */
export const Frame = message({ kind: int32(1), payload: bytes(2) });

export const StartRequest = message({ excludeGateways: repeated(string(1), GATEWAYS_MAX) });

export const StartResponse = message({
  connectionId: string(1),
  gatewayEndpoint: string(2),
  gatewayGroup: string(3),
  sessionToken: string(4),
  syncToken: string(5),
});

const AuthData = message({ sessionToken: string(1), syncToken: string(2) });

/** `functions`: their configurations, as JSON. */
const AppConfiguration = message({ appName: string(1), appVersion: optional(string(2)), functions: bytes(4) });
export type AppConfiguration = MessageOf<typeof AppConfiguration>;

const SystemAttributes = message({ cpuCores: int32(1), memBytes: int64(2), os: string(3) });

export const WorkerConnectRequest = message({
  connectionId: string(1),
  instanceId: string(2),
  authData: nested(3, AuthData),
  apps: repeated(nested(5, AppConfiguration), APPS_MAX),
  workerManualReadinessAck: bool(6),
  systemAttributes: nested(7, SystemAttributes),
  framework: string(9),
  platform: optional(string(10)),
  sdkVersion: string(11),
  sdkLanguage: string(12),
  maxWorkerConcurrency: optional(int64(14)),
});
export type WorkerConnectRequest = MessageOf<typeof WorkerConnectRequest>;

/** Durations such as `10s`: some SDKs accept only whole seconds. */
export const ConnectionReady = message({ heartbeatInterval: string(1), extendLeaseInterval: string(2) });

export const ExecutorRequest = message({
  requestId: string(1),
  accountId: string(2),
  envId: string(3),
  appId: string(4),
  appName: string(5),
  functionId: string(6),
  functionSlug: string(7),
  stepId: optional(string(8)),
  requestPayload: bytes(9),
  systemTraceCtx: bytes(10),
  userTraceCtx: bytes(11),
  runId: string(12),
  leaseId: string(13),
  jobId: string(14),
});

export const RequestAck = message({ requestId: string(1) });

export const ExtendLease = message({ requestId: string(1), leaseId: string(10) });

/** Without `newLeaseId` the lease is lost. */
export const ExtendLeaseAck = message({
  requestId: string(1),
  accountId: string(2),
  envId: string(3),
  appId: string(4),
  functionSlug: string(5),
  newLeaseId: optional(string(6)),
});

export const REPLY_STATUS = { notCompleted: 0, done: 1, error: 2 } as const;

export const Reply = message({
  requestId: string(1),
  status: int32(5),
  body: bytes(6),
  noRetry: bool(7),
  retryAfter: optional(string(8)),
  sdkVersion: string(9),
  requestVersion: int32(10),
});

export const ReplyAck = message({ requestId: string(1) });

/** `body`: that of `POST /v1/checkpoint/:run_id/async`. */
export const Checkpoint = message({ checkpointId: string(1), runId: string(2), body: bytes(3) });

/** `status` and `code` of that request's response; `code` and `message` are empty if the checkpoint is stored. */
export const CheckpointAck = message({
  checkpointId: string(1),
  status: int32(2),
  code: string(3),
  message: string(4),
});

export const FlushResponse = message({ requestId: string(1) });

/** The payload of `syncFailed`. */
export const SystemError = message({ code: string(1), message: string(3) });
