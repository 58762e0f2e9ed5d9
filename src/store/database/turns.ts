/** Who may use the store's one connection next. */
export interface Turns {
  /** Waits for a turn, and returns what ends it. `patient`: it is for work that nobody waits for. */
  enter(patient: boolean): Promise<() => void>
}

/** Of so many turns that people wait for, one goes to patient work all the same: it is put behind, not put off. */
const PEOPLE_IN_A_ROW = 3

/**
 * Turns on the embedded store's one connection: what a person or a client waits for goes before jobs. A server decides
 * for itself, and has a connection for each.
 */
export function createTurns(): Turns {
  const waiting: { readonly people: (() => void)[]; readonly patient: (() => void)[] } = { people: [], patient: [] }
  let taken = false
  let inARow = 0

  function next(): (() => void) | undefined {
    const patientIsDue = waiting.people.length === 0 || (inARow >= PEOPLE_IN_A_ROW && waiting.patient.length > 0)
    inARow = patientIsDue ? 0 : inARow + 1
    return (patientIsDue ? waiting.patient : waiting.people).shift()
  }

  function leave(): void {
    const go = next()
    if (go) go()
    else taken = false
  }

  return {
    async enter(patient) {
      if (taken) await new Promise<void>((resolve) => (patient ? waiting.patient : waiting.people).push(resolve))
      taken = true
      return leave
    },
  }
}

/** For a server: nobody waits. */
export const noTurns: Turns = { enter: async () => () => undefined }
