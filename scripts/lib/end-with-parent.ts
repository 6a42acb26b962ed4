/** Preloaded (--import) into a program that does not know that a script started it: it ends when that script is gone. */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// Listening keeps the channel, and so the program, alive; the program shall end when it wants.
process.channel?.unref();
