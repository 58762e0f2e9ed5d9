/**
 * Opens a clock for this process that can jump ahead, so that a test needs no hours until something is due. Durations
 * in the tests come from `performance.now()`, which does not jump.
 */
export function openClock() {
  const Real = globalThis.Date
  let ahead = 0
  const shifted = new Proxy(Real, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [Real.now() + ahead] : args, newTarget) as Date,
    get: (target, name, receiver) =>
      name === 'now' ? () => Real.now() + ahead : (Reflect.get(target, name, receiver) as unknown),
  })
  globalThis.Date = shifted
  return {
    /** Jumps to this time, unless it is over. */
    jumpTo(at: number): void {
      ahead = Math.max(ahead, at - Real.now())
    },
    /** Returns the option of Node that gives a new process the same clock. An embedded store in it has this clock too. */
    nodeOption: (): string => {
      const code = `const Real = Date; const by = ${ahead}
        globalThis.Date = class extends Real {
          constructor(...args) { args.length === 0 ? super(Real.now() + by) : super(...args) }
          static now() { return Real.now() + by }
        }`
      return `--import=data:text/javascript,${encodeURIComponent(code)}`
    },
    close(): void {
      globalThis.Date = Real
    },
  }
}
