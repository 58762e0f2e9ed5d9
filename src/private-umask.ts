/**
 * Makes new files of this process and its children readable by its user alone. Each entry point imports this file first,
 * because imports run in order. test/app/entry-points.test.ts checks that.
 */
process.umask(0o077)
