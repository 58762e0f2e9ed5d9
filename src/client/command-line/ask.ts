import { createInterface, type Interface } from 'node:readline/promises'
import { SignInError } from '../sign-in.ts'
import type { Scope } from './define-command.ts'
import { clean } from './terminal.ts'
import { fill, words } from './words.ts'

/** Questions to the person at the terminal; they go to the error stream, so that a result can still be piped. */
export interface Asker {
  /** What is typed, without blanks around it; the default for nothing. */
  text(question: string, otherwise?: string): Promise<string>
  /** One of several, by its number. */
  choose<T>(
    question: string,
    choices: readonly { readonly title: string; readonly value: T }[],
    otherwise?: T,
  ): Promise<T>
  yes(question: string, otherwise: boolean): Promise<boolean>
}

/** Asks as long as the work lasts. Ctrl-C and the end of the input end it as cancelled. */
export async function asking<T>({ terminal, signal }: Scope, work: (asker: Asker) => Promise<T>): Promise<T> {
  const { input, errors } = terminal.streams
  const lines = createInterface({ input, output: errors, terminal: input.isTTY === true })
  const ended = new AbortController()
  lines.on('close', () => ended.abort())
  lines.on('SIGINT', () => lines.close())
  try {
    return await work(askerOf(lines, terminal.note, AbortSignal.any([signal, ended.signal])))
  } finally {
    lines.close()
  }
}

function askerOf(lines: Interface, note: (text: string) => void, signal: AbortSignal): Asker {
  const text = async (question: string, otherwise = '') => {
    const shown = otherwise === '' ? `${question} ` : `${question} [${clean(otherwise)}] `
    const typed = await lines.question(shown, { signal }).catch((error: unknown) => {
      if (signal.aborted) throw new SignInError('cancelled')
      throw error
    })
    return typed.trim() || otherwise
  }
  return {
    text,
    async choose(question, choices, otherwise) {
      for (const [index, { title }] of choices.entries()) note(`  ${index + 1}  ${title}`)
      const standing = choices.findIndex(({ value }) => value === otherwise) + 1
      for (;;) {
        const typed = await text(question, standing > 0 ? String(standing) : '')
        const chosen = /^\d{1,4}$/.test(typed) ? choices[Number(typed) - 1] : undefined
        if (chosen) return chosen.value
        note(fill(words.ask.numberNeeded, { most: choices.length }))
      }
    },
    async yes(question, otherwise) {
      for (;;) {
        const typed = (await text(`${question} ${otherwise ? words.ask.yesOrNo : words.ask.noOrYes}`)).toLowerCase()
        if (typed === '') return otherwise
        if (words.ask.yes.includes(typed)) return true
        if (words.ask.no.includes(typed)) return false
        note(words.ask.yesNeeded)
      }
    },
  }
}
