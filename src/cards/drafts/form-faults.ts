import { z } from 'zod'
import type { Fault } from '../../core/index.ts'
import { look } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { reasonText } from '../shared/reasons.ts'
import { cut, dayOf, isDay, listOf, longest, quantity } from '../shared/texts.ts'

/** The line under a wrong input; `''` when the input is right. */
export const faultLine = z.string()
export const choice = z.strictObject({ title: z.string(), value: z.string() })

/** The texts of every form about its faults: in the band, and above the inputs. */
export const formFaults = {
  look,
  otherFaults: z.array(z.strictObject({ detail: z.string() })),
}

/** The inputs of a form, and the texts of their faults. */
interface Inputs {
  readonly ids: readonly string[]
  readonly label: (id: string) => string
  /** The input that a fault means. */
  readonly inputOf: (fault: Fault) => string
  /** The kind of form, for codes with a more exact text: `invalid.mailbox.alias`. */
  readonly resource: 'site' | 'mailbox' | 'delegation' | 'export' | 'template'
}

/** The faults of a form: how many, the labels of the inputs that have one, and the line under each input. */
export function faultsOfForm(faults: readonly Fault[], inputs: Inputs) {
  const found = inputs.ids.map((id) => [id, faults.filter((fault) => inputs.inputOf(fault) === id)] as const)
  const byInput = new Map(found.filter(([, own]) => own.length > 0))
  const others = faults.filter((fault) => !byInput.has(inputs.inputOf(fault)))
  const faultCount = byInput.size + others.length
  return {
    faultCount,
    fields: listOf([...byInput.keys()].map(inputs.label), 'and'),
    otherFaults: others.map(({ reason }) => ({ detail: cut(reasonText(reason), longest.text) })),
    /** Returns the line under an input. `missing`: the line under an empty required input, if it has its own. */
    lineOf: (id: string, missing = ''): string => lineOf(id, byInput.get(id) ?? [], missing, inputs.resource),
  }
}

/** A fault's JSON pointer in parts: `/metadata/costCentre` → `metadata`, `costCentre`. */
export const partsOf = ({ pointer }: Pick<Fault, 'pointer'>): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The texts of all faults of one input, each once, in one line. */
function lineOf(id: string, faults: readonly Fault[], missing: string, resource: Inputs['resource']): string {
  const texts = faults.map((fault) => {
    const { key, facts } = fault.reason
    if (key === 'addressNeeded') return reasonText(fault.reason)
    if (fault.code === 'required' && missing !== '') return missing
    if (key === 'nameTakenByOwn') {
      const values = { reference: String(facts?.['reference']), suggestion: fault.suggestion || 'none' }
      return format(strings.error['name-taken.own'], values)
    }
    const suggestion = boundText(fault.code, fault.suggestion ?? '')
    const detail = cut(reasonText(fault.reason), longest.text)
    return format(messageOf(id, fault.code, suggestion, resource), { suggestion, detail })
  })
  const [first = '', ...others] = new Set(texts)
  return others.length === 0 ? first : cut([first, ...others].join(' '), longest.text)
}

/** Faults whose suggestion is the smallest or largest valid value. */
const bounds = ['too-small', 'too-large', 'too-long']

function boundText(code: string, bound: string): string {
  if (bounds.includes(code) && /^\d+$/.test(bound)) return quantity(Number(bound))
  if (code === 'characters') return charactersText(bound)
  return isDay(bound) ? dayOf(bound) : bound
}

/** Characters that are not allowed, each in quotes. The API writes a space as “ ”. */
const charactersText = (characters: string): string =>
  listOf(
    characters
      .replace('“ ”', '\u0000')
      .split(' ')
      .filter((one) => one !== '')
      .map((one) => (one === '\u0000' ? strings.error.space : format(strings.error.quoted, { character: one }))),
    'unit',
  )

/**
 * The text of a fault. A code can have more exact texts for one input or for a suggestion; without a text, the reason's
 * sentence.
 */
function messageOf(id: string, code: string, suggestion: string, resource: Inputs['resource']): string {
  const known: Readonly<Record<string, string>> = strings.error
  if (code === 'name-taken' && suggestion === '') return strings.error['name-taken.alternatives']
  const key = [`${code}.${resource}.${id}`, `${code}.${id}`, code]
    .flatMap((key) => (suggestion === '' ? [key] : [`${key}.suggested`, key]))
    .find((key) => Object.hasOwn(known, key))
  return (key && known[key]) ?? strings.error.pattern
}
