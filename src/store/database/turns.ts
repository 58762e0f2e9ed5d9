/** Calls of people and clients go before jobs. */
export interface Turns {
  /** Waits for a turn and returns the function that ends it. `patient`: for background work. */
  enter(patient: boolean): Promise<() => void>
  /** Resolves when no call of a person has used the store for 5 ms, and after a quarter of a second in any case. */
  giveWay(): Promise<void>
}

/** After this many turns for people, background work gets a turn, so that it never waits for ever. */
const PEOPLE_IN_A_ROW = 3
/** The pauses of a call between two statements are shorter: it asks the directory, or the client reads the answer. */
const CALM_MILLISECONDS = 5
/** The longest wait of a worker. Meanwhile jobs collect, and one statement takes them all. */
const PATIENCE_MILLISECONDS = 250

/** Creates the turns on the embedded store's only connection. PostgreSQL runs in this process, so jobs delay people. */
export function createTurns(): Turns {
  const waiting: { readonly people: (() => void)[]; readonly patient: (() => void)[] } = { people: [], patient: [] }
  let taken = false
  let inARow = 0
  let people = 0
  let lastLeft = Number.NEGATIVE_INFINITY

  function next(): (() => void) | undefined {
    const patientIsDue = waiting.people.length === 0 || (inARow >= PEOPLE_IN_A_ROW && waiting.patient.length > 0)
    inARow = patientIsDue ? 0 : inARow + 1
    return (patientIsDue ? waiting.patient : waiting.people).shift()
  }

  function leave(): void {
    const start = next()
    if (start) start()
    else taken = false
  }

  function leaveAsPerson(): void {
    people -= 1
    lastLeft = performance.now()
    leave()
  }

  const calmAfter = (): number => (people > 0 ? CALM_MILLISECONDS : CALM_MILLISECONDS - (performance.now() - lastLeft))

  return {
    async enter(patient) {
      if (!patient) people += 1
      if (taken) await new Promise<void>((resolve) => (patient ? waiting.patient : waiting.people).push(resolve))
      taken = true
      return patient ? leave : leaveAsPerson
    },
    async giveWay() {
      const end = performance.now() + PATIENCE_MILLISECONDS
      for (let left = calmAfter(); left > 0 && performance.now() < end; left = calmAfter())
        await new Promise((resume) => setTimeout(resume, Math.ceil(left)))
    },
  }
}

/** The turns of a server, which has several connections and its own processors: every caller starts at once. */
export const noTurns: Turns = { enter: async () => () => undefined, giveWay: async () => undefined }
