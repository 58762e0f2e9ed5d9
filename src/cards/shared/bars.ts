import { z } from 'zod'

/**
 * Bars are drawn with full and half blocks (Unicode U+2588, U+258C, U+2591), which every system's monospaced font has: they keep the
 * colours of the theme and their true length, where coloured containers are pale and never shorter than their padding.
 */
const full = '█'
const half = '▌'
const shade = '░'
/** The length of the longest bar in blocks: beside its number it fits into 256 px, whatever font draws it. */
const longestBar = 16

const part = z.strictObject({
  text: z.string(),
  color: z.enum(['Accent', 'Good', 'Attention', 'Default']),
})
/** A row of a chart: what it is, the bar in its parts, the number that stands beside it and the words of ours below. */
export const barRow = z.strictObject({
  label: z.string(),
  parts: z.array(part),
  value: z.string(),
  told: z.string(),
})
export type BarRow = z.output<typeof barRow>
type Part = z.output<typeof part>
/** `shaded`: what has come to nothing by itself, or may take so long. */
interface Look {
  readonly color: Part['color']
  readonly shaded?: boolean
}

/** How each part of a bar looks; the words beside it say what it is. */
export const barLooks = {
  plain: { color: 'Accent' },
  good: { color: 'Good' },
  bad: { color: 'Attention' },
  ended: { color: 'Default', shaded: true },
} as const satisfies Record<string, Look>

/** A bar of one value among others, whose largest is `most`. What is above 0 is seen. */
export function barOf(value: number, most: number, look: Look = barLooks.plain): Part[] {
  if (value <= 0 || most <= 0) return []
  const halves = Math.max(1, Math.round((value / most) * longestBar * 2))
  return [{ text: full.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? half : ''), color: look.color }]
}

/** A bar that is solid up to one value, and shaded from there up to a larger one. */
export function rangeOf(solid: number, end: number, most: number): Part[] {
  if (end <= 0 || most <= 0) return []
  const blocks = Math.max(1, Math.round((end / most) * longestBar))
  const filled = Math.min(blocks, Math.round((solid / most) * longestBar))
  const texts = [full.repeat(filled), shade.repeat(blocks - filled)]
  return texts.filter((text) => text !== '').map((text) => ({ text, color: barLooks.plain.color }))
}

/** A bar in parts that make one value together. Each part above 0 is seen, if only as one block. */
export function stackOf(given: readonly { value: number; look: Look }[], most: number): Part[] {
  const some = given.filter(({ value }) => value > 0)
  const sum = some.reduce((all, { value }) => all + value, 0)
  if (sum === 0 || most <= 0) return []
  const blocks = Math.max(some.length, Math.round((sum / most) * longestBar))
  const exact = some.map(({ value }) => (value / sum) * blocks)
  const lengths = exact.map((length) => Math.max(1, Math.floor(length)))
  // What rounding leaves over goes to whom it took most from; what it gave too much is taken from the longest.
  for (let left = blocks - total(lengths); left !== 0; left -= Math.sign(left)) {
    const gaps = exact.map((length, index) => length - (lengths[index] ?? 0))
    const index = left > 0 ? gaps.indexOf(Math.max(...gaps)) : lengths.indexOf(Math.max(...lengths))
    lengths[index] = (lengths[index] ?? 0) + Math.sign(left)
  }
  return some.map(({ look }, index) => {
    const text = (look.shaded ? shade : full).repeat(lengths[index] ?? 0)
    return { text, color: look.color }
  })
}

const total = (lengths: readonly number[]): number => lengths.reduce((all, length) => all + length, 0)
