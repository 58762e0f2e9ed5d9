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

/** What cannot be done as it was requested: nothing was sent. Ends the process with {@link exitCodes.usage}. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help says more. */
  readonly command: string | undefined
  constructor(message: string, command?: string) {
    super(message)
    this.command = command
  }
}

/** Nothing of this name is among what the caller may see. Ends the process with {@link exitCodes.refused}. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError'
}
