/** New files of the command line are for its user alone. It imports this file first. */
process.umask(0o077)
