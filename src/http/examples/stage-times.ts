const hour = 3_600_000

/** When what is due of a stage whose turn came at this time, by the settings as they come. */
export function openedAt(at: string) {
  const after = (hours: number): string => new Date(Date.parse(at) + hours * hour).toISOString()
  return {
    openedAt: at,
    times: {
      reachBy: after(1 / 6),
      remindAt: after(24),
      escalateAt: after(72),
      warnAt: after(12 * 24),
      expiresAt: after(14 * 24),
    },
  }
}
