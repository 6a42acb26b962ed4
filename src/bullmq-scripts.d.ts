/** BullMQ's scripts, which the package types only for a module format that Node.js cannot import. */
declare module 'bullmq/dist/cjs/scripts/addStandardJob-9.js' {
  export const addStandardJob: { name: string; content: string; keys: number };
}
