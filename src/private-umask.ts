/**
 * What this process and its children create is for its user alone. Each entry point imports this file first, since imports
 * run in order: nothing that comes later can create a file before. test/app/entry-points.test.ts holds that.
 */
process.umask(0o077)
