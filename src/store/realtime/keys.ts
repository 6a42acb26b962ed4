/** Keys of the realtime room. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

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
    description: 'Realtime messages of the channel with this digest: the topic, a line break, the message.',
  },
} as const satisfies Record<keyof ReturnType<typeof realtimeKeys>, KeyDeclaration>;
