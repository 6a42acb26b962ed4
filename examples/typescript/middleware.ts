import { encryption, inject, type Middleware, Tidegate } from 'tidegate';

/** Any object: a pool of connections, a client of another service. */
const db = { customerOf: async (orderId: string) => `customer of ${orderId}` };

/** Logs how long each step takes. */
const timing: Middleware = {
  name: 'timing',
  async onStep(step, next) {
    const startedAt = performance.now();
    try {
      return await next();
    } finally {
      console.log(`${step.functionId}: ${step.name} took ${Math.round(performance.now() - startedAt)} ms`);
    }
  },
};

export const client = new Tidegate({
  id: 'middleware-shop',
  middleware: [
    inject({ db }),
    timing,
    encryption({
      key: process.env.ENCRYPTION_KEY ?? 'only for development: 32 characters or more',
      fallbackKeys: process.env.ENCRYPTION_KEY_BEFORE ? [process.env.ENCRYPTION_KEY_BEFORE] : [],
    }),
  ],
});

/** Its event's `data.encrypted`, the results of its steps and its output are stored encrypted. */
export const verifyCard = client.createFunction(
  { id: 'verify-card', triggers: { event: 'card/added' } },
  async ({ event, step, db }) => {
    const { orderId, encrypted } = event.data;
    const customer = await step.run('find the customer', () => db.customerOf(orderId));
    return { customer, lastDigits: encrypted.number.slice(-4) };
  },
);
