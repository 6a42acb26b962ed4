/** Packages of providers that come without types. */
declare module 'sns-validator' {
  export default class MessageValidator {
    validate(message: object, callback: (error: unknown, message?: object) => void): void;
  }
}

declare module 'braintree' {
  export const Environment: { Sandbox: object };
  export class BraintreeGateway {
    constructor(config: { environment: object; merchantId: string; publicKey: string; privateKey: string });
    webhookTesting: { sampleNotification(kind: string, id: string): { bt_signature: string; bt_payload: string } };
    webhookNotification: { parse(signature: string, payload: string): Promise<{ kind: string }> };
  }
}

declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  export default class Provider {
    constructor(issuer: string, configuration: object);
    Grant: new (
      of: object,
    ) => { addOIDCScope(scopes: string): void; save(): Promise<unknown> };
    callback(): RequestListener;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}
