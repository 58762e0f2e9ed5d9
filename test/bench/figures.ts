/** Returns the duration of one call in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Returns the value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns calls per second when a number of callers make `count` calls in total, each waiting for its answer. */
export async function perSecond(count: number, callers: number, call: () => Promise<unknown>): Promise<number> {
  let left = count
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await call()
    }
  }
  const milliseconds = await timed(() => Promise.all(Array.from({ length: callers }, caller)))
  return count / (milliseconds / 1000)
}

/** Formats a table for a terminal, with numbers aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}
