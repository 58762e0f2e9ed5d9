import type { Template } from './template.ts'

/** How long a replaced secret still signs beside the new one, in hours, so that receivers can change over at leisure. */
const formerSecretHours = 24

/** A webhook that is about to replace another: the secret that it no longer has goes on signing for a day. */
export function withFormerSecrets(
  webhook: NonNullable<Template['webhook']>,
  before: Template['webhook'],
  now: Date,
): NonNullable<Template['webhook']> {
  const until = new Date(now.getTime() + formerSecretHours * 3_600_000).toISOString()
  const replaced = before && before.secret !== webhook.secret ? [{ secret: before.secret, until }] : []
  const formerSecrets = [...replaced, ...(before?.formerSecrets ?? [])]
    .filter((one) => one.secret !== webhook.secret && Date.parse(one.until) > now.getTime())
    // Each signs every delivery, and a header has an end.
    .slice(0, 5)
  return { ...webhook, ...(formerSecrets.length > 0 && { formerSecrets }) }
}

/** What signs a webhook at this time, the present secret first. */
export const signingSecrets = (
  { secret, formerSecrets = [] }: NonNullable<Template['webhook']>,
  now: Date,
): string[] => [
  secret,
  ...formerSecrets.filter(({ until }) => Date.parse(until) > now.getTime()).map((one) => one.secret),
]
