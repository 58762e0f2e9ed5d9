import { z } from 'zod'
import type { Person } from '../../core/index.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest } from '../shared/words.ts'

/** Whom an admin may have meant: nobody was named, nobody was found, or several were. */
export interface PersonChoice {
  readonly purpose: 'export' | 'erase'
  readonly typed: string
  readonly people: readonly Person[]
}

export const adminPersonCard = defineCard({
  name: 'admin-person',
  data: z.strictObject({
    purpose: z.enum(['export', 'erase']),
    says: z.enum(['howTo', 'nobody', 'which']),
    lead: z.string(),
    rows: z.array(z.strictObject({ title: z.string(), says: z.string(), command: z.string() })).max(6),
  }),
})

const words = { export: 'admin export person', erase: strings.types.adminErase } as const

/** Asks which person is meant. */
export function adminPersonView({
  purpose,
  typed,
  people,
}: PersonChoice): Parameters<typeof adminPersonCard.render>[0] {
  const says = people.length > 0 ? 'which' : typed === '' ? 'howTo' : 'nobody'
  return {
    purpose,
    says,
    lead: format(strings.person.lead[says], { typed: cut(typed, longest.title) }),
    rows: people.slice(0, 6).map(({ id, displayName, userPrincipalName }) => ({
      title: cut(displayName || id, longest.name),
      says: cut(userPrincipalName || id, longest.address),
      command: `${words[purpose]} ${id}`,
    })),
  }
}
