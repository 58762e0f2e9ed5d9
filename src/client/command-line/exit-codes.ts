/** What the process ends with: a contract with scripts, told by `--help` and never renumbered. */
export const exitCodes = {
  /** It is done. */
  done: 0,
  /** The request that was waited for failed, was rejected, has expired or was cancelled; or the webhook that was tried was not taken. */
  cameToNothing: 1,
  /** The command line, a setting or a file is not right; nothing was sent. */
  usage: 2,
  /** Nobody is signed in, or signing in came to nothing. */
  notSignedIn: 3,
  /** The service said no: a field, a right, a state. */
  refused: 4,
  /** The service, the login or the directory does not answer, or is too busy. */
  unavailable: 5,
  /** The time to wait is over, and the request is still under way. */
  stillUnderWay: 6,
  /** A defect of the command line itself (EX_SOFTWARE of sysexits.h). */
  defect: 70,
  /** Ctrl-C. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
export type ExitName = keyof typeof exitCodes
