/** Keys of the realtime room. */
import type { KeyDeclaration } from './key-declaration.ts';

export const realtimeKeys = (prefix: string) => ({
  realtimeChannel: (env: string, digest: string) => `${prefix}:realtime-channel:${env}:${digest}`,
});

export const REALTIME_KEY_DECLARATIONS = {
  realtimeChannel: {
    pattern: 'realtime-channel:<env>:<digest>',
    type: 'channel',
    owner: 'realtime/channels.ts',
    ttl: '–',
    size: '`REALTIME_MESSAGE_MAX_BYTES` per message',
    description: 'Messages of the channel: topic, line break, message.',
  },
} as const satisfies Record<keyof ReturnType<typeof realtimeKeys>, KeyDeclaration>;
