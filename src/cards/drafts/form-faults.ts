import { z } from 'zod'
import type { Fault } from '../../core/index.ts'
import { look } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { reasonText } from '../shared/reasons.ts'
import { cut, dayOf, isDay, listOf, longest, quantity } from '../shared/texts.ts'

/** The line under a wrong input; `''` when the input is right. */
export const faultLine = z.string()
export const choice = z.strictObject({ title: z.string(), value: z.string() })

/** What every form says of its faults: in its band, and above the inputs. */
export const formFaults = {
  look,
  otherFaults: z.array(z.strictObject({ detail: z.string() })),
}

/** The inputs of a form, and how their faults are told. */
interface Inputs {
  readonly ids: readonly string[]
  readonly label: (id: string) => string
  /** The input that a fault means. */
  readonly inputOf: (fault: Fault) => string
  /** Words for a code may be more exact for one kind of form: `invalid.mailbox.alias`. */
  readonly resource: 'site' | 'mailbox' | 'delegation' | 'export' | 'template'
}

/** The faults of a form: how many, the labels of the inputs that have one, and the line under each input. */
export function faultsOfForm(faults: readonly Fault[], inputs: Inputs) {
  const found = inputs.ids.map((id) => [id, faults.find((fault) => inputs.inputOf(fault) === id)] as const)
  const byInput = new Map(found.flatMap(([id, fault]) => (fault ? [[id, fault] as const] : [])))
  const others = faults.filter((fault) => !byInput.has(inputs.inputOf(fault)))
  const faultCount = byInput.size + others.length
  return {
    faultCount,
    fields: listOf([...byInput.keys()].map(inputs.label), 'and'),
    otherFaults: others.map(({ reason }) => ({ detail: cut(reasonText(reason), longest.text) })),
    lineOf: (id: string): string => lineOf(id, byInput.get(id), inputs.resource),
  }
}

/** A fault's JSON pointer in parts: `/metadata/costCentre` → `metadata`, `costCentre`. */
export const partsOf = ({ pointer }: Pick<Fault, 'pointer'>): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

function lineOf(id: string, fault: Fault | undefined, resource: Inputs['resource']): string {
  if (!fault) return ''
  const suggestion = boundInWords(fault.code, fault.suggestion ?? '')
  const detail = cut(reasonText(fault.reason), longest.text)
  return format(messageOf(id, fault.code, suggestion, resource), { suggestion, detail })
}

/** Faults whose suggestion is the least or the most that is taken. */
const bounds = ['too-small', 'too-large', 'too-long']

function boundInWords(code: string, given: string): string {
  if (bounds.includes(code) && /^\d+$/.test(given)) return quantity(Number(given))
  return isDay(given) ? dayOf(given) : given
}

/** Words for a code may be more exact for one input, or with a suggestion; a code without words shows its own sentence. */
function messageOf(id: string, code: string, suggestion: string, resource: Inputs['resource']): string {
  const known: Readonly<Record<string, string>> = strings.error
  if (code === 'name-taken' && suggestion === '') return strings.error['name-taken.alternatives']
  const key = [`${code}.${resource}.${id}`, `${code}.${id}`, code]
    .flatMap((words) => (suggestion === '' ? [words] : [`${words}.suggested`, words]))
    .find((words) => Object.hasOwn(known, words))
  return (key && known[key]) ?? strings.error.pattern
}
