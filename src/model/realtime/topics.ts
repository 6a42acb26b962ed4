/** Channels and topics of realtime messages: subscription tokens name them, and messages are published to them. */
import { z } from 'zod';

/** Maximum number of topics of a token, over all its channels. */
const TOPICS_PER_TOKEN_MAX = 50;
const CHANNELS_PER_TOKEN_MAX = 10;
/** Bounded because a token is part of a URL. */
const NAMES_PER_TOKEN_MAX_LENGTH = 4_096;
const NAME_MAX_LENGTH = 512;

/** Topic of a run's channel that announces the run's end. */
export const RUN_TOPIC = '$run';
/** Topic of a run's channel to which the function streams its response. */
export const RESPONSE_TOPIC = '$stream';

/** Name of a channel or a topic. Control characters are reserved: they end a line of a server-sent event. */
export const nameSchema = z
  .string()
  .min(1)
  .max(NAME_MAX_LENGTH)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'a name without control characters');

/** Topics by channel. */
export type Topics = ReadonlyMap<string, ReadonlySet<string>>;

/** The channel and topics for which an app requests a token. */
export const tokenRequestSchema = z
  .array(
    z.object({
      channel: nameSchema,
      name: nameSchema,
      kind: z.literal('run', 'only topics of the kind "run" can be subscribed to').optional(),
    }),
  )
  .min(1)
  .max(TOPICS_PER_TOKEN_MAX)
  .refine((topics) => lengthOf(topics) <= NAMES_PER_TOKEN_MAX_LENGTH, {
    error: `the names have more than ${NAMES_PER_TOKEN_MAX_LENGTH} characters in all`,
  })
  .transform(byChannel)
  .refine((topics) => topics.size <= CHANNELS_PER_TOKEN_MAX, {
    error: `topics of more than ${CHANNELS_PER_TOKEN_MAX} channels`,
  });

function lengthOf(topics: readonly { channel: string; name: string }[]): number {
  return topics.reduce((sum, { channel, name }) => sum + channel.length + name.length, 0);
}

function byChannel(topics: readonly { channel: string; name: string }[]): Topics {
  const channels = new Map<string, Set<string>>();
  for (const { channel, name } of topics) {
    const names = channels.get(channel) ?? new Set();
    channels.set(channel, names.add(name));
  }
  return channels;
}
