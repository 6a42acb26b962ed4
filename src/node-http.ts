/** node:http without undici. An import reads every export of a module, and three of node:http (WebSocket and its events)
 *  load Node's copy of undici when they are read: 50 ms of CPU time at each start, and 14 MB. */
export const { createServer, ServerResponse } = process.getBuiltinModule('node:http');
