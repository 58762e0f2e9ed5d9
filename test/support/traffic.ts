/** Returns the maximum number of these times (milliseconds) in any window of this length, both ends included. */
export function maxIn(times: readonly number[], milliseconds: number): number {
  const sorted = [...times].sort((one, other) => one - other)
  let [first, most] = [0, 0]
  for (const [index, time] of sorted.entries()) {
    while ((sorted[first] ?? time) < time - milliseconds) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}
