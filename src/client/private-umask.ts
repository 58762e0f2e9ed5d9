/**
 * New files of this process are for its user alone. The command line imports this file first; it is part of the
 * package.
 */
process.umask(0o077)
