import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Checkpoint, FunctionContext, Logger } from 'tidegate';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { hashStepId } from '../../src/steps/ids.ts';
import type { Memos } from '../../src/steps/memo.ts';
import type { Op } from '../../src/steps/op.ts';

export type AnyContext = FunctionContext;

export interface CallOptions {
  steps?: Memos;
  /** Default: the order of `steps`. */
  order?: string[];
  /** ID (in the code) of the planned step to run. */
  stepId?: string;
  attempt?: number;
  disableImmediateExecution?: boolean;
  /** The service takes checkpoints and logs of the call. */
  checkpoints?: boolean;
}

export interface CallResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the type
  body: any;
  /** The body of a 206, without irrelevant fields. */
  ops: Pick<Op, 'op' | 'displayName'>[];
}

/** Memos by IDs in the code. */
export function memos(byId: Memos): Memos {
  return Object.fromEntries(Object.entries(byId).map(([id, memo]) => [hashStepId(id), memo]));
}

/** Hosts one function on a real server, and calls it like the service. */
export async function hostFunction(
  handler: (context: AnyContext) => unknown,
  options: { sendTo?: string; checkpoint?: Checkpoint; logger?: Logger } = {},
): Promise<{ call(options?: CallOptions): Promise<CallResponse>; close(): void }> {
  const client = new Tidegate({
    id: 'shop',
    isDev: true,
    logger: options.logger,
    ...(options.sendTo && { baseUrl: options.sendTo }),
  });
  const { checkpoint } = options;
  const fn = client.createFunction({ id: 'fn', triggers: { event: 'order/paid' }, checkpoint }, handler);
  const server = createServer(serve({ client, functions: [fn] }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  async function call({
    steps = {},
    order = Object.keys(steps),
    stepId,
    ...more
  }: CallOptions = {}): Promise<CallResponse> {
    const event = { name: 'order/paid', data: { total: 3 }, id: '01E', ts: 1 };
    const body = {
      event,
      events: [event],
      steps: memos(steps),
      ctx: {
        run_id: '01HZZZZZZZZZZZZZZZZZZZZZZZ',
        attempt: more.attempt ?? 0,
        max_attempts: 5,
        disable_immediate_execution: more.disableImmediateExecution ?? false,
        ...(more.checkpoints && { fn_id: 'f', qi_id: 'q', logs: true }),
        stack: { stack: order.map(hashStepId), current: order.length },
      },
      use_api: false,
      version: -1,
    };
    const step = stepId === undefined ? 'step' : hashStepId(stepId);
    const url = `http://127.0.0.1:${port}/api?fnId=shop-fn&stepId=${step}`;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    const responseBody = JSON.parse(await response.text());
    const ops = response.status === 206 ? responseBody.map(({ op, displayName }: Op) => ({ op, displayName })) : [];
    return { status: response.status, headers: response.headers, body: responseBody, ops };
  }

  return {
    call,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
