/** Waits until something is there. Gives up loudly, naming what it waited for; never asserts how long it took. */
export async function until<T>(
  look: () => T | undefined | Promise<T | undefined>,
  what: string,
  seconds = 30,
): Promise<NonNullable<T>> {
  const end = Date.now() + seconds * 1000
  // Most looks are calls of the service: what takes longer is looked for more seldom.
  for (let pause = 20; ; pause = Math.min(100, pause * 1.25)) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

export const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000))
