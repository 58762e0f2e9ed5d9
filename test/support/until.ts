/** Waits until a value exists. The error after the time limit names the expected value. Does not assert a duration. */
export async function until<T>(
  check: () => T | undefined | Promise<T | undefined>,
  what: string,
  seconds = 60,
): Promise<NonNullable<T>> {
  const end = performance.now() + seconds * 1000
  // Most checks are calls of the service, so slow conditions are checked less often.
  for (let pause = 20; ; pause = Math.min(100, pause * 1.25)) {
    const found = await check()
    if (found !== undefined && found !== null && found !== false) return found
    if (performance.now() > end) throw new Error(`waited ${seconds} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

export const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000))
