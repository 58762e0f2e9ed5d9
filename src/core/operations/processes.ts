/** A process that says nothing for so many seconds has ended without a goodbye, or hangs. */
export const silentAfterSeconds = 30
