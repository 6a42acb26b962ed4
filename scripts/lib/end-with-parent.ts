/** Preloaded (--import) into a program that a script starts, to stop the program when the script exits. */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// Listening would keep the channel, and so the program, alive.
process.channel?.unref();
