/** Keys of the realtime room. */
import { channel } from './key-declaration.ts';

export const REALTIME_KEYS = {
  realtimeChannel: channel('realtime-channel:<env>:<digest>', 'Messages of the channel: topic, line break, message.', {
    owner: 'realtime/channels.ts',
    ttl: '–',
    size: '`REALTIME_MESSAGE_MAX_BYTES` per message',
  }),
};
