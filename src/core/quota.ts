import type { Fault } from './errors.ts'
import type { Inquiry } from './plan.ts'
import { openStates } from './request.ts'
import type { Template } from './template.ts'
import { fault } from './validation.ts'

/** Requests that have made something, or may still. */
const counting = [...openStates, 'succeeded'] as const

/**
 * What keeps a template from being used once more: the person has as many open requests of it as they may, or as much was
 * made of it as there may be. A request that this one takes the place of does not count, and neither does this one.
 */
export async function quotaFaults(
  { ports, actor, requestId, replaces }: Pick<Inquiry, 'ports' | 'actor' | 'requestId' | 'replaces'>,
  { id, name, quota: { openPerPerson, resources } }: Pick<Template, 'id' | 'name' | 'quota'>,
): Promise<Fault[]> {
  const { tenantId } = actor
  const of = { tenantId, templateId: id, but: replaces === undefined ? [requestId] : [requestId, replaces] }
  const [own, all] = await Promise.all([
    openPerPerson &&
      ports.requests.countOfTemplate({ ...of, requesterId: actor.id, states: openStates, most: openPerPerson }),
    resources && ports.requests.countOfTemplate({ ...of, states: counting, most: resources }),
  ])
  const faults: Fault[] = []
  const say = (detail: string, most: number) => faults.push(fault('/templateId', 'quota-reached', detail, String(most)))
  if (openPerPerson && own === openPerPerson)
    say(
      `You have ${own} open requests of ${name}, which is the most at a time. Wait for one to end, or cancel one.`,
      own,
    )
  if (resources && all === resources)
    say(`There are ${all} of ${name}, which is the most that there may be. Ask an admin for more.`, all)
  return faults
}
