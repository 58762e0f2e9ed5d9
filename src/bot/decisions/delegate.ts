import { z } from 'zod'
import type { Remark } from '../../cards/index.ts'
import type { Person } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type FoundPeople, parseDay, peopleMeant } from '../channel/typed-arguments.ts'
import { defineCommand } from '../define-command.ts'
import { delegationForm, ended, saved } from './delegation.ts'

/** `delegate Omar Haddad until friday`: saves the delegation if person and day are clear; else opens the form. */
export const delegateCommand = defineCommand({
  words: 'delegate',
  also: ['delegate to', 'delegation', 'away', 'i am away', 'i’m away', "i'm away"],
  menu: 7,
  argument: z.string().max(256).transform(whoAndWhen),
  handle: delegateAsTyped,
  otherwise: (turn) => delegationForm(turn),
})

/** `back`: ends the delegation. With more text, as in "back on Monday", it shows the delegation instead. */
export const backCommand = defineCommand({
  words: 'back',
  also: ['i am back', 'i’m back', "i'm back"],
  argument: z.literal(''),
  handle: (turn) => ended(turn),
  otherwise: (turn) => delegationForm(turn),
})

/** The person and the day in "Omar Haddad until friday"; what is not there is `''`. */
function whoAndWhen(typed: string): { who: string; day: string } {
  const [, who = '', day = ''] = /^(?:(.*) )?(?:until|till)(?: (.*))?$/is.exec(typed) ?? [typed, typed]
  return { who: who.trim(), day: day.trim() }
}

async function delegateAsTyped(turn: Turn, typed: { who: string; day: string }): Promise<Reply> {
  const { viewer } = turn
  const until = typed.day === '' ? undefined : parseDay(typed.day, viewer.now, viewer.timeZone)
  const { people, isSure } = typed.who === '' ? nobodyAsked : await found(turn, typed.who)
  const [only, ...others] = people
  if (only && others.length === 0 && isSure && until !== undefined) return saved(turn, { to: only.id, until })
  return delegationForm(turn, {
    ...(typed.who !== '' && { people, to: only && others.length === 0 ? only.id : '' }),
    ...(typed.day !== '' && { until: until ?? '' }),
    remarks: remarksOf(typed, people, until),
  })
}

function remarksOf(
  typed: { who: string; day: string },
  people: readonly Person[],
  until: string | undefined,
): Remark[] {
  const [only, ...others] = people
  const unclearDay = { words: 'unclearDay' as const, typed: typed.day }
  const ofPerson: Remark = !only
    ? { words: 'nobody', typed: typed.who }
    : others.length > 0
      ? { words: 'several', typed: typed.who }
      : { words: 'check', typed: `${only.displayName} (${only.userPrincipalName})` }
  return [...(typed.who === '' ? [] : [ofPerson]), ...(typed.day !== '' && until === undefined ? [unclearDay] : [])]
}

/** Nobody looks for themselves among several. */
async function found(turn: Turn, who: string): Promise<FoundPeople> {
  const { people, isSure } = await peopleMeant(turn, who)
  return { people: people.length > 1 ? people.filter(({ id }) => id !== turn.actor.id) : people, isSure }
}

const nobodyAsked: FoundPeople = { people: [], isSure: false }
