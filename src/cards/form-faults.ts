import { z } from 'zod'
import type { Fault } from '../core/index.ts'
import { look, plain, toFix, toKnow } from './look.ts'
import { strings } from './messages.ts'
import { cut, dayOf, isDay, listOf, longest, quantity } from './words.ts'

/** The line under a wrong input: a key of `strings.error`, or `''` when the input is right. */
export const faultLine = z.strictObject({ words: z.string(), suggestion: z.string(), detail: z.string() })
export type FaultLine = z.output<typeof faultLine>
export const choice = z.strictObject({ title: z.string(), value: z.string() })

/** What every form says of its faults: in its band, in the sentence under its title, and above the inputs. */
export const formFaults = {
  look,
  heading: z.enum(['new', 'mistake', 'mistakes', 'stale']),
  lead: z.enum(['', 'look', 'kept', 'stale']),
  faultCount: z.int(),
  faultFields: z.string(),
  otherFaults: z.array(z.strictObject({ detail: z.string() })),
}

/** The inputs of a form, and how their faults are told. */
interface Inputs {
  readonly ids: readonly string[]
  readonly label: (id: string) => string
  /** The input that a fault means. */
  readonly inputOf: (fault: Fault) => string
  /** Words for a code may be more exact for one kind of form: `invalid.mailbox.alias`. */
  readonly resource: 'site' | 'mailbox' | 'delegation' | 'export'
}

/** The faults of a form: what is said of all, and the line under each input. */
export function faultsOfForm(faults: readonly Fault[], notice: 'stale' | undefined, inputs: Inputs) {
  const found = inputs.ids.map((id) => [id, faults.find((fault) => inputs.inputOf(fault) === id)] as const)
  const byInput = new Map(found.flatMap(([id, fault]) => (fault ? [[id, fault] as const] : [])))
  const others = faults.filter((fault) => !byInput.has(inputs.inputOf(fault)))
  const faultCount = byInput.size + others.length
  const view = {
    ...headingOf(faultCount, byInput.size, notice),
    faultCount,
    faultFields: listOf([...byInput.keys()].map(inputs.label), 'and'),
    otherFaults: others.map(({ detail }) => ({ detail: cut(detail, longest.text) })),
  }
  return { view, lineOf: (id: string): FaultLine => lineOf(id, byInput.get(id), inputs.resource) }
}

function headingOf(faultCount: number, onInputs: number, notice: 'stale' | undefined) {
  const lead = onInputs > 0 ? ('look' as const) : ('kept' as const)
  if (faultCount > 1) return { look: toFix, heading: 'mistakes' as const, lead }
  if (faultCount === 1) return { look: toFix, heading: 'mistake' as const, lead }
  if (notice === 'stale') return { look: toKnow, heading: 'stale' as const, lead: 'stale' as const }
  return { look: plain, heading: 'new' as const, lead: '' as const }
}

/** A fault's JSON pointer in parts: `/metadata/costCentre` → `metadata`, `costCentre`. */
export const partsOf = ({ pointer }: Pick<Fault, 'pointer'>): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

function lineOf(id: string, fault: Fault | undefined, resource: Inputs['resource']): FaultLine {
  if (!fault) return { words: '', suggestion: '', detail: '' }
  const given = fault.suggestion ?? ''
  const suggestion = boundInWords(fault.code, given)
  return { words: wordsOf(id, fault.code, suggestion, resource), suggestion, detail: cut(fault.detail, longest.text) }
}

/** Faults whose suggestion is the least or the most that is taken. */
const bounds = ['too-small', 'too-large', 'too-long']

function boundInWords(code: string, given: string): string {
  if (bounds.includes(code) && /^\d+$/.test(given)) return quantity(Number(given))
  return isDay(given) ? dayOf(given) : given
}

/** Words for a code may be more exact for one input, or with a suggestion; a code without words shows its own sentence. */
function wordsOf(id: string, code: string, suggestion: string, resource: Inputs['resource']): string {
  if (code === 'name-taken' && suggestion === '') return 'name-taken.alternatives'
  const known = [`${code}.${resource}.${id}`, `${code}.${id}`, code]
    .flatMap((words) => (suggestion === '' ? [words] : [`${words}.suggested`, words]))
    .find((words) => Object.hasOwn(strings.error, words))
  return known ?? 'pattern'
}
